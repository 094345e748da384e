"""What is saved between forward and backward, and that it doesn't change results."""

from __future__ import annotations

import operator

import pytest

import minitorch_compile.nn.functional as F
from minitorch_compile import logs, prims
from minitorch_compile.aot import default_partition, min_cut_partition, trace, trace_joint
from minitorch_compile.aot.subgraph import extract
from minitorch_compile.tensor import float32, ops
from tests.aot.compare import BACKENDS, compiled, sample


def joint_of(function, *inputs):
    graph_module = trace(function, inputs)
    outputs = graph_module.graph.output_node().args[0]
    return trace_joint(graph_module, [True] * len(outputs))


def saved_names(function, *inputs):
    return [node.name for node in default_partition(joint_of(function, *inputs)).saved]


def test_what_backward_does_not_read_is_not_saved():
    assert saved_names(lambda x, y: (x + y,), sample(3), sample(3)) == []


def test_the_result_of_exp_is_saved_and_not_its_argument():
    assert saved_names(lambda x, y: ((x @ y).exp(),), sample(3, 3), sample(3, 3, requires_grad=False)) == ["exp", "y"]


def test_a_view_is_made_again_from_its_base():
    assert saved_names(lambda x, w: (F.linear(x, w),), sample(2, 3), sample(4, 3)) == ["x", "w"]


def test_the_default_computes_nothing_again_but_views():
    assert saved_names(lambda x: (x.sin().sin().sin(),), sample(3)) == ["sin", "sin_1", "x"]
    report = default_partition(joint_of(lambda x: (x.sin().sin().sin(),), sample(3))).report
    assert report.recomputed == [] and report.bytes == report.bytes_if_all_saved


def test_of_an_expanded_value_the_small_one_is_saved_and_of_a_small_part_the_part():
    assert saved_names(lambda x, y: (x * y.exp().expand(8, 3),), sample(8, 3), sample(1, 3)) == ["exp", "x"]
    sizes = [node.meta["val"].numel() for node in default_partition(joint_of(part_of_product, *parts())).saved]
    assert sizes[0] == 3  # not the 300 numbers that they are a part of


def part_of_product(x, y):
    return ((x @ y)[7].exp().sin(),)


def parts():
    return sample(100, 2), sample(2, 3, requires_grad=False)


def test_a_matrix_product_is_not_done_again():
    assert "mm" in saved_names(lambda x, w: ((x @ w).sin(),), sample(3, 3), sample(3, 3))


def test_a_constant_is_made_again():
    assert saved_names(lambda x: (x * ops.full((3,), 2.0),), sample(3)) == []


def test_backward_takes_what_forward_saves():
    joint = joint_of(lambda x, w: (F.layer_norm(x @ w, (4,)),), sample(3, 5), sample(5, 4))
    partition = default_partition(joint)
    forward_outputs = partition.forward.graph.output_node().args[0]
    backward_inputs = partition.backward.graph.find_nodes(op="placeholder")
    assert len(forward_outputs) == joint.output_count + len(partition.saved)
    assert [n.name for n in backward_inputs] == [n.name for n in partition.saved] + ["tangents_0"]


def test_the_report_adds_up():
    x, w = sample(8, 16, dtype="float32"), sample(16, 4, dtype="float32")
    report = default_partition(joint_of(lambda x, w: ((x @ w).relu().exp(),), x, w)).report
    assert report.bytes == sum(4 * node.meta["val"].numel() for node in report.saved)
    assert report.argument_bytes == 4 * (8 * 16 + 16 * 4)
    assert report.bytes <= report.bytes_if_all_saved
    assert str(report).startswith("saves ")


def test_decomposed_graphs_save_no_more_than_twice_their_ops():
    """Decomposing shows the partitioner more to save; with the minimum cut it doesn't fall for it."""
    inputs = [sample(32, 64, dtype=float32.numpy), sample(64, dtype=float32.numpy), sample(64, dtype=float32.numpy)]
    joint = joint_of(lambda x, w, b: (F.gelu(F.layer_norm(x, (64,), w, b)).softmax(-1),), *inputs)
    before = default_partition(joint).report.bytes
    joint.graph_module = prims.decompose(joint.graph_module)
    assert min_cut_partition(joint).report.bytes <= before


def test_a_partition_is_drawn_as_two_passes_and_the_cut_between_them():
    joint = joint_of(lambda x, w: ((x @ w).sin().exp().cos(),), sample(3, 3), sample(3, 3, requires_grad=False))
    drawing = min_cut_partition(joint).draw().drawing
    boxes = {frame.label: {box.id: box.kind for box in frame.all_boxes()} for frame in drawing.clusters}
    forward, backward = boxes["forward pass"], boxes["backward pass"]
    assert [name for name, kind in forward.items() if kind == "saved"] == ["w", "mm"]
    assert [name for name, kind in backward.items() if kind == "recomputed"] == ["sin_1", "exp_1"]
    crossing = [arrow for arrow in drawing.arrows if arrow.source in forward and arrow.target in backward]
    assert {arrow.source for arrow in crossing} == {"w", "mm"}
    assert [arrow for arrow in drawing.arrows if arrow.style == "bold"] == crossing


def test_the_drawing_of_a_large_partition_is_summarised():
    def deep(x):
        for _ in range(100):
            x = x.sin()
        return (x,)

    assert len(default_partition(joint_of(deep, sample(3))).draw().drawing.all_boxes()) < 150


def test_what_is_computed_again_is_computed_when_it_is_needed():
    def three_layers(x, w):
        for _ in range(3):
            x = (x @ w).sin().exp()
        return (x,)

    backward = min_cut_partition(joint_of(three_layers, sample(3, 3), sample(3, 3))).backward
    names = [node.target.name for node in backward.graph.find_nodes(op="call_function")]
    # The gradient of a layer's weight needs the layer before it, whose sine is computed again then, and not earlier.
    order = [name for name in names if name in ("sin", "mm")]
    assert order == ["sin", "mm", "sin", "mm", "mm", "sin", "mm", "mm", "mm"]


def test_extract_refuses_missing_arguments():
    graph_module = trace(lambda x, y: x + y, [sample(3), sample(3)])
    x, _, total, _ = graph_module.graph.nodes
    with pytest.raises(RuntimeError, match="'y', which is not among the inputs"):
        extract(graph_module, [x], [total])


def test_backward_nodes_remember_the_line_they_were_made_for():
    from minitorch_compile.aot.call_compiler import call_compiler  # noqa: F401
    from minitorch_compile.fx import Graph, GraphModule

    graph = Graph()
    x = graph.placeholder("x")
    y = graph.call_function(operator.mul, (x, x))
    y.meta["stack"] = ("train.py", 1, "y = x * x")
    z = graph.call_method("exp", (y,))
    z.meta["stack"] = ("train.py", 2, "z = y.exp()")
    graph.output((z,))
    joint = trace_joint(trace(GraphModule({}, graph), [sample(3)]), [True])
    lines = [
        (n.meta["stack"][1], n.meta.get("backward", False))
        for n in joint.graph_module.graph.find_nodes(op="call_function")
    ]
    assert lines[:2] == [(1, False), (2, False)]
    assert lines[2] == (2, True)
    assert all(line == (1, True) for line in lines[3:])


def test_artifacts_are_logged():
    with logs.capture("aot_joint_graph", "aot_graphs", "partition") as records:
        compiled(lambda x: (x.exp(),), BACKENDS["aot_eager"])(sample(3))
    assert [record.name for record in records] == ["aot_joint_graph", "aot_graphs", "aot_graphs", "partition"]
    assert "tangents_0" in records[0].text
