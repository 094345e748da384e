"""A pass as a picture: what is gone, what is new, what reads something else."""

import pytest

from minitorch_compile.fx import GraphModule, symbolic_trace
from minitorch_compile.fx.passes import draw_change, merge_common_subexpressions, remove_dead_code, show


def kinds(view):
    return {box.id: box.kind for box in view.drawing.all_boxes()}


def test_a_merged_node_is_gone_and_its_reader_reads_the_other():
    view = show(merge_common_subexpressions, symbolic_trace(lambda x: x.exp() / x.exp().sum(dim=1)).graph)
    assert kinds(view)["before.exp_1"] == "removed"
    assert kinds(view)["after.exp"] == kinds(view)["before.exp"] == "kept"
    assert kinds(view)["before.sum_1"] == kinds(view)["after.sum_1"] == "rewired"


def test_a_new_node_is_new():
    view = draw_change(symbolic_trace(lambda x: x.exp()).graph, symbolic_trace(lambda x: x.exp().sin()).graph)
    assert kinds(view)["after.sin"] == "added"


def test_the_frames_say_how_many_operations_there_are():
    view = show(remove_dead_code, symbolic_trace(lambda x: (x.exp(), x.sin().cos())[0]).graph)
    assert [frame.label for frame in view.drawing.clusters] == ["before: 3 operations", "after: 1 operation"]


def test_a_pass_over_modules_is_drawn_too_and_the_graph_stays():
    module = symbolic_trace(lambda x: (x.exp(), x.sin())[0])
    view = show(lambda m: GraphModule({}, remove_dead_code(m.graph)), module)
    assert "before.sin" in kinds(view) and len(module.graph.nodes) == 4


def test_what_returns_no_graph_is_no_pass():
    with pytest.raises(TypeError, match="expected a Graph"):
        show(lambda graph: None, symbolic_trace(lambda x: x).graph)
