"""`%%compiled` and `%stages`, in a shell as notebooks have it."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.compiler import Inspection
from minitorch_compile.dynamo.eval_frame import region_of

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell


@pytest.fixture(scope="module")
def shell() -> Any:
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "minitorch_compile.magics")
    return shell


@pytest.fixture(autouse=True)
def names(shell: Any) -> dict[str, Any]:
    shell.user_ns["torch"] = torch
    return shell.user_ns


def test_what_a_cell_defines_is_compiled_and_its_last_expression_shown(shell, names):
    cell = "def twice(x):\n    return x * 2\n\ndef more(x):\n    return twice(x) + 1\n\nmore(torch.ones(2)).tolist()"
    assert shell.run_cell_magic("compiled", "backend='eager', fullgraph=True", cell) == [3.0, 3.0]
    assert len(region_of(names["more"]).caches[0].entries) == 1 and region_of(names["twice"])
    assert "_used_by_a_magic" not in names


def test_a_cell_can_be_run_again_and_its_lines_are_those_of_the_cell(shell, names):
    for _ in range(2):
        shell.run_cell_magic("compiled", "backend='eager'", "\n\ndef f(x):\n    return x + 1\n")
        (view,) = torch.explain(names["f"])(torch.ones(2)).frames
        assert [row.source.strip() for row in view.rows if row.source.strip()][0] == "return x + 1"


def test_what_a_cell_raises_is_raised_at_its_line(shell, names):
    with pytest.raises(ZeroDivisionError) as caught:
        shell.run_cell_magic("compiled", "backend='eager'", "def f(x):\n    return x\n1 / 0")
    assert caught.traceback[-1].lineno == 2 and "_used_by_a_magic" not in names


def test_a_cell_shows_stages_of_what_it_defines_and_its_annotations_are_as_they_are_elsewhere(shell, names):
    cell = "def f(x: torch.Tensor):\n    return x + 1\n%stages f(torch.ones(2))\ndef g(x):\n    return x"
    shell.run_cell_magic("compiled", "backend='eager'", cell)
    assert names["f"].__annotations__ == {"x": torch.Tensor} and region_of(names["g"])


@pytest.mark.parametrize("line, cell", [("eager", "def f(): pass"), ("(", "def f(): pass"), ("**{}", "def f(): pass")])
def test_a_line_that_has_no_options_says_how_they_are_written(shell, line, cell):
    with pytest.raises(SyntaxError, match=r"as in `%%compiled fullgraph=True`, got"):
        shell.run_cell_magic("compiled", line, cell)


def test_a_cell_without_functions_is_refused(shell):
    with pytest.raises(SyntaxError, match="at its left margin"):
        shell.run_cell_magic("compiled", "", "x = 1")


def test_stages_inspects_the_call_as_it_is_written(shell, names):
    names.update(f=lambda x, k: x * k + 1, x=torch.ones(2))
    seen = shell.run_line_magic("stages", "f(x, k=3)")
    assert isinstance(seen, Inspection) and seen.graph.graph.compact() == "x -> ((x * 3) + 1,)"
    with pytest.raises(SyntaxError, match=r"takes a call, as in `%stages f\(x\)`, got: f"):
        shell.run_line_magic("stages", "f")
