"""The walk over a graph of prims that turns it into loops.

Node by node, the lowering of the prim makes a `TensorBox`. A box is given a buffer and a loop of its own (it is
*realized*) when something needs it in memory: an extern kernel, the graph's output, or several users of a value that
is not cheap to compute again. What is never realized is computed inside the loops that use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minitorch_compile.fx import GraphModule, Node
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.inductor.ir.buffer import Buffer, Ints, Position
from minitorch_compile.inductor.ir.dependencies import in_dependency_order, plain_view
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView, whole
from minitorch_compile.inductor.ir.handler import Origin
from minitorch_compile.inductor.ir.index import ZERO, Index, variables
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, Operation, TensorBox
from minitorch_compile.inductor.lowering.half_precision import HALF, computes_on_halves, constant, in_float32
from minitorch_compile.inductor.lowering.table import table
from minitorch_compile.prims import Prim
from minitorch_compile.prims import table as prims
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.dtype import dtype
from minitorch_compile.tensor.memory_format import channels_last, strides_in
from minitorch_compile.tensor.strides import contiguous_strides, is_dense, numel
from minitorch_compile.tensor.tensor_base import TensorBase

# A value used more than once is computed again at each use if that is at most this many reads and operations.
CHEAP_READS, CHEAP_OPERATIONS = 4, 6
# A value that would be computed from more than this is realized, which bounds how deep bodies nest.
MOST_READS, MOST_OPERATIONS = 12, 60
EXPENSIVE_OPERATION = 8  # what exp and its kin count for
# A reduction of everything is taken in parts from this many elements on, so that threads can share the parts.
LONG_REDUCTION, FEWEST_PARTS, MOST_PARTS = 1 << 16, 16, 1 << 12


class GraphLowering:
    """Builds a `LoopGraph`; lowerings call `realize`, `reduction`, `extern`, ... on it."""

    def __init__(self) -> None:
        self.inputs: list[Buffer] = []
        self.operations: list[Operation] = []
        self.constants: dict[Buffer, TensorBase] = {}
        self.origin: Origin | None = None
        self.count = 0

    # ------------------------------------------------------------------------------------------ memory

    def new_buffer(self, sizes: Ints, dtype: dtype, strides: Ints | None = None) -> Buffer:
        buffer = Buffer(f"buf{self.count}", tuple(sizes), strides or contiguous_strides(tuple(sizes)), dtype)
        self.count += 1
        return buffer

    def add(self, operation: Operation) -> None:
        """Appends an operation, unless all it would fill is empty."""
        operation.origin = self.origin
        if any(buffer.length for buffer in operation.outputs):
            self.operations.append(operation)

    def realize(self, box: TensorBox) -> Buffer:
        """The buffer that holds the box, made and filled if there is none yet."""
        if box.buffer is None:
            outer, self.origin = self.origin, box.origin or self.origin
            strides = strides_in(channels_last, box.sizes) if box.channels_last else None
            buffer = self.new_buffer(box.sizes, box.dtype, strides)
            self.add(Loop(buffer, box.sizes, box.inner_fn))
            box.become(buffer)
            self.origin = outer
        assert box.buffer is not None
        return box.buffer

    def view(self, box: TensorBox) -> StridedView:
        """The box as part of a buffer: without a copy if it only renames the elements of one."""
        base = box
        while base.buffer is None and base.view_of is not None:
            base = base.view_of
        if base.buffer is None and base.numel <= box.numel:
            self.realize(base)  # what is viewed here may be wanted elsewhere too, so it is stored rather than the view
        found = plain_view(box.load, variables("i", box.sizes))
        if found is None:
            return whole(self.realize(box))
        return StridedView(found.buffer, box.sizes, found.strides, found.offset)

    def contiguous_view(self, box: TensorBox) -> StridedView:
        """The box in row-major order, copied if need be."""
        return self.view_in(box, contiguous_strides(box.sizes))

    def view_in(self, box: TensorBox, strides: Ints) -> StridedView:
        """The box with these dense strides, copied if need be."""
        view = self.view(box)
        if not same_layout(view, strides):
            buffer = self.new_buffer(box.sizes, box.dtype, strides)
            self.add(Loop(buffer, box.sizes, box.load))
            return whole(buffer)
        return StridedView(view.buffer, view.sizes, strides, view.offset)

    # ------------------------------------------------------------------------------------------ what lowerings make

    def reduction(self, kind: str, x: TensorBox, dims: Ints, place_of: Buffer | None = None) -> TensorBox:
        """x combined over `dims`: a loop of its own, always. `place_of`: see `Loop`."""
        sizes = tuple(size for dim, size in enumerate(x.sizes) if dim not in dims)
        if numel(x.sizes) == 0:
            return self.reduction_of_nothing(kind, x.dtype, sizes)
        if numel([x.sizes[dim] for dim in dims]) == 1:  # nothing to combine
            return TensorBox(sizes, x.dtype, lambda ops, at: x.load(ops, insert_zeros(at, dims)), inputs=[x])
        if x.operations > MOST_OPERATIONS:
            self.realize(x)
        parts = in_parts(x) if numel(sizes) == 1 else None
        if parts is not None:
            of_parts = self.reduction(kind, parts, tuple(range(1, len(parts.sizes))))
            total = self.reduction(kind, of_parts, (0,))
            result = TensorBox(sizes, x.dtype, lambda ops, at: total.load(ops, ()), inputs=[total])
            result.view_of = total
            return total if sizes == () else result
        buffer = self.new_buffer(sizes, x.dtype)
        self.add(Loop(buffer, x.sizes, x.load, reduced=tuple(dims), kind=kind, place_of=place_of))
        return TensorBox.of(buffer)

    def reduction_of_nothing(self, kind: str, dtype: dtype, sizes: Ints) -> TensorBox:
        """What a reduction gives where it has nothing to combine: 0 for a sum, 1 for a product."""
        neutral = np.asarray(prims[kind].kernel(np.zeros((0,), dtype.numpy), (0,))).item()
        return TensorBox(sizes, dtype, lambda ops, at: ops.constant(neutral, dtype))

    def extern(
        self, kernel: str, inputs: list[StridedView], outputs: list[Buffer], *parameters: Any
    ) -> list[TensorBox]:
        """The results of an extern kernel."""
        self.add(ExternCall(kernel, inputs, outputs, parameters))
        return [TensorBox.of(buffer) for buffer in outputs]

    # ------------------------------------------------------------------------------------------ the walk

    def input(self, name: str, value: TensorBase) -> TensorBox:
        buffer = Buffer(input_name(name), tuple(value.sizes), tuple(value.strides), value.dtype, "input")
        self.inputs.append(buffer)
        return TensorBox.of(buffer)

    def constant(self, name: str, value: TensorBase) -> TensorBox:
        """A tensor kept in the graph module: an input that the compiled graph supplies itself."""
        buffer = Buffer(f"constant_{name}", tuple(value.sizes), tuple(value.strides), value.dtype, "input")
        self.constants[buffer] = value
        return TensorBox.of(buffer)

    def call(self, node: Node, args: Any, kwargs: Any) -> Any:
        """The result of one prim."""
        if not isinstance(node.target, Prim):
            raise TypeError(
                f"inductor: node '{node.name}' calls {node.target}, which is not a prim;"
                " run prims.decompose on the graph first"
            )
        self.origin = Origin(node.target.name, node.meta.get("stack"))
        if _is_empty(node.meta.get("val")):
            return _nothing(node.meta["val"])
        rule, arguments = table[node.target.name], node.target.bind(args, kwargs)
        results = [value.dtype for value in tree_leaves(node.meta["val"])]
        if computes_on_halves(node.target.name, arguments, results):
            rule = in_float32(rule, results)
        result = rule(self, *arguments)
        for box in result if isinstance(result, tuple) else (result,):
            box.origin = box.origin or self.origin
            self.bound(box, node)
        return result

    def bound(self, box: TensorBox, node: Node) -> None:
        """Realizes a box that would be too much to compute at each of its uses."""
        uses = len(node.users)
        cheap = box.reads <= CHEAP_READS and box.operations <= CHEAP_OPERATIONS
        if (uses > 1 and not cheap) or box.reads > MOST_READS or box.operations > MOST_OPERATIONS:
            self.realize(box)

    def output(self, box: TensorBox, wanted: TensorBase) -> StridedView:
        """The box as a tensor that the caller gets: in a buffer of its own, with the strides it expects."""
        sizes, strides = box.sizes, tuple(wanted.strides)
        view = self.view(box) if box.buffer is not None or self.is_view(box) else None
        if view is not None and view.buffer.kind == "temporary" and same_layout(view, strides) and view.offset == 0:
            if numel(sizes) == numel(view.buffer.sizes):
                view.buffer.kind = "output"
                return StridedView(view.buffer, sizes, strides)
        return self.copy_out(box, strides)

    def is_view(self, box: TensorBox) -> bool:
        return plain_view(box.load, variables("i", box.sizes)) is not None

    def copy_out(self, box: TensorBox, strides: Ints) -> StridedView:
        """A new output buffer. Dimensions of stride 0 repeat one element, so they are stored once."""
        stored = tuple(1 if stride == 0 else size for size, stride in zip(box.sizes, strides))
        if not is_dense(stored, strides):
            strides = contiguous_strides(stored)
        buffer = self.new_buffer(stored, box.dtype, strides)
        buffer.kind = "output"
        self.add(Loop(buffer, stored, box.load))
        return StridedView(buffer, box.sizes, tuple(0 if n != m else s for n, m, s in zip(box.sizes, stored, strides)))


def _is_empty(value: Any) -> bool:
    """Whether a result has no elements at all. Then nothing is computed, so that no loop has to bear empty ranges."""
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(x, TensorBase) and numel(x.sizes) == 0 for x in values)


def _nothing(value: Any) -> Any:
    """The boxes of empty results."""
    if isinstance(value, tuple):
        return tuple(map(_nothing, value))
    if value.dtype in HALF:
        return constant(tuple(value.sizes), 0, value.dtype)
    return TensorBox(tuple(value.sizes), value.dtype, lambda ops, at: ops.constant(0, value.dtype))


def in_parts(x: TensorBox) -> TensorBox | None:
    """A box with many elements as one whose first dimension counts parts of it; None if it is short or can't be cut."""
    if x.numel < LONG_REDUCTION:
        return None
    if len(x.sizes) > 1:
        return x if x.sizes[0] >= FEWEST_PARTS else None
    length = x.sizes[0]
    count = next((n for n in range(MOST_PARTS, FEWEST_PARTS - 1, -1) if length % n == 0), None)
    if count is None:
        return None
    step = length // count
    return TensorBox((count, step), x.dtype, lambda ops, at: x.load(ops, (at[0] * step + at[1],)), inputs=[x])


def input_name(name: str) -> str:
    """A name for an input that can't clash with what generated code calls its own things."""
    return name if name.startswith(("arg", "primals", "tangents")) else f"arg_{name}"


def insert_zeros(at: Position, dims: Ints) -> list[Index]:
    """A position with a 0 put in at each of `dims`.

    >>> insert_zeros(variables("i", [4, 5]), (1,))
    [i0, 0, i1]
    """
    rest = iter(at)
    return [ZERO if dim in dims else next(rest) for dim in range(len(at) + len(dims))]


def same_layout(view: StridedView, strides: Ints) -> bool:
    return all(size == 1 or a == b for size, a, b in zip(view.sizes, view.strides, strides))


def lower(module: GraphModule) -> LoopGraph:
    """A graph of prims as loops."""
    graph = GraphLowering()
    env: dict[Node, Any] = {}
    outputs: list[StridedView] = []
    for node in module.graph.nodes:
        args, kwargs = map_arg((node.args, node.kwargs), env.__getitem__)
        if node.op == "placeholder":
            env[node] = graph.input(node.name, node.meta["val"])
        elif node.op == "get_attr":
            env[node] = graph.constant(node.name, module.attributes[str(node.target)])
        elif node.op == "output":
            outputs = lower_outputs(graph, node, args[0])
        elif node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem":
            env[node] = args[0][args[1]]
        else:
            env[node] = graph.call(node, args, kwargs)
    written = written_back(outputs, graph.inputs, module.meta.get("written_back", {}))
    return LoopGraph(graph.inputs, in_dependency_order(graph.operations), outputs, graph.constants, written)


def written_back(
    outputs: Sequence[StridedView], inputs: Sequence[Buffer], wanted: Mapping[int, int]
) -> dict[Buffer, Buffer]:
    """For those of the `wanted` outputs that are laid out as the input that they belong into: which input that is."""
    buffers = [view.buffer for view in outputs]
    found: dict[Buffer, Buffer] = {}
    for position, argument in wanted.items():
        view, target = outputs[position], inputs[argument]
        alike = view.sizes == target.sizes and same_layout(view, target.strides) and not view.offset
        dense = view.buffer.length == target.length == numel(target.sizes)
        if (
            alike
            and dense
            and view.buffer.dtype is target.dtype
            and buffers.count(view.buffer) == 1
            and view.buffer.kind != "input"
        ):
            found[view.buffer] = target
    return found


def lower_outputs(graph: GraphLowering, node: Node, boxes: Any) -> list[StridedView]:
    """A view for each output. An input that is returned as it is stays the same memory; anything else gets its own."""
    wanted = node.meta.get("val") or [source.meta["val"] for source in node.args[0]]
    views: list[StridedView] = []
    known: dict[int, StridedView] = {}
    for source, box, value in zip(node.args[0], boxes, wanted):
        if source.op in ("placeholder", "get_attr"):
            views.append(whole(box.buffer))
            continue
        graph.origin = box.origin
        if id(box) not in known:
            known[id(box)] = graph.output(box, value)
        views.append(known[id(box)])
    return views
