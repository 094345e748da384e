"""The walk over a graph of prims that turns it into loops.

Node by node, the lowering of the prim makes a `TensorBox`. A box is given a buffer and a loop of its own (it is
*realized*) when something needs it in memory: an extern kernel, the graph's output, or several users of a value that
is not cheap to compute again. What is never realized is computed inside the loops that use it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile.fx import GraphModule, Node
from minitorch_compile.fx.arguments import map_arg
from minitorch_compile.inductor.ir.buffer import Buffer, Ints
from minitorch_compile.inductor.ir.dependencies import in_dependency_order
from minitorch_compile.inductor.ir.extern_call import ExternCall, StridedView
from minitorch_compile.inductor.ir.handler import Origin
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph, Operation, TensorBox
from minitorch_compile.inductor.lowering.outputs import lower_outputs, written_back
from minitorch_compile.inductor.lowering.table import ADAPTERS, Rule, table
from minitorch_compile.prims import Prim
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.memory.memory_format import channels_last, strides_in
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

# A value used more than once is computed again at each use if that is at most this many reads and operations.
CHEAP_READS, CHEAP_OPERATIONS = 4, 6
# A value that would be computed from more than this is realized, which bounds how deep bodies nest.
MOST_READS, MOST_OPERATIONS = 12, 60
EXPENSIVE_OPERATION = 8  # what exp and its kin count for


class GraphLowering:
    """Builds a `LoopGraph`. A target's own `rules` go before the table's; one that answers None leaves a call to it."""

    def __init__(self, rules: Mapping[str, Rule] | None = None) -> None:
        self.inputs: list[Buffer] = []
        self.operations: list[Operation] = []
        self.constants: dict[Buffer, TensorBase] = {}
        self.origin: Origin | None = None
        self.rules, self.count = rules or {}, 0

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

    # ------------------------------------------------------------------------------------------ what lowerings make

    def extern(self, name: str, inputs: list[StridedView], outputs: list[Buffer], *parameters: Any) -> list[TensorBox]:
        """The results of an extern kernel."""
        self.add(ExternCall(name, inputs, outputs, parameters))
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
        self.origin = Origin(node.target.name, node.meta.get("stack"), node.name)
        result = self.lowered(node.target.name, node.target.bind(args, kwargs), node.meta["val"])
        for box in result if isinstance(result, tuple) else (result,):
            box.origin = box.origin or self.origin
            self.bound(box, node)
        return result

    def lowered(self, prim: str, arguments: Sequence[Any], meant: Any) -> Any:
        """The boxes of a call whose results look like `meant`, by the rule of the prim."""
        if isinstance(meant, tuple) and all(0 in x.sizes for x in meant):
            return tuple(self.lowered("full", (x.sizes, 0, x.dtype), x) for x in meant)
        if isinstance(meant, TensorBase) and 0 in meant.sizes:  # so that no loop has to bear empty ranges
            prim, arguments = "full", (meant.sizes, 0, meant.dtype)
        if prim in self.rules and (made := self.rules[prim](self, *arguments)) is not None:
            return made
        results = [value.dtype for value in tree_leaves(meant)]
        computed = [x.dtype for x in tree_leaves(list(arguments)) if isinstance(x, TensorBox)]
        adapt = next((ADAPTERS[element] for element in (*results, *computed) if element in ADAPTERS), None)
        rule = adapt(prim, table[prim], results) if adapt else table[prim]
        return rule(self, *arguments)

    def bound(self, box: TensorBox, node: Node) -> None:
        """Realizes a box that would be too much to compute at each of its uses."""
        uses = len(node.users)
        cheap = box.reads <= CHEAP_READS and box.operations <= CHEAP_OPERATIONS
        if (uses > 1 and not cheap) or box.reads > MOST_READS or box.operations > MOST_OPERATIONS:
            self.realize(box)


def input_name(name: str) -> str:
    """A name for an input that can't clash with what generated code calls its own things."""
    return name if name.startswith(("arg", "primals", "tangents")) else f"arg_{name}"


def lower(module: GraphModule, rules: Mapping[str, Rule] | None = None) -> LoopGraph:
    """A graph of prims as loops, where `rules` of a target have no other answer."""
    graph = GraphLowering(rules)
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
