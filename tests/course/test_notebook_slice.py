"""What travels to the checking process is what the answer needs, no less and no more."""

from __future__ import annotations

import pytest

from minitorch_compile.course.checking.notebook_slice import CellSyntaxError, is_unwritten, slice_for


def kept(name: str, *cells: str) -> list[str]:
    return [cell.kept_source() for cell in slice_for(name, cells)]


def run(name: str, *cells: str) -> object:
    namespace: dict = {}
    for source in kept(name, *cells):
        exec(source, namespace)
    return namespace[name]


def test_a_function_brings_the_functions_and_imports_it_calls():
    assert kept("f", "import math", "def g(x): return math.sqrt(x)", "def f(x): return g(x) + 1", "f(4)") == [
        "import math",
        "def g(x): return math.sqrt(x)",
        "def f(x): return g(x) + 1",
    ]


def test_a_slow_or_broken_cell_stays_behind():
    assert kept("f", "while True: pass", "1 / 0", "def f(): return 1") == ["def f(): return 1"]


def test_a_name_that_is_only_local_brings_nothing():
    assert kept("f", "x = expensive()", "def f(): x = 1; return x") == ["def f(): x = 1; return x"]


def test_the_latest_definition_counts():
    assert run("f", "def f(): return 1", "def f(): return 2")() == 2


def test_a_function_finds_a_name_that_is_bound_after_it():
    assert run("f", "def f(): return later", "later = 3")() == 3


def test_a_statement_takes_the_binding_before_it():
    assert run("x", "x = 1", "x = x + 1") == 2


def test_changes_to_a_table_come_along():
    cells = ["table = {}", "table['a'] = 1", "table['b'] = 2", "def f(): return table"]
    assert run("f", *cells)() == {"a": 1, "b": 2}


def test_functions_registered_in_a_notebooks_own_table_come_along():
    register = "rules = {}\ndef rule(key):\n    return lambda g: rules.setdefault(key, g)"
    cells = [register, "@rule('neg')\ndef _(x): return -x", "def apply(key, x): return rules[key](x)"]
    assert "@rule('neg')" not in "".join(kept("apply", *cells))  # decorating extends `rule`, which `apply` doesn't name
    assert "@rule('neg')" in "".join(kept("answer", *cells, "answer = (rule, apply)"))


def test_a_decorator_that_is_imported_is_not_extended_by_its_uses():
    cells = ["from functools import cache", "@cache\ndef slow(): return 1 / 0", "@cache\ndef f(): return 5"]
    assert kept("f", *cells) == [cells[0], cells[2]]


def test_a_class_brings_its_bases_and_what_its_methods_read():
    mine = "class Mine(Base):\n    def size(self): return SIZE"
    cells = ["class Base: pass", "SIZE = 4", mine, "def f(): return Mine()"]
    assert run("f", *cells)().size() == 4
    assert run("f", "class Base: pass", mine, "SIZE = 4", cells[-1])().size() == 4


def test_a_comprehension_takes_the_binding_before_it():
    assert run("f", "size = 2", "sizes = [size * i for i in range(2)]", "size = 5", "def f(): return sizes")() == [0, 2]


def test_magics_are_left_out():
    assert run("f", "%time 1 + 1\ndef f(): return 7", "!ls")() == 7


def test_only_the_needed_statements_of_a_cell_are_kept():
    assert kept("f", "a = 1\nb = launch()\ndef f(): return a") == ["a = 1\ndef f(): return a"]


def test_a_missing_answer_is_named():
    with pytest.raises(LookupError, match="no cell run so far defines `f`"):
        slice_for("f", ["g = 1"])


def test_an_answer_in_a_cell_that_does_not_parse_is_a_syntax_error_with_its_line():
    with pytest.raises(CellSyntaxError, match=r"cell 2, line 2: return \(1"):
        slice_for("f", ["x = 1", "def f():\n    return (1"])


def test_line_numbers_are_those_of_the_cell():
    (cell,) = slice_for("f", ["a = 1\n\n\ndef f():\n    return a"])
    assert (cell.number, cell.statements, cell.source.count("\n")) == (1, [0, 1], 4)


STUB = "def f(x):\n    'Doubles.'\n    raise NotImplementedError('your code here')"


@pytest.mark.parametrize(("cells", "unwritten"), [
    ([STUB], True),
    (["def f(x): return 2 * x", STUB], True),
    ([STUB, "def f(x): return 2 * x"], False),
    (["def f(x):\n    if x < 0:\n        raise NotImplementedError\n    return 2 * x"], False),
    (["def f(x):\n    print(x)\n    raise NotImplementedError"], False),
    (["def f(x):\n    raise ValueError('your code here')"], False),
    ([STUB, "f = max"], False),
    ([STUB, "g = f", "def f(x): return g(x)"], False),
    (["def twice(g): return lambda x: 2 * x", f"@twice\n{STUB}"], False),
])  # fmt: skip
def test_a_function_that_only_raises_is_not_written_yet(cells, unwritten):
    assert is_unwritten("f", slice_for("f", cells)) == unwritten
