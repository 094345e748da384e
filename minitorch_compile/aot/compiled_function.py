"""A compiled forward graph and its backward graph, as one operation that autograd records.

For the tape the whole graph is a single node: its edges lead to the arguments that require grad, its saved values are
what the partition saved. The backward graph is compiled when the first gradient arrives; a program that only ever runs
forward never pays for it. Gradients that are to be differentiated again come from `double_backward` instead.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile.aot.call_compiler import CompiledGraph
from minitorch_compile.aot.double_backward import Arguments, PlainProgram
from minitorch_compile.aot.interpret import in_layout
from minitorch_compile.aot.size_values import Values, with_values
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, NO_EDGE, Edge, Grad, Node, modified_inplace
from minitorch_compile.autograd.op_node import twin
from minitorch_compile.autograd.saved_tensors_hooks import Pack, Packed, Unpack
from minitorch_compile.autograd.watching import tell, watchers
from minitorch_compile.fx.graph_module import GraphModule
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.tensor_base import TensorBase


@dataclass(frozen=True, kw_only=True)
class Differentiation:
    """How the arguments, outputs and gradients of a compiled program belong together.

    `inputs`: the positions of the arguments that require grad. `tangents`: for each gradient that the backward graph
    takes, the output it belongs to and what it looks like. `gradients`: for each of `inputs`, the place of its gradient
    among the backward graph's results, or None. `sources`: for each of these results, the numbers of the tangents that
    it is computed from. `refused`: the outputs that no gradient may come to, and the error that it raises. `written`:
    the positions of the arguments that the program overwrites; what is saved of their memory is copied. `repeated`: the
    positions of outputs whose value is an argument or an earlier output, though their history may differ. `symbols`:
    the unknown sizes that the forward graph returns last, and the backward graph takes before the tangents. `plain`:
    the program for gradients with a history. `switches`: the program starts without grad mode and switches it on, so it
    is recorded in either mode.
    """

    output_count: int
    inputs: Sequence[int]
    tangents: Sequence[tuple[int, TensorBase]]
    gradients: Sequence[int | None]
    sources: Sequence[frozenset[int]]
    plain: PlainProgram
    written: Collection[int] = ()
    refused: Mapping[int, RuntimeError] = field(default_factory=dict)
    switches: bool = False
    repeated: Sequence[int] = ()
    symbols: Sequence[Any] = ()


class CompiledFunction:
    """The operation."""

    def __init__(
        self,
        forward: CompiledGraph,
        backward_graph: GraphModule,
        compile_backward: Callable[[], CompiledGraph],
        how: Differentiation,
    ) -> None:
        self.forward = forward
        self.backward_graph = backward_graph
        self.output_count = how.output_count
        self.inputs = tuple(how.inputs)
        self.tangents = tuple(how.tangents)
        self.gradients = tuple(how.gradients)
        self.sources = tuple(how.sources)
        self.plain = how.plain
        self.written = tuple(how.written)
        self.switches = how.switches
        self.refused = tuple(how.refused.values())
        self.recorded = (*(position for position, _ in how.tangents), *how.refused)  # the outputs of the node
        self.repeated = tuple(how.repeated)
        self.symbols = tuple(how.symbols)
        self._compile_backward: Callable[[], CompiledGraph] | None = compile_backward
        self._backward: CompiledGraph | None = None
        self._lock = threading.Lock()

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        """The outputs, as results of a new node if grad mode is on."""
        recording = state.enabled
        state.enabled = False
        try:
            results = self.forward(*arguments)
        finally:
            state.enabled = recording
        outputs, saved = results[: self.output_count], results[self.output_count :]
        return self._recorded(arguments, outputs, saved) if recording or self.switches else outputs

    def _recorded(self, arguments: Sequence[Any], outputs: Sequence[Any], saved: Sequence[Any]) -> Sequence[Any]:
        """The outputs as results of a new node, which keeps what is saved."""
        if self.repeated:
            outputs = [twin(x) if i in self.repeated else x for i, x in enumerate(outputs)]
        sizes: tuple[int, ...] = ()
        if self.symbols:
            saved, sizes = saved[: -len(self.symbols)], tuple(saved[-len(self.symbols) :])
        if self.written:
            overwritten = {arguments[i].storage for i in self.written}
            saved = [ops.clone(x) if x.storage in overwritten else x for x in saved]
        noted = Arguments(arguments, self.plain)
        node = CompiledNode(self, self._edges(arguments), saved, sizes, noted, self._own(saved, outputs))
        for index, position in enumerate(self.recorded):
            x = outputs[position]
            x._requires_grad, x.grad_fn, x.output_index = True, node, index
            x.base = None  # what it may be a view of stays inside; writing to it must not ask that for its history
            if x.untracked:
                x.untracked = False
        if watchers:
            tell(node)
        return outputs

    def _own(self, saved: Sequence[Any], outputs: Sequence[Any]) -> dict[int, int]:
        """Which of the saved tensors are outputs of the node, and which."""
        index_of = {id(outputs[position]): index for index, position in enumerate(self.recorded)}
        return {i: index_of[id(x)] for i, x in enumerate(saved) if id(x) in index_of}

    def _edges(self, arguments: Sequence[Any]) -> tuple[Edge, ...]:
        """Where the gradients of the arguments go."""
        differentiated = [arguments[i] for i in self.inputs]
        # Most are parameters, whose edge is known from the last call; a function call for each would show.
        return tuple(
            [
                x.accumulator if x.grad_fn is None and x.accumulator is not None else gradient_edge(x)
                for x in differentiated
            ]
        )

    @property
    def backward(self) -> CompiledGraph:
        """The compiled backward graph, made on first use."""
        if self._backward is None:
            with self._lock:
                if self._compile_backward is not None:
                    self._backward = self._compile_backward()
                    self._compile_backward = None  # the joint graph may go
        assert self._backward is not None
        return self._backward


class CompiledNode(Node):
    """What autograd keeps of one call. `own`: which of the saved tensors are which of the outputs."""

    __slots__ = ("arguments", "function", "own", "saved", "sizes", "versions")

    def __init__(
        self,
        function: CompiledFunction,
        edges: tuple[Edge, ...],
        saved: Sequence[TensorBase],
        sizes: tuple[int, ...],
        arguments: Arguments,
        own: dict[int, int],
    ) -> None:
        super().__init__(edges)
        self.function = function
        self.sizes = sizes
        self.arguments = arguments
        self.own = own
        # A result owns its node, so the node keeps a twin of it: else both would live until a cycle is looked for.
        self.saved: Sequence[Any] | None = [twin(x) if i in own else x for i, x in enumerate(saved)] if own else saved
        self.versions: list[int] | None = [x.storage.version for x in saved]

    @property
    def output_count(self) -> int:
        return len(self.function.recorded)

    def name(self) -> str:
        return "CompiledFunctionBackward"

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        if self.saved is None:
            raise RuntimeError(FREED)
        for grad, error in zip(grads[len(self.function.tangents) :], self.function.refused, strict=True):
            if grad is not None:
                raise type(error)(*error.args)
        saved = self._unpacked(self.saved)
        if state.enabled:
            return self.function.plain.gradients(
                self.arguments, self.next_functions, grads[: len(self.function.tangents)], wanted
            )
        values = dict(zip(self.function.symbols, self.sizes, strict=True))
        tangents = [
            _tangent(grad, like, values) for grad, (_, like) in zip(grads, self.function.tangents, strict=False)
        ]
        # Who traces the walk needs operations, not compiled code.
        backward = self.function.backward_graph if stacks.modes else self.function.backward
        results = backward(*saved, *self.sizes, *tangents)
        missing = {i for i, grad in enumerate(grads) if grad is None}
        # What comes only from outputs that nobody differentiated is no gradient of zeros, but none.
        dropped = {place for place, sources in enumerate(self.function.sources) if sources and sources <= missing}
        return [None if place is None or place in dropped else results[place] for place in self.function.gradients]

    def _unpacked(self, saved: Sequence[Any]) -> Sequence[Any]:
        """The saved tensors. RuntimeError if one was overwritten since."""
        if self.versions is None:
            return [packed.tensor() for packed in saved]
        for i, (x, version) in enumerate(zip(saved, self.versions, strict=True)):
            if x.storage.version != version:
                made_by = (self, self.own[i]) if i in self.own else (x.grad_fn, x.output_index)
                raise modified_inplace(x, version, *made_by)
        return saved

    def pack_saved(self, pack: Pack, unpack: Unpack) -> None:
        """Leaves the saved tensors to a pair of hooks."""
        assert self.saved is not None
        results = {i: (self, index) for i, index in self.own.items()}
        self.saved = [Packed(x, pack, unpack, results.get(i, NO_EDGE)) for i, x in enumerate(self.saved)]
        self.versions = None

    def release(self) -> None:
        if self.saved:  # as in eager autograd, a graph that saved nothing may be walked again
            self.saved = None


def _tangent(grad: Grad, like: TensorBase, values: Values) -> TensorBase:
    """The gradient of an output as the backward graph expects it: zeros where none came, in the layout of the trace."""
    strides = with_values(like.strides, values) if values else like.strides
    if grad is None:
        return in_layout(ops.full(with_values(tuple(like.sizes), values), 0, like.dtype), strides)
    return in_layout(grad, strides)
