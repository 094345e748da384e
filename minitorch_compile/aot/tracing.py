"""A program as a graph of ops: run it on fake tensors, and write down every op that reaches the bottom.

Dynamo's graph has a node for each call that the user wrote. Here the calls are carried out: composite ops dissolve into
the ops of their bodies, derivative formulas become nodes, and a list of plain ops on tensors of known sizes is left.

>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(x, w):
...     return ops.linear(x, w).relu()
>>> print(trace(program, [empty_fake((2, 3)), empty_fake((4, 3))]).graph.compact())
x, w -> relu(mm(x, t(w)))

The tracer is a *mode*: it sees the ops that the tape lets through, so a traced program may call autograd.grad, and the
backward pass is written down like everything else. It computes nothing: results are fake tensors, made by the ops'
shape rules, so a program on tensors of any size is traced in no memory.

Source: PyTorch's make_fx and its ProxyTorchDispatchMode.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from minitorch_compile.aot.float_nodes import FloatNodes, number_of
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.fx.interpreter import Interpreter
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.node import Node
from minitorch_compile.fx.size_nodes import SizeNodes
from minitorch_compile.symbolic import Symbol, SymFloat, SymInt
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.modes.symbolic_layout import specializing
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

# What a traced node remembers of the node that it was made for.
INHERITED_META = ("stack", "module", "backward", "checkpoint_region", "trail")


class Tracer:
    """The mode that writes ops into `graph`. `attributes` collects the real tensors that the program brings along."""

    def __init__(self) -> None:
        self.graph = Graph()
        self.attributes: dict[str, TensorBase] = {}
        self.inherited: dict[str, Any] = {}  # the meta that new nodes get
        self.sizes = SizeNodes(self.graph, _unknown_symbol, lambda: self.inherited)
        # Keyed by id: tensors compare elementwise. The tensor is kept, so that its id stays its own.
        self._tracked: dict[int, tuple[TensorBase, Node]] = {}

    @cached_property
    def floats(self) -> FloatNodes:
        """The nodes that are floats."""
        return FloatNodes(self.graph, self.node_of, lambda: self.inherited)

    # ------------------------------------------------------------------------------------------ tensors and nodes

    def placeholder(self, name: str, x: Any) -> Any:
        """A fake tensor that stands for an argument like `x`; a size that is not known stands for itself."""
        node = self.graph.placeholder(name)
        if isinstance(x, SymInt):
            node.meta["val"] = x
            if x.expression.only_symbol is not None:
                self.sizes.know(x.expression.only_symbol, node)
            return x
        stand_in = fake_like(x)
        self.track(stand_in, node)
        return stand_in

    def track(self, x: TensorBase, node: Node) -> None:
        """From now on `node` is the value of `x`."""
        if "val" not in node.meta:
            node.meta["val"] = fake_like(x)
        self._tracked[id(x)] = (x, node)

    def node_of(self, x: TensorBase) -> Node:
        """The node whose value `x` is. A real tensor becomes a constant of the graph."""
        if id(x) not in self._tracked:
            self._add_constant(x)
        return self._tracked[id(x)][1]

    def _add_constant(self, x: TensorBase) -> None:
        if x.is_fake:
            raise RuntimeError(
                f"trace: met a fake tensor of sizes {list(x.sizes)} that is neither an argument nor computed from"
                " the arguments; pass it as an argument"
            )
        name = f"constant_{len(self.attributes)}"
        self.attributes[name] = x
        self.track(x, self.graph.get_attr(name))

    # ------------------------------------------------------------------------------------------ the mode

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Writes the call down and returns what it would return, as fakes."""
        if op.kind == "inplace":
            raise RuntimeError(f"trace: {op!r} writes into its argument; functionalize the program first")
        bound = op.bind(args, kwargs)
        return self.record(op, bound, op.meta(*map_aggregate(bound, self.as_fake)))

    def as_fake(self, value: Any) -> Any:
        """A real tensor as its fake look-alike; other values as they are."""
        return fake_like(value) if isinstance(value, TensorBase) and not value.is_fake else value

    def record(self, op: Op, bound: tuple[Any, ...], result: Any) -> Any:
        """Makes the node of a call whose result is known."""
        self.track_result(self.call(op, map_aggregate(bound, self.as_argument)), result)
        return result

    def as_argument(self, value: Any) -> Any:
        """A tensor or an unknown number as the node whose value it is; other values as they are."""
        if isinstance(value, SymFloat):
            return self.floats.argument(value)
        return self.node_of(value) if isinstance(value, TensorBase) else self.sizes.argument(value)

    def call(self, op: Op, arguments: tuple[Any, ...]) -> Node:
        """The node of a call, with all arguments positional and trailing defaults left out."""
        count = len(arguments)
        while count and arguments[count - 1] is op.defaults[count - 1]:
            count -= 1
        node = self.graph.call_function(op, arguments[:count])
        node.meta.update(self.inherited)
        return node

    def track_result(self, node: Node, result: Any) -> None:
        """Lets `node` be the value of a tensor, or its items the values of a tuple of tensors."""
        if isinstance(result, TensorBase):
            self.track(result, node)
            return
        node.meta["val"] = tuple(fake_like(item) for item in result)
        for position, item in enumerate(result):
            part = self.graph.call_function(operator.getitem, (node, position))
            part.meta.update(self.inherited)
            self.track(item, part)

    # ------------------------------------------------------------------------------------------ the end

    def finish(self, result: Any) -> GraphModule:
        """The graph, returning `result`: tensors and constants in any nesting. Unused nodes are dropped."""
        output = self.graph.output(map_aggregate(result, self.as_argument))
        output.meta["val"] = map_aggregate(result, lambda x: fake_like(x) if isinstance(x, TensorBase) else x)
        self.graph.eliminate_dead_code()
        used = {node.target for node in self.graph.find_nodes(op="get_attr")}
        return LazyGraphModule({name: x for name, x in self.attributes.items() if name in used}, self.graph)

    @contextmanager
    def on_behalf_of(self, node: Node) -> Any:
        """Inside, new nodes inherit where `node` came from."""
        saved, self.inherited = self.inherited, {key: node.meta[key] for key in INHERITED_META if key in node.meta}
        try:
            yield
        finally:
            self.inherited = saved


def _unknown_symbol(symbol: Symbol) -> Node:
    raise RuntimeError(f"trace: the size {symbol} is needed, but it is not among the arguments")


class Retrace(Interpreter):
    """Runs a graph under a tracer, so that the nodes of the new graph remember the lines of the old one."""

    def __init__(self, module: GraphModule, tracer: Tracer) -> None:
        super().__init__(module)
        self.tracer = tracer

    def run_node(self, node: Node) -> Any:
        with self.tracer.on_behalf_of(node):
            if node.target is number_of:
                number = node.meta["val"]
                return SymFloat(number.text, number.assumptions, origin=self.origin(self.env[node.args[0]]))
            return super().run_node(node)

    def origin(self, tensor: TensorBase) -> TensorBase:
        """The tensor that the new graph reads a float from."""
        return tensor

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return specializing(target, args, kwargs)


def trace(program: Callable[..., Any] | GraphModule, example_inputs: Sequence[TensorBase]) -> GraphModule:
    """The graph of `program` on tensors like `example_inputs`.

    Every node's meta["val"] is a fake tensor (or a tuple of them) with its sizes, strides and dtype, and meta["stack"]
    is that of the node of `program`, if it is a graph, for which it was made.
    """
    tracer = Tracer()
    stand_ins = [
        tracer.placeholder(*pair)
        for pair in zip(argument_names(program, len(example_inputs)), example_inputs, strict=True)
    ]
    run = Retrace(program, tracer).run if isinstance(program, GraphModule) else program
    with dispatch.mode(tracer):
        result = run(*stand_ins)
    return tracer.finish(result)


def argument_names(program: Callable[..., Any] | GraphModule, count: int) -> list[str]:
    """The names of the first `count` arguments, as far as they have names."""
    if isinstance(program, GraphModule):
        names = [node.name for node in program.graph.find_nodes(op="placeholder")]
    else:
        parameters = inspect.signature(program).parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (names + [f"arg{i}" for i in range(len(names), count)])[:count]
