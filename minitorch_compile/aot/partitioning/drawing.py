"""A partition as a picture: the two passes, each in a frame, and what crosses from one to the other.

The bold arrows that lead from one frame into the other all begin at saved values: together they are the cut. What the
backward pass computes again is drawn a second time, in its frame.

>>> from minitorch_compile.aot.joint_graph import trace_joint
>>> from minitorch_compile.aot.partitioning.min_cut import min_cut_partition
>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.tensor import empty_fake
>>> x, w = empty_fake((8, 8)), empty_fake((8, 8))
>>> w.requires_grad = True
>>> joint = trace_joint(trace(lambda x, w: ((x @ w).sin().exp().cos(),), [x, w]), [True])
>>> for box in draw_partition(min_cut_partition(joint)).drawing.all_boxes():
...     print(f"{box.kind:10} {box.label}")
saved      x
forward    w
saved      mm
forward    sin
forward    exp
forward    cos
output     outputs
backward   tangents_0
backward   neg
recomputed sin
recomputed exp
backward   sin
...
output     gradients
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from minitorch_compile.aot.partitioning.recomputation import is_constant
from minitorch_compile.aot.subgraph import ancestors, in_order_of_need
from minitorch_compile.fx.dot import Drawing
from minitorch_compile.fx.draw import draw
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_view import GraphView
from minitorch_compile.fx.node import Node

if TYPE_CHECKING:
    from minitorch_compile.aot.partitioning.partition import Partition

FORWARD, BACKWARD = "forward pass", "backward pass"


def draw_partition(partition: Partition, **options: Any) -> GraphView:
    """The drawing; `options` are those of `fx.draw.draw`."""
    picture, report = _Picture(partition), partition.report
    options.setdefault("title", f"the cut: {len(report.saved)} values saved, {report.bytes:,} bytes")
    view = draw(picture.graph, kind=picture.kinds.__getitem__, cluster=picture.frames.__getitem__, **options)
    _show_cut(view.drawing)
    return view


def _show_cut(drawing: Drawing) -> None:
    """Frames in the colours of their passes, and bold arrows from one into the other."""
    frame_of: dict[str, str] = {}
    for frame in drawing.clusters:
        frame.kind = {FORWARD: "forward", BACKWARD: "backward"}[frame.label]
        frame_of.update((box.id, frame.label) for box in frame.all_boxes())
    drawing.arrows = [
        arrow if frame_of[arrow.source] == frame_of[arrow.target] else replace(arrow, style="bold")
        for arrow in drawing.arrows
    ]


def outputs(*values: Any) -> None:
    """Stands in the picture for what the forward pass returns."""


def gradients(*values: Any) -> None:
    """Stands in the picture for what the backward pass returns."""


class _Picture:
    """One graph with the nodes of both passes, and the colour and the frame of each."""

    def __init__(self, partition: Partition) -> None:
        from minitorch_compile.aot.partitioning.partition import Sides

        self.graph = Graph()
        self.kinds: dict[Node, str] = {}
        self.frames: dict[Node, str] = {}
        sides = Sides(partition.joint)
        saved = dict.fromkeys([*partition.saved, *partition.saved_sizes])
        forward = ancestors([*sides.outputs, *saved])
        drawn = self._add(FORWARD, [n for n in sides.order if n in forward], {}, saved, "forward")
        self._add_results(FORWARD, outputs, [drawn[n] for n in sides.outputs])
        backward = ancestors([*sides.gradients], stop_at=set(saved)) - set(saved)
        order = in_order_of_need(sides.order, sides.backward, sides.gradients, given=saved)
        passed = {node: drawn[node] for node in saved}
        both = {node for node in forward if not is_constant(node)}
        drawn = self._add(BACKWARD, [n for n in order if n in backward], passed, both, "backward")
        self._add_results(BACKWARD, gradients, [drawn[n] for n in sides.gradients])

    def _add(
        self, frame: str, nodes: Iterable[Node], known: dict[Node, Any], marked: Iterable[Node], kind: str
    ) -> dict[Node, Any]:
        """Copies of the nodes, of which those in `marked` get the colour that tells them from their pass."""
        mark = {FORWARD: "saved", BACKWARD: "recomputed"}[frame]
        copies, special = dict[Node, Any](known), set(marked)
        for node in nodes:
            if getattr(node.target, "name", "") == "full":  # a number, written where it is used
                copies[node] = node.args[1]
                continue
            copy = copies[node] = self.graph.node_copy(node, copies.__getitem__)
            self.kinds[copy], self.frames[copy] = mark if node in special else kind, frame
        return copies

    def _add_results(self, frame: str, target: Any, values: list[Any]) -> None:
        node = self.graph.call_function(target, tuple(values))
        self.kinds[node], self.frames[node] = "output", frame
