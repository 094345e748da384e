"""Steps of `mini`: cut, composed, built into notebooks, and judged."""

from __future__ import annotations

import sys

import pytest

from minitorch_compile.course.checking.notebook_slice import CellSyntaxError, slice_for
from minitorch_compile.course.mini import reference
from minitorch_compile.course.mini.compose import composed
from minitorch_compile.course.mini.sections import sections, whole

from . import small_mini
from .notebooks import judged_here, tool
from .small_mini import BOX, GROW, TWICE

build = tool("build_course")
step_cells = tool("step_cells")


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    small_mini.install(tmp_path, monkeypatch)
    yield
    reference.reference.cache_clear()


def test_a_file_is_cut_and_whole_again_byte_for_byte():
    parts = sections(small_mini.SECOND)
    assert [part.number or part.title for part in parts] == ["", "02.7", "02.8", "given"]
    assert [part.depth for part in parts] == [0, 0, 4, 0]
    assert whole(parts) == small_mini.SECOND


def test_the_learners_text_takes_the_place_of_one_step():
    files = composed({"02.8": "    def grow(self):\n        return 7"})
    assert files["first"] == small_mini.FIRST
    assert "return 7\n\n\n# %% given" in files["second"] and "self.value = value" in files["second"]


def test_a_step_is_judged_among_the_references():
    before = sys.modules.get("mini")
    right = "%%mini second 02.8\n    def grow(self):\n        self.value += self.value\n        return self.value"
    assert judged_here(GROW, [right]).passed
    assert judged_here(GROW, [right + " + 1", right]).passed  # the last counts
    result = judged_here(GROW, [right, right + " + 1"])
    assert "Box(3).grow(): expected 6, got 7." in str(result) and "It grows by itself." in str(result)
    assert sys.modules.get("mini") is before and "mini.second" not in sys.modules


def test_the_line_that_raised_is_told_as_the_cell_counts_it():
    cell = "%%mini second 02.8\n\n    def grow(self):\n        return self.valve"
    assert "your step 02.8, line 4: return self.valve" in str(judged_here(GROW, [cell]))
    assert "your step" not in str(
        judged_here(GROW, ["%%mini second 02.8\n    def grow(self):\n        return self.value"])
    )


def test_what_ipython_records_is_found_too():
    cell = "get_ipython().run_cell_magic('mini', 'first 01.7', 'def twice(x):\\n    return x + x\\n')"
    assert judged_here(TWICE, [cell]).points == 3


def test_a_stub_is_not_written_yet_and_neither_is_what_raises():
    stub = step_cells.opening_cell("02.7", 'class Box:\n    """Holds a number."""')
    assert stub.endswith('    raise NotImplementedError("your code here")')
    assert judged_here(BOX, [stub]).note == "not written yet"
    own = "%%mini second 02.7\nclass Box:\n    raise NotImplementedError('later')"
    result = judged_here(BOX, [own])
    assert result.note == "not written yet" and not result.started


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%mini second 02.8\n    def grow(self)\n        return 1", "expected ':' in line 2: def grow(self)"),
        ("%%mini second 02.8\ndef grow(self):\n    return 1", "each begins with 4 spaces, the first begins with 0"),
        ("%%mini second 02.8\n", "there is no line of code"),
        ("%%mini second 02.8\n# %% 02.7 a box\nx = 1", "line 2 is the mark of another section"),
        ("%%mini second 02.8\n    x = " + "(" * 5000, "too many nested parentheses"),
        ("%%mini second 02.8\n    x = '\0'", "null byte"),
        ("%%mini second 02.8\n    x = '\ud83d'", "it can't be read"),
        ("%%mini second 02.8\n" + "    x = 1\n" * 50_000, "more than a step can have"),
    ],
)
def test_a_step_that_can_not_be_one_is_told_why(cell, said):
    with pytest.raises(CellSyntaxError, match=r"`%%mini second 02.8`: ") as problem:
        GROW.submissions([cell])
    assert said in str(problem.value)


def test_a_step_that_no_cell_has_is_told():
    with pytest.raises(LookupError, match="no cell run so far is `%%mini first 01.7`"):
        TWICE.submissions(["x = 1"])


def test_other_exercises_do_not_see_what_is_written_for_mini():
    with pytest.raises(LookupError):
        slice_for("twice", ["%%mini first 01.7\ndef twice(x):\n    return 2 * x"])


def test_the_notebooks_have_the_opening_or_the_reference_and_what_is_given(tmp_path, monkeypatch):
    monkeypatch.setattr(build, "find_exercise", lambda number: GROW)
    path = tmp_path / "02_example.py"
    path.write_text(
        '# %% [markdown]\n# ## 02.8 Growing\n\n# %% step="02.8"\ndef grow(self):\n    """Twice."""\n\n'
        '# %%\ncheck("02.8")\n\n# %% tags=["wrong"] step="02.8" says="It grows by itself"\n'
        "# - self.value = twice(self.value)\n# - return self.value\n# + self.value += 1\n# + return self.value\n"
    )
    heading, uses, cell, after, _ = [each.source for each in build.exercise_notebook(path).cells]
    assert uses.splitlines()[2:] == [
        "- `twice(x)` (01.7), twice as much",
        "- `Box` (02.7), holds a number; its `.value`",
    ]
    assert heading.startswith("## 02.8 Growing\n\n*1 minutes · 1 point")
    assert cell == (
        '%%mini second 02.8\n    def grow(self):\n        """Twice."""\n'
        '        raise NotImplementedError("your code here")'
    )
    assert "`mini/second.py` ends with these lines" in after and "EMPTY = 0" in after
    solution = [each.source for each in build.solution_notebook(path).cells]
    assert solution[2].startswith("%%mini second 02.8\n    def grow(self):\n") and "twice(self.value)" in solution[2]
    ((number, wrong, says),) = build.wrong_answers(path)
    assert (number, says) == ("02.8", "It grows by itself")
    assert wrong.endswith('in it."""\n        self.value += 1\n        return self.value')
    assert "Box(3).grow(): expected 6, got 4" in str(judged_here(GROW, [solution[2], wrong]))


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        ("# - return 3 * x\n# + return x", "are there 0 times"),
        ("# + return x", "its first lines must begin"),
        ("return x", "not as this one: return x"),
        ("", "it has no lines"),
        ("# - return 2 * x", "expected an indented block|there is no line of code"),
    ],
)
def test_a_difference_that_does_not_fit_is_an_error(difference, said):
    one = "def twice(x):\n    return 2 * x"
    if said.startswith("expected"):
        with pytest.raises(step_cells.WrongCell, match="wrong answer of 01.7"):
            step_cells.wrong_cell("01.7", difference + '\n# - """Twice as much."""')
    else:
        with pytest.raises(step_cells.WrongCell, match=said):
            step_cells.changed(one, difference)


def test_an_opening_gets_a_stub_in_each_function_without_a_body():
    text = step_cells.with_stubs(
        "class A:\n    'A.'\n\n    def f(self):\n        ...\n\n    def g(self):\n        'G.'\n"
    )
    assert text.count("raise NotImplementedError") == 2 and "..." not in text
    assert step_cells.with_stubs("X = 1").endswith('\nraise NotImplementedError("your code here")')
