"""Values that the backward pass needs, and the program overwrites before.

Eagerly, autograd keeps tensors, and their versions; going back, it notices that one was written to since. In a
functional graph nothing is ever written, so the gradient would exist, and a program that raises would begin to work.
It has to raise as before: so what the program does to the tensors behind the values is noted while it is made
functional.

>>> from minitorch_compile.aot.aot_function import aot_function
>>> from minitorch_compile.aot.interpret import interpret
>>> from minitorch_compile.fx import symbolic_trace
>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0], requires_grad=True)
>>> overwriting = symbolic_trace(lambda x: (x.exp().add_(1), x * 2))     # exp's derivative needs its result
>>> first, second = aot_function(overwriting, [x], interpret)(x)
>>> second.backward(retain_graph=True)                                   # this one doesn't go through exp
>>> first.backward()
Traceback (most recent call last):
RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.function_node import FunctionNode
from minitorch_compile.autograd.node import Node as TapeNode
from minitorch_compile.autograd.node import modified_inplace
from minitorch_compile.autograd.op_node import OpNode
from minitorch_compile.autograd.reachable import leading_to
from minitorch_compile.fx.node import Node
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like

KEY = "overwritten"  # of a node's meta: the values of the call that are overwritten after it


class Seen(NamedTuple):
    """A value that a call took or gave, the storage of the tensor that had it, and the storage's version then."""

    value: TensorBase
    storage: Storage
    version: int


def seen_in(arguments: Any, values: Any) -> list[Seen]:
    """The values of the tensors in a nesting of arguments; `values` is the same nesting with values for tensors."""
    if isinstance(arguments, TensorBase):
        return [Seen(values, arguments.storage, arguments.storage.version)]
    if isinstance(arguments, (list, tuple)):
        return [seen for pair in zip(arguments, values, strict=True) for seen in seen_in(*pair)]
    return []


@dataclass
class Uses:
    """All calls of a program: what each gave, and the values that its derivative may need."""

    calls: list[tuple[Any, list[Seen]]] = field(default_factory=list)

    def note(self, result: Any, seen: list[Seen]) -> None:
        """One call."""
        self.calls.append((result, seen))

    def mark_overwritten(self, tracer: Tracer) -> None:
        """Lets the nodes of the calls know which of their values were overwritten, now that the program is over."""
        for result, seen in self.calls:
            stale = [s for s in seen if s.storage.version != s.version]
            if stale:
                node = _node_of_call(tracer, result)
                node.meta[KEY] = [(_place(tracer, node, s.value), s.version, s.storage.version) for s in stale]


def _node_of_call(tracer: Tracer, result: Any) -> Node:
    if isinstance(result, TensorBase):
        return tracer.node_of(result)
    return tracer.node_of(result[0]).all_input_nodes[0]  # through getitem


Place = tuple[str, int]


def _place(tracer: Tracer, call: Node, value: TensorBase) -> Place:
    """Where a call has a value: among its inputs, or among its results."""
    node = tracer.node_of(value)
    if node in call.all_input_nodes:
        return "input", call.all_input_nodes.index(node)
    return "result", 0 if node is call else int(node.args[1])


# ---------------------------------------------------------------------------------------------- going back


class Refusals:
    """What the tape recorded and can't go back through, and why."""

    def __init__(self) -> None:
        self.errors: dict[TapeNode, RuntimeError] = {}

    def look_at(self, node: Node, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Compares what the tape keeps of a call, which ran just now, with what was overwritten."""
        recorded = next((x.grad_fn for x in results if isinstance(x, TensorBase) and x.grad_fn is not None), None)
        if recorded is None or KEY not in node.meta:
            return
        kept = list(_kept_by(recorded))
        for (kind, index), version, last in node.meta[KEY]:
            value = (inputs if kind == "input" else results)[index]
            if any(value is x for x in kept) or (kind == "result" and index in _kept_results(recorded)):
                self.errors.setdefault(recorded, _error(value, version, last))

    def of(self, output: TensorBase, inputs: Sequence[TensorBase]) -> RuntimeError | None:
        """Why gradients can't go from an output to these inputs; None if they can."""
        if not self.errors:
            return None
        visited = leading_to([gradient_edge(output)], {gradient_edge(x)[0] for x in inputs})
        return next((self.errors[node] for node in visited if node in self.errors), None)


def _kept_by(recorded: TapeNode) -> Iterator[Any]:
    """The tensors whose versions the node checks."""
    if isinstance(recorded, OpNode):
        yield from (x for x, _ in recorded.kept)
    elif isinstance(recorded, FunctionNode):
        yield from recorded.kept_tensors


def _kept_results(recorded: TapeNode) -> Sequence[int]:
    """Which of its results an autograd.Function saved; it keeps twins of them."""
    return recorded.kept_results if isinstance(recorded, FunctionNode) else ()


def _error(value: TensorBase, version: int, last: int) -> RuntimeError:
    """The error that plain autograd raises, with its numbers."""
    stand_in = fake_like(value)
    stand_in.storage.version = last
    return modified_inplace(stand_in, version, value.grad_fn, value.output_index)
