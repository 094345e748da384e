"""What lesson 11's checks measure with: compared with all possible cuts."""

from __future__ import annotations

import itertools

import pytest

import minitorch_compile as torch
from minitorch_compile.aot.subgraph import descendants
from minitorch_compile.course.drawings.pipes import UNLIMITED, draw_pipes
from minitorch_compile.course.measures.cutting import (
    CHEAP,
    backward_graph,
    cheapest,
    joint_graph,
    read,
    size,
    tangents,
    work,
)
from minitorch_compile.tensor import empty_fake


def leaf(*sizes):
    return empty_fake(sizes).requires_grad_()


PROGRAMS = {
    "a chain": (lambda x: x.sin().exp().tanh(), leaf(10)),
    "two ways": (lambda x: x.sin() * x.exp(), leaf(10)),
    "a table": (lambda a, b: (a - b).tanh(), leaf(10, 1), leaf(10)),
    "a product": (lambda x, w: (x @ w).sin().exp(), leaf(8, 4), leaf(4, 2)),
    "a sum": (lambda x: x.sum(0).exp(), leaf(10, 3)),
    "nothing is read": (lambda x: x * 3 + 1, leaf(10)),
}


def costly(joint, saved):
    """How many products and sums the backward graph has."""
    calls = backward_graph(joint, saved).graph.find_nodes(op="call_function")
    return sum(call.target.kind not in CHEAP for call in calls)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_set_of_values_that_spares_the_products_is_smaller_than_the_cheapest(name):
    program, *examples = PROGRAMS[name]
    joint = joint_graph(program, *examples)
    least = sum(map(size, cheapest(joint)))
    needed = costly(joint, read(joint))
    assert costly(joint, cheapest(joint)) == needed
    candidates = before_the_tangent(joint)
    for count in range(len(candidates) + 1):
        for saved in itertools.combinations(candidates, count):
            if sum(map(size, saved)) < least:
                try:
                    assert costly(joint, saved) > needed
                except RuntimeError:
                    continue  # too little


def before_the_tangent(joint):
    late = descendants(tangents(joint))
    return [n for n in joint.graph_module.graph.nodes if n not in late and n.op != "output"]


def test_what_is_read_is_what_the_formulas_hold():
    assert [n.name for n in read(joint_graph(lambda x: x.exp(), leaf(3)))] == ["exp"]
    assert [n.name for n in read(joint_graph(lambda x: x.sin(), leaf(3)))] == ["x"]
    assert read(joint_graph(lambda x: x + x, leaf(3))) == []


def test_saving_more_than_the_cheapest_spares_work():
    joint = joint_graph(lambda x: x.sin().exp().tanh(), torch.ones(3, requires_grad=True))
    assert work(joint, cheapest(joint)) == work(joint, read(joint)) + 3


def test_a_value_is_one_box_with_its_bytes_and_cut_pipes_are_dashed():
    pipes = {("source", "x"): UNLIMITED, ("x", "x'"): 400, ("x'", "sink"): UNLIMITED, ("source", "sink"): 7}
    view = draw_pipes(pipes, [("x", "x'"), ("source", "sink")])
    assert [(box.id, box.kind, box.detail) for box in view.drawing.all_boxes()] == [
        ("source", "near", ""),
        ("x", "cut", "400"),
        ("sink", "far", ""),
    ]
    assert '"source" -> "sink" [label="7" style=dashed]' in view.dot
