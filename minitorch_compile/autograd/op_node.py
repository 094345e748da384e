"""The node of an op: what is kept from its forward pass, and the formula that uses it.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True)
>>> y = x * 3
>>> y.grad_fn.parameters, y.grad_fn.apply([ones(2)], [True, False])
([Layout(sizes=[2], strides=(1,), dtype=torch.float32), 3], [tensor([3., 3.]), None])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.derivative_table import FOR_OTHERS, LAYOUT, VALUE, Derivative
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, NO_EDGE, Edge, Grad, Layout, Node, modified_inplace
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch import stacks
from minitorch_compile.tensor.dtype import FLOATING
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts


class OpNode(Node):
    """The node of an op with a row in the table of derivatives.

    `parameters` are those of the call; where the formula needs no value, a Layout stands for the tensor. `kept` has all
    tensors whose value is needed, with the version of their storage.
    """

    __slots__ = ("_output_count", "derivative", "kept", "op", "outputs", "parameters")

    def __init__(self, op: Op, derivative: Derivative, bound: Sequence[Any]) -> None:
        super().__init__(edges_of(op, bound))
        self.op = op
        self.derivative = derivative
        self.kept: list[tuple[Any, int]] = []
        self.parameters: list[Any] | None = list(bound)
        requiring = 0
        for node, _ in self.next_functions:
            requiring += node is not None
        for position in op.tensor_parameters:
            value, keeps = bound[position], derivative.keeps[position]
            if isinstance(value, TensorBase):
                keep = keeps is VALUE or (keeps is FOR_OTHERS and requiring > value.requires_grad)
                self.parameters[position] = self._keep(value) if keep else Layout(value)
            elif isinstance(value, (list, tuple)):
                self.parameters[position] = tuple(self._kept_item(item, keeps) for item in value)

    def _kept_item(self, item: Any, keeps: str) -> Any:
        if not isinstance(item, TensorBase):
            return item
        return self._keep(item) if keeps is VALUE else Layout(item)

    def _keep(self, x: Any) -> Any:
        self.kept.append((x, x.storage.version))
        return x

    def keep_output(self, out: Any) -> None:
        """Keeps of the result what the formula asks for."""
        if type(out) is tuple:
            self._output_count = len(out)
            keeps = self.derivative.keeps_out
            self.outputs: Any = tuple(self._output(o, keep) for o, keep in zip(out, keeps, strict=True))
        else:
            self._output_count = 1
            self.outputs = self._output(out, self.derivative.keeps_out)

    def _output(self, out: Any, keep: str) -> Any:
        if keep is VALUE:
            # The result owns its node, so a node that owned its result would keep both alive until the garbage
            # collector finds the cycle: it gets a twin. A tracer, though, knows values by identity.
            return self._keep(out if stacks.modes else twin(out))
        return Layout(out) if keep is LAYOUT else None

    @property
    def output_count(self) -> int:
        return self._output_count

    def name(self) -> str:
        return self.derivative.name

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        if self.parameters is None:
            raise RuntimeError(FREED)
        for x, version in self.kept:
            if x.storage.version != version:
                raise modified_inplace(x, self._role_of(x), version)
        out = self._saved_outputs()
        grad = grads[0] if self._output_count == 1 else tuple(grads)
        result = self.derivative.formula(grad, out, *self.parameters)
        entries = result if type(result) is tuple else (result,)
        return self._gradients(entries, wanted)

    def _gradients(self, entries: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Grad]:
        """The entries of the tensor parameters, one for each edge, evaluated where wanted."""
        assert self.parameters is not None
        gradients: list[Grad] = []
        for position in self.op.tensor_parameters:
            entry = entries[position] if position < len(entries) else None
            value = self.parameters[position]
            if type(value) is tuple:
                needed = wanted[len(gradients) : len(gradients) + len(value)]
                parts = (entry() if callable(entry) else entry) if any(needed) else None
                gradients += parts if parts is not None else [None] * len(value)
            elif wanted[len(gradients)]:
                gradients.append(entry() if callable(entry) else entry)
            else:
                gradients.append(None)
        return gradients

    def _saved_outputs(self) -> Any:
        """The kept outputs, as results of this node if what is done with them now is to be recorded."""
        if self.outputs is None or not state.enabled or stacks.modes:
            return self.outputs
        if type(self.outputs) is tuple:
            return tuple(self._as_result(o, i) for i, o in enumerate(self.outputs))
        return self._as_result(self.outputs, 0)

    def _as_result(self, out: Any, index: int) -> Any:
        if not isinstance(out, TensorBase) or out.dtype.category < FLOATING:
            return out
        result = twin(out)
        result.requires_grad, result.grad_fn, result.output_index = True, self, index
        return result

    def _role_of(self, x: Any) -> str:
        for index, out in enumerate(self.outputs if type(self.outputs) is tuple else (self.outputs,)):
            if x is out:
                return f"output {index} of {self.name()}"
        return f"an input of {self.name()}"

    def release(self) -> None:
        if self.kept:
            self.kept, self.parameters, self.outputs = [], None, None


class MissingDerivative(Node):
    """The node of an op that has no row in the table: the forward pass may run, going back raises."""

    __slots__ = ("op",)

    def __init__(self, op: Op, edges: tuple[Edge, ...]) -> None:
        super().__init__(edges)
        self.op = op

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        raise NotImplementedError(
            f"derivative for '{self.op.name}' is not implemented; add one with @derivative({self.op}), or write"
            " an autograd.Function"
        )


def edges_of(op: Op, bound: Sequence[Any]) -> tuple[Edge, ...]:
    """An edge for each tensor parameter, or for each item of one that is a list."""
    edges: list[Edge] = []
    for position in op.tensor_parameters:
        value = bound[position]
        if isinstance(value, TensorBase):
            edges.append(gradient_edge(value))
        elif isinstance(value, (list, tuple)):
            edges += [gradient_edge(item) if isinstance(item, TensorBase) else NO_EDGE for item in value]
        else:
            edges.append(NO_EDGE)
    return tuple(edges)


def twin(x: Any) -> Any:
    """Another tensor over the same storage that knows nothing of the graph."""
    result = from_parts(x.storage, x.offset, x.sizes, x.strides, x.dtype, x.device)
    result._array = x._array
    return result
