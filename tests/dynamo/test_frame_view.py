"""The linked view: every graph node stands beside the instruction and the line that it came from."""

import re

import minitorch_compile as torch
from minitorch_compile.dynamo import explain


def views(function, *args):
    return explain(function)(*args).frames


def beside(view, opname):
    """The nodes beside each instruction of that name, one list an instruction."""
    return [
        row.nodes.get(index, []) for row in view.rows for index, text in row.instructions if text.startswith(opname)
    ]


def helper(z):
    return torch.tanh(z) + 1


def test_nodes_stand_beside_their_instruction():
    (view,) = views(lambda x: torch.sin(x) * 2, torch.ones(2))
    assert beside(view, "CALL") == [["sin = ops.sin(x)"]]
    assert beside(view, "BINARY_OP") == [["mul = sin * 2"]]


def test_an_unrolled_loop_has_all_its_nodes_in_one_place():
    def program(x):
        for i in range(7):
            x = x + i
        return x

    (view,) = views(program, torch.ones(2))
    (nodes,) = beside(view, "BINARY_OP")
    assert nodes[0] == "add = x + 0"
    assert nodes[-1] == "... and 3 more"


def test_an_inlined_call_shows_the_line_of_the_callee():
    (view,) = views(lambda x: helper(x), torch.ones(2))
    (nodes,) = beside(view, "CALL")
    assert [text.split(" = ")[0] for text in nodes] == ["tanh", "add"]
    assert all(re.search(r"# test_frame_view.py:\d+$", text) for text in nodes)


def test_the_break_is_marked_where_it_is_and_the_rest_is_a_frame_of_its_own():
    def program(x):
        y = x * 2
        if y.sum() > 0:
            return y + 1
        return y

    first, second = views(program, torch.ones(2))
    assert beside(first, "POP_JUMP_IF") == [["--- the graph breaks here ---"]]
    assert "data-dependent jump" in str(first)
    assert beside(second, "BINARY_OP") == [["add = y + 1"]]
    assert beside(second, "COMPARE_OP") == []  # what was done before the break is not part of the rest


def test_only_instructions_that_can_run_are_shown():
    (view,) = views(lambda x: x + 1, torch.ones(2))
    shown = [index for row in view.rows for index, _ in row.instructions]
    assert shown == list(range(len(view.program.instructions)))


def test_the_page_links_both_ends_and_escapes_the_text():
    (view,) = views(lambda x: x + 1 if x.shape[0] < 5 else x, torch.ones(2))
    page = view._repr_html_()
    (index,) = {index for row in view.rows for index in row.nodes}
    assert page.count(f"class='i{index}'") == 2
    assert f":has(.i{index}:hover) .i{index}" in page
    assert "'<'" not in page
    assert "what runs instead" in page
    assert "return MISS" in view.generated_code


def test_explain_has_every_frame():
    def program(x):
        torch.compiler.graph_break()
        return x + 1

    report = explain(program)(torch.ones(2))
    assert [view.name.rpartition(".")[2] for view in report.frames][0].startswith("program")
    assert len(report.frames) == 2
    assert report._repr_html_().count("<summary>instructions of") == 2
