"""The drawings of a cache and of a split function: the text form says the same as the picture."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import minitorch_compile as torch
from minitorch_compile.course.drawings.split import draw_split
from minitorch_compile.course.drawings.versions import draw_versions

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing) -> list[str]:
    return [node.text for node in ElementTree.fromstring(drawing.svg()).iter(SVG + "text")]


def test_a_version_is_shown_with_the_guards_that_set_it_apart():
    drawing = draw_versions([(["a == 1", "k == 2"], "x * 2"), (["a == 1", "k == 3"], "x * 3")])
    assert {"k == 2", "x * 2", "k == 3", "x * 3"} <= set(texts(drawing))
    assert "a == 1" not in texts(drawing)
    assert "1 guard that all versions share" in repr(drawing)


def test_a_single_version_is_shown_with_all_its_guards():
    assert "a == 1" in texts(draw_versions([(["a == 1"], "x")]))


def test_an_empty_cache_can_be_drawn():
    assert repr(draw_versions([])) == "call\nnone holds: trace again"


def compiled(function, *arguments):
    fast = torch.compile(function, backend="eager")
    fast(*arguments)
    return fast


def test_both_ways_of_a_branch_are_drawn_and_the_one_not_taken_is_marked():
    def branch(x):
        if x.sum() > 0:
            return x + 1
        return x - 1

    shown = texts(draw_split(compiled(branch, torch.ones(2))))
    assert "graph: sum, gt" in shown and "for real: x.sum() > 0" in shown
    assert "graph: add" in shown and "not needed so far" in shown
    assert {"true", "false"} <= set(shown)


def test_two_breaks_in_one_line_are_two_resume_functions_of_one_name():
    def twice(x):
        return x * x.max().item() + x.min().item()

    shown = texts(draw_split(compiled(twice, torch.ones(2))))
    assert len([text for text in shown if text.startswith("resume_in_twice")]) == 2
    assert len([text for text in shown if text.startswith("for real")]) == 2


def test_a_resume_function_with_a_closure_is_found():
    def closing(x):
        factor = 2
        scaled = lambda y: y * factor
        print("halfway")
        factor = 3
        return scaled(x)

    drawing = repr(draw_split(compiled(closing, torch.ones(2))))
    assert "then: resume_in_closing" in drawing and "graph: mul" in drawing


def test_a_callee_that_breaks_is_drawn_beside_its_caller():
    def inner(x):
        y = x + 1
        print("inside")
        return y * 2

    def outer(x):
        return inner(x) - 1

    drawing = repr(draw_split(compiled(outer, torch.ones(2))))
    assert drawing.startswith("outer\n") and "\ninner\n" in drawing


def test_a_loop_goes_back_to_where_it_was():
    def repeated(x):
        for _ in range(2):
            x = x + 1
            print("round")
        return x * 2

    drawing = draw_split(compiled(repeated, torch.ones(2)))
    assert {"done", "next item"} <= set(texts(drawing))
    assert "back to resume_in_repeated" in repr(drawing)


def test_a_function_without_a_break_is_one_box():
    drawing = draw_split(compiled(lambda x: x + 1, torch.ones(2)))
    assert repr(drawing) == "<lambda>\n    graph: add\n    returns"
