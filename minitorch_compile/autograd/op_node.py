"""The node of an op: what is kept from its forward pass, and the formula that uses it.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2, requires_grad=True) + 0
>>> y = x * 3
>>> y.grad_fn.parameters, y.grad_fn.apply([ones(2)], [True, False])
([Layout(sizes=[2], strides=(1,), dtype=torch.float32), 3], [tensor([3., 3.]), None])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from minitorch_compile.autograd.derivative_table import FOR_OTHERS, LAYOUT, VALUE, Derivative
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import (
    FREED,
    INFERENCE_SAVED,
    NO_EDGE,
    Edge,
    Grad,
    Layout,
    Node,
    modified_inplace,
    new_leaves,
    numbers,
    order_leaves,
)
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch.dispatch import contexts, stacks
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.memory.device import CPU, entered
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by


class OpNode(Node):
    """The node of an op with a row in the table of derivatives.

    `parameters` are those of the call; where the formula needs no value, a Layout stands for the tensor. `kept` has all
    tensors whose value is needed, with the version of their storage.
    """

    __slots__ = ("derivative", "kept", "op", "outputs", "parameters")

    def __init__(self, op: Op, derivative: Derivative, bound: Sequence[Any]) -> None:
        # Recording costs as much as a small operation, so Node.__init__ is not called, and there is one loop.
        self.hooks = None
        self.op = op
        self.derivative = derivative
        self.kept: list[tuple[Any, int]] = []
        self.outputs: Any = None
        self.parameters: list[Any] | None = list(bound)
        parameters = self.parameters
        edges = []
        for position, keeps in derivative.tensors:
            value = parameters[position]
            if isinstance(value, TensorBase):
                requires = value._requires_grad
                edges.append(gradient_edge(value) if requires or value.base is not None else NO_EDGE)
                if keeps is VALUE:
                    self._keep(value)
                elif keeps is not FOR_OTHERS and not (requires and value.grad_fn is None):
                    parameters[position] = Layout(value)  # but a leaf itself, which the graph keeps in any case
            elif isinstance(value, (list, tuple)):
                edges += [gradient_edge(item) if isinstance(item, TensorBase) else NO_EDGE for item in value]
                parameters[position] = tuple(self._kept_item(item, keeps) for item in value)
            else:
                edges.append(NO_EDGE)
        self.next_functions = tuple(edges)
        self.number = next(numbers)  # higher than those of the inputs, of which an edge to a leaf may be new
        if new_leaves:
            order_leaves(edges)
        if derivative.keeps_for_others:
            self._keep_for_others(parameters)

    def __getattr__(self, name: str) -> Any:
        """What PyTorch calls `_saved_self`, `_saved_other`, `_saved_dim`, `_saved_result`: a parameter of the call or
        its result, where the formula needs its value. RuntimeError once freed. `_raw_saved_self` is what keeps it."""
        what = name.removeprefix("_raw").removeprefix("_saved_")
        if what == name.removeprefix("_raw"):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if name.startswith("_raw"):
            return self._slot_of(name, what)
        if self.parameters is None:
            raise RuntimeError(FREED)
        position = self._position_of(what)
        saved = self.outputs if what == "result" else None if position is None else self.parameters[position]
        of_no_use = position is not None and self.derivative.keeps[position] not in (VALUE, FOR_OTHERS)
        if of_no_use or isinstance(saved, Layout) or (saved is None and position is None):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}': not needed, so not kept")
        return _as_result(saved, self, 0) if what == "result" else saved

    def __dir__(self) -> list[str]:
        """Names what is kept, too."""
        kept = [name for name in ("result", *self.op.parameters) if self._keeps_value(name)]
        names = [f"{raw}_saved_{'self' if name == 'input' else name}" for name in kept for raw in ("", "_raw")]
        return sorted([*super().__dir__(), *names])

    def _slot_of(self, name: str, what: str) -> Any:
        from minitorch_compile.autograd.saved_tensors_hooks import SavedTensor

        if not self._keeps_value(what):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}': not needed, so not kept")
        return SavedTensor(self, None if what == "result" else self._position_of(what))

    def _position_of(self, what: str) -> int | None:
        return self.op.positions.get("input" if what == "self" else what)

    def _keeps_value(self, what: str) -> bool:
        """Whether the formula needs the elements of a parameter, or of the result."""
        if what == "result":
            return self.derivative.keeps_out is VALUE
        position = self._position_of(what)
        if position is None or self.derivative.keeps[position] not in (VALUE, FOR_OTHERS):
            return False
        return self.parameters is None or hasattr(self.parameters[position], "is_leaf")  # a number keeps itself

    def _keep_for_others(self, parameters: list[Any]) -> None:
        """Of the parameters marked ForOthers keeps those beside which another one requires grad."""
        requiring = len(self.next_functions) - self.next_functions.count(NO_EDGE)
        for position in self.derivative.keeps_for_others:
            value = parameters[position]
            if isinstance(value, TensorBase):
                if requiring > value._requires_grad:
                    self._keep(value)
                elif not (value._requires_grad and value.grad_fn is None):
                    parameters[position] = Layout(value)

    def _kept_item(self, item: Any, keeps: str) -> Any:
        if not isinstance(item, TensorBase):
            return item
        return self._keep(item) if keeps is VALUE else Layout(item)

    def _keep(self, x: Any) -> Any:
        version = x.storage.version
        if version < 0:
            raise RuntimeError(INFERENCE_SAVED)
        self.kept.append((x, version))
        return x

    def keep_output(self, out: Any) -> None:
        """Keeps of the result what the formula asks for."""
        keeps = self.derivative.keeps_out
        if keeps is VALUE and isinstance(out, TensorBase):
            self.outputs = self._keep_result(out)
        elif isinstance(out, tuple):
            if isinstance(keeps, str):  # one word for however many outputs there are
                keeps = (keeps,) * len(out)
            self.outputs = tuple(self._output(o, keep) for o, keep in zip(out, keeps, strict=True))
        elif keeps is LAYOUT:
            self.outputs = Layout(out)

    def _output(self, out: Any, keep: str) -> Any:
        return self._keep_result(out) if keep is VALUE else Layout(out) if keep is LAYOUT else None

    def _keep_result(self, out: Any) -> Any:
        """The result owns its node, so a node that owned its result would keep both alive until the garbage collector
        finds the cycle: it gets a twin. A tracer, though, knows values by identity, and a class with
        `__torch_dispatch__` what it hung on the result."""
        kept = out if (contexts and stacks.modes) or hasattr(type(out), "__torch_dispatch__") else twin(out)
        self.kept.append((kept, kept.storage.version))
        return kept

    @property
    def output_count(self) -> int:
        return len(self.outputs) if type(self.outputs) is tuple else 1

    def apply(self, grads: list[Grad], wanted: Sequence[bool], maker: Node | None = None) -> Sequence[Grad]:
        """`maker`: the node that made what the results are now, if that isn't this one."""
        if self.parameters is None:
            raise RuntimeError(FREED)
        for x, version in self.kept:
            if x.storage.version != version:
                raise modified_inplace(x, version, *self._maker_of(x))
        out = None if self.outputs is None else self._kept_outputs(maker or self)
        first = grads[0] if type(self.outputs) is not tuple else next((g for g in grads if g is not None), None)
        if first is None or (first.device is CPU and not entered.devices):
            return self._gradients(grads, out, wanted)
        with first.device:  # for the constants of the formula
            return self._gradients(grads, out, wanted)

    def _gradients(self, grads: list[Grad], out: Any, wanted: Sequence[bool]) -> Sequence[Grad]:
        """The formula's entries of the tensor parameters, one for each edge, evaluated where wanted."""
        parameters = self.parameters
        assert parameters is not None
        entries = self.derivative.formula(tuple(grads) if type(self.outputs) is tuple else grads[0], out, *parameters)
        if type(entries) is not tuple:
            entries = (entries,)
        gradients: list[Grad] = []
        for position in self.op.tensor_parameters:
            entry = entries[position] if position < len(entries) else None
            if type(parameters[position]) is tuple:
                count = len(parameters[position])
                needed = any(wanted[len(gradients) : len(gradients) + count])
                parts = (entry() if callable(entry) else entry) if needed else None
                gradients += parts if parts is not None else [None] * count
            elif entry is None or not wanted[len(gradients)]:
                gradients.append(None)
            else:
                gradients.append(entry() if callable(entry) else entry)
        return gradients

    def _kept_outputs(self, maker: Node) -> Any:
        """The kept outputs, as results of their maker if what is done with them now is to be recorded."""
        if not state.enabled or stacks.modes:
            return self.outputs
        if type(self.outputs) is tuple:
            return tuple(_as_result(o, maker, i) for i, o in enumerate(self.outputs))
        return _as_result(self.outputs, maker, 0)

    def _maker_of(self, x: Any) -> tuple[Node | None, int]:
        """The node whose result a kept tensor is, and which of its results."""
        for index, out in enumerate(self.outputs if type(self.outputs) is tuple else (self.outputs,)):
            if x is out:
                return self, index
        return x.grad_fn, x.output_index

    @property
    def keeps_values(self) -> bool:
        return bool(self.kept)

    def release(self) -> None:
        if self.kept:
            self.kept, self.parameters = [], None
            self.outputs = (None,) * len(self.outputs) if type(self.outputs) is tuple else None

    @property
    def is_freed(self) -> bool:
        return self.parameters is None


def node_class_of(derivative: Derivative) -> Callable[[Op, Derivative, Sequence[Any]], OpNode]:
    """What makes its nodes: their class, or a function that chooses it by the arguments. It has PyTorch's name, for
    programs that draw graphs: type(y.grad_fn).__name__."""
    if derivative.node_class is None:
        derivative.node_class = _chosen_class if derivative.variant is not None else _class_named(derivative.name)
    return derivative.node_class


def _chosen_class(op: Op, derivative: Derivative, bound: Sequence[Any]) -> OpNode:
    assert derivative.variant is not None
    return _class_named(derivative.variant(*bound))(op, derivative, bound)


@cache
def _class_named(name: str) -> type[OpNode]:
    return type(name, (OpNode,), {"__slots__": (), "__doc__": OpNode.__doc__})


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


def _as_result(out: Any, maker: Node, index: int) -> Any:
    if not isinstance(out, TensorBase) or out.dtype.category < FLOATING:
        return out
    result = twin(out)
    result.requires_grad, result.grad_fn, result.output_index = True, maker, index
    tangent = kept_by(out).get("_dual")
    if tangent is not None:  # of forward mode, in which the walk back happens
        kept_by(result)["_dual"] = tangent
    return result


def twin(x: Any) -> Any:
    """Another tensor over the same storage that knows nothing of the graph."""
    result = object.__new__(TensorBase.concrete)
    result.storage = x.storage
    result._array = x._array
    result.sizes = x.sizes
    result.strides = x.strides
    result.dtype = x.dtype
    if x.offset:
        result.offset = x.offset
    if x.device is not CPU:
        result.device = x.device
    return result
