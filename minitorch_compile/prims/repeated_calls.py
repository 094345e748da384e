"""Calls that look like one that was decomposed before: its nodes are copied, and the rule isn't run again.

The layers of a network are alike, and so are their gradients: of a thousand calls in a graph a hundred differ. What a
rule writes depends on what its arguments look like, and on which of them are the same.

>>> from minitorch_compile.aot.tracing import trace
>>> from minitorch_compile.prims.decomposer import decompose
>>> from minitorch_compile.tensor import empty_fake, ops
>>> def program(x):
...     for _ in range(FEWEST_NODES):
...         x = ops.softmax(x, 1)
...     return x
>>> print(decompose(trace(program, [empty_fake((2, 3))])).graph.find_nodes(op="call_function")[8:12])
[div, amax_1, reshape_2, broadcast_in_dim_2]

A call is decomposed for itself if a size isn't known, if an argument is neither a fake tensor nor a constant, and if
its decomposition brought along a tensor of its own.

Source: the cache of `torch/_subclasses/fake_tensor.py`, which keeps results of calls by what their arguments look like.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from types import NoneType
from typing import Any

from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.fx.graph import Graph
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

FEWEST_NODES = 20  # in a shorter graph there is little to be found
CONSTANTS = frozenset((int, bool, str, NoneType, dtype, device))  # equal ones of a type are the same to every rule


class _Incomparable(Exception):
    """An argument that isn't known by what it looks like."""


@dataclass(frozen=True)
class Written:
    """What a call left in the graph: the nodes behind `before` up to `last`, made for these arguments."""

    arguments: list[Node]
    before: Node
    last: Node
    result: Any

    def nodes(self) -> list[Node]:
        found, node = [], self.before
        while node is not self.last:
            node = node.next
            found.append(node)
        return found


class RepeatedCalls:
    """The calls that a tracer met, by what their arguments look like."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._known: dict[Hashable, Written] = {}

    def call(self, run: Callable[..., Any], target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What `run(target, args, kwargs)` gives and writes down; not run, if a call like it was run before."""
        if not isinstance(target, Op):
            return run(target, args, kwargs)
        arguments: list[Node] = []
        try:
            look = target, self._look((args, *kwargs.items()), arguments)
        except _Incomparable:
            return run(target, args, kwargs)
        known = self._known.get(look)
        if known is not None and all(node.op == "call_function" for node in known.nodes()):
            return self._again(known, arguments)
        before = _last_of(self._tracer.graph)
        result = run(target, args, kwargs)
        if _are_tensors(result):
            self._known[look] = Written(arguments, before, _last_of(self._tracer.graph), result)
        return result

    def _again(self, known: Written, arguments: list[Node]) -> Any:
        tracer, counterpart = self._tracer, dict(zip(known.arguments, arguments, strict=True))

        def here(node: Node) -> Node:
            return counterpart.get(node, node)

        for node in known.nodes():
            copy = counterpart[node] = tracer.graph.node_copy(node, here)
            copy.meta = {"val": node.meta["val"], **tracer.inherited}

        def another(x: TensorBase) -> TensorBase:
            result: TensorBase = fake_like(x)
            tracer.track(result, here(tracer.node_of(x)))
            return result

        return another(known.result) if isinstance(known.result, TensorBase) else tuple(map(another, known.result))

    def _look(self, value: Any, arguments: list[Node]) -> Hashable:
        """Equal for arguments that no rule can tell apart; the nodes of tensors are added to `arguments`."""
        kind = type(value)
        if kind in CONSTANTS:
            return kind, value
        if kind is tuple or kind is list:
            return kind, tuple([self._look(item, arguments) for item in value])
        if kind is float:
            return kind, repr(value)  # -0.0 == 0.0, and nan isn't equal to itself
        if kind is not Tensor or not value.is_fake:
            raise _Incomparable
        layout = *value.sizes, *value.strides, value.offset
        if any(type(number) is not int for number in layout):
            raise _Incomparable
        node = self._tracer.node_of(value)
        place = arguments.index(node) if node in arguments else len(arguments)
        arguments.append(node)
        return layout, len(value.sizes), value.dtype, value.device, value.requires_grad, place


def _last_of(graph: Graph) -> Node:
    return next(iter(reversed(graph.nodes)), graph._root)


def _are_tensors(result: Any) -> bool:
    return isinstance(result, TensorBase) or (type(result) is tuple and all(isinstance(x, TensorBase) for x in result))
