"""A compiled forward graph and its backward graph, as one operation that autograd records.

For the tape the whole graph is a single node: its edges lead to the arguments that require grad, its saved values are
what the partition saved. The backward graph is compiled when the first gradient arrives; a program that only ever runs
forward never pays for it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from minitorch_compile.aot.call_compiler import CompiledGraph
from minitorch_compile.aot.interpret import in_layout
from minitorch_compile.aot.size_values import Values, with_values
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, Edge, Grad, Node, modified_inplace
from minitorch_compile.autograd.op_node import twin
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.tensor_base import TensorBase

NO_DOUBLE_BACKWARD = (
    "a compiled function does not support double backward: its backward pass is itself compiled and not recorded. Call"
    " the plain function where you need create_graph=True."
)


class CompiledFunction:
    """The operation.

    `inputs`: the positions of the arguments that require grad. `tangents`: for each gradient that the backward graph
    takes, the output it belongs to and what it looks like. `gradients`: for each of `inputs`, the place of its gradient
    among the backward graph's results, or None. `sources`: for each of these results, the numbers of the tangents that
    it is computed from. `refused`: the outputs that no gradient may come to, and the error that it raises. `written`:
    the positions of the arguments that the program overwrites; what is saved of their memory is copied. `repeated`: the
    positions of outputs whose value is that of an earlier one, though their history may differ. `symbols`: the unknown
    sizes that the forward graph returns last, and the backward graph takes before the tangents.
    """

    def __init__(
        self,
        forward: CompiledGraph,
        compile_backward: Callable[[], CompiledGraph],
        output_count: int,
        inputs: Sequence[int],
        tangents: Sequence[tuple[int, TensorBase]],
        gradients: Sequence[int | None],
        sources: Sequence[frozenset[int]],
        written: Collection[int] = (),
        refused: Mapping[int, RuntimeError] | None = None,
        repeated: Sequence[int] = (),
        symbols: Sequence[Any] = (),
    ) -> None:
        self.forward = forward
        self.output_count = output_count
        self.inputs = tuple(inputs)
        self.tangents = tuple(tangents)
        self.gradients = tuple(gradients)
        self.sources = tuple(sources)
        self.written = tuple(written)
        self.refused = tuple((refused or {}).values())
        self.recorded = (*(position for position, _ in tangents), *(refused or {}))  # the outputs of the node
        self.repeated = tuple(repeated)
        self.symbols = tuple(symbols)
        self._compile_backward: Callable[[], CompiledGraph] | None = compile_backward
        self._backward: CompiledGraph | None = None

    def __call__(self, *arguments: Any) -> Sequence[Any]:
        """The outputs, as results of a new node if grad mode is on."""
        recording = state.enabled
        state.enabled = False
        try:
            results = self.forward(*arguments)
        finally:
            state.enabled = recording
        outputs = results[: self.output_count]
        if recording:
            if self.repeated:
                outputs = [twin(x) if i in self.repeated else x for i, x in enumerate(outputs)]
            saved, sizes = results[self.output_count :], ()
            if self.symbols:
                saved, sizes = saved[: -len(self.symbols)], tuple(saved[-len(self.symbols) :])
            if self.written:
                overwritten = {arguments[i].storage for i in self.written}
                saved = [ops.clone(x) if x.storage in overwritten else x for x in saved]
            node = CompiledNode(self, self._edges(arguments), saved, sizes)
            for index, position in enumerate(self.recorded):
                x = outputs[position]
                x._requires_grad, x.grad_fn, x.output_index = True, node, index
                x.base = None  # what it may be a view of stays inside; writing to it must not ask that for its history
        return outputs

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
            assert self._compile_backward is not None
            self._backward = self._compile_backward()
            self._compile_backward = None  # the joint graph may go
        return self._backward


class CompiledNode(Node):
    """What autograd keeps of one call."""

    __slots__ = ("function", "saved", "sizes", "versions")

    def __init__(
        self,
        function: CompiledFunction,
        edges: tuple[Edge, ...],
        saved: Sequence[TensorBase],
        sizes: tuple[int, ...] = (),
    ) -> None:
        super().__init__(edges)
        self.function = function
        self.sizes = sizes
        self.saved: Sequence[TensorBase] | None = saved
        self.versions = [x.storage.version for x in saved]

    @property
    def output_count(self) -> int:
        return len(self.function.recorded)

    def name(self) -> str:
        return "CompiledFunctionBackward"

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        if state.enabled:
            raise RuntimeError(NO_DOUBLE_BACKWARD)
        if self.saved is None:
            raise RuntimeError(FREED)
        for grad, error in zip(grads[len(self.function.tangents) :], self.function.refused, strict=True):
            if grad is not None:
                raise type(error)(*error.args)
        self._check_versions(self.saved)
        values = dict(zip(self.function.symbols, self.sizes, strict=True))
        tangents = [
            _tangent(grad, like, values) for grad, (_, like) in zip(grads, self.function.tangents, strict=False)
        ]
        results = self.function.backward(*self.saved, *self.sizes, *tangents)
        missing = {i for i, grad in enumerate(grads) if grad is None}
        # What comes only from outputs that nobody differentiated is no gradient of zeros, but none.
        dropped = {place for place, sources in enumerate(self.function.sources) if sources and sources <= missing}
        return [None if place is None or place in dropped else results[place] for place in self.function.gradients]

    def _check_versions(self, saved: Sequence[TensorBase]) -> None:
        for x, version in zip(saved, self.versions, strict=True):
            if x.storage.version != version:
                raise modified_inplace(x, version, x.grad_fn, x.output_index)

    def release(self) -> None:
        self.saved = None


def _tangent(grad: Grad, like: TensorBase, values: Values) -> TensorBase:
    """The gradient of an output as the backward graph expects it: zeros where none came, in the layout of the trace."""
    strides = with_values(like.strides, values) if values else like.strides
    if grad is None:
        return in_layout(ops.full(with_values(tuple(like.sizes), values), 0, like.dtype), strides)
    return in_layout(grad, strides)
