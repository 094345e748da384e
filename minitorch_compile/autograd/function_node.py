"""The node of a `Function`, which is also the `ctx` that its forward and backward share.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> ctx = FunctionNode("Double", lambda ctx, grad: 2 * grad, (x, 3))
>>> ctx.save_for_backward(x)
>>> ctx, ctx.needs_input_grad, ctx.saved_tensors
(<minitorch_compile.autograd.function_node.FunctionNode object at 0x...>, (False, False), (tensor([1., 1.]),))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from minitorch_compile.autograd.derivative_table import sum_to
from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.inplace import become_result, refuse_leaf
from minitorch_compile.autograd.node import FREED, NO_EDGE, Grad, Layout, Node, modified_inplace
from minitorch_compile.autograd.op_node import twin
from minitorch_compile.autograd.saved_tensors_hooks import Pack, Packed, Unpack
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase


class FunctionNode(Node):
    """One `Function.apply`. Any attribute may be set on it.

    `needs_input_grad` says, for each argument of forward, whether its gradient may be asked for.
    """

    def __init__(self, name: str, backward: Callable[..., Any], args: Sequence[Any]) -> None:
        tensors = [x if isinstance(x, TensorBase) else None for x in args]
        super().__init__(tuple(NO_EDGE if x is None else gradient_edge(x) for x in tensors))
        self.needs_input_grad = tuple(node is not None for node, _ in self.next_functions)
        self.new_gradients = False
        self._name = f"{name}Backward"
        self._backward = backward
        self._arguments = tuple(None if x is None else Layout(x) for x in tensors)
        self._outputs: tuple[Layout | None, ...] = ()
        self._saved: tuple[Any, ...] | None = ()
        self._versions: tuple[int, ...] = ()
        self._saved_outputs: dict[int, int] = {}  # which of the saved tensors is which output
        self._non_differentiable: set[int] = set()
        self._dirty: set[int] = set()
        self._materialize = True
        self._for_forward: tuple[Any, ...] = ()
        self._is_moving = False
        self._maker: Node | None = None  # during backward: who made what the result is now, if that isn't this node

    # ------------------------------------------------------------------------------------ what forward may ask for

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (or Nones) for backward; they are checked there for in-place changes."""
        for x in tensors:
            if x is not None and not isinstance(x, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but got {type(x).__name__}; set it as an"
                    " attribute of ctx"
                )
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keeps tensors (or Nones) for jvp, which finds them under `saved_tensors`."""
        self._for_forward = tensors

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """These outputs will not require grad."""
        self._non_differentiable = {id(x) for x in outputs}

    def mark_dirty(self, *inputs: Any) -> None:
        """These inputs were modified in place, and are outputs."""
        for x in inputs:
            if x.storage.version >= 0:  # what was written by NumPy was noted by nobody
                x.storage.version += 1
        self._dirty = {id(x) for x in inputs}

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros instead of None for an output that no gradient came from (the default)."""
        self._materialize = value

    # ------------------------------------------------------------------------------------ after forward

    def attach(self, results: Sequence[Any], args: Sequence[Any]) -> tuple[Any, ...]:
        """What forward returned, as results of this node."""
        inputs = {id(x): i for i, x in enumerate(args)}
        self._check_dirty([x for x in results if isinstance(x, TensorBase)])
        outputs = tuple(self._as_output(x, i, inputs.get(id(x))) for i, x in enumerate(results))
        self._outputs = tuple(Layout(x) if isinstance(x, TensorBase) else None for x in outputs)
        self._keep_saved(outputs)
        return outputs

    def _check_dirty(self, results: Sequence[Any]) -> None:
        """RuntimeError where what was modified in place can't be recorded as a result."""
        dirty = [x for x in results if id(x) in self._dirty]
        if len({id(x) for x in dirty}) < len(self._dirty):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that"
                f" are modified inplace must all be outputs of the Function {self._name}."
            )
        if len(results) > 1 and any(x.base is not None for x in dirty):
            raise RuntimeError(
                "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot"
                f" return more than one Tensor, but {self._name} returned {len(results)}; write into a clone() of it"
            )
        for x in dirty:
            refuse_leaf(self._name, x)

    def _as_output(self, x: Any, index: int, position: int | None) -> Any:
        """`position`: which argument it is, if it is one."""
        if not self._differentiates(x):
            return x
        if position is not None and id(x) in self._dirty:
            become_result(x, self, index, position)
            return x
        if position is not None:
            x = ops.detach(x)  # an argument that is returned stays what it was; the result is another tensor
        x.requires_grad, x.grad_fn, x.output_index = True, self, index
        return x

    def _differentiates(self, x: Any) -> bool:
        """Whether a result gets this node's history."""
        is_real = isinstance(x, TensorBase) and x.dtype.category >= FLOATING
        return is_real and id(x) not in self._non_differentiable

    def _keep_saved(self, outputs: Sequence[Any]) -> None:
        """Notes the versions; a saved output is kept as a twin, which doesn't own this node in turn."""
        assert self._saved is not None
        position = {id(x): i for i, x in enumerate(outputs) if self._differentiates(x)}
        self._saved_outputs = {i: position[id(x)] for i, x in enumerate(self._saved) if id(x) in position}
        self._versions = tuple(0 if x is None else x.storage.version for x in self._saved)
        self._saved = tuple(_twin(x) if i in self._saved_outputs else x for i, x in enumerate(self._saved))

    @property
    def kept_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` was given, without its hooks; nothing once freed."""
        return self._saved or ()

    @property
    def kept_results(self) -> tuple[int, ...]:
        """Which of the results are among the saved tensors."""
        return tuple(self._saved_outputs.values())

    def pack_saved(self, pack: Pack, unpack: Unpack) -> None:
        """Leaves what is kept of the saved tensors to a pair of hooks."""
        assert self._saved is not None
        if any(x is not None and x.is_fake for x in self._saved):  # a tracer's tensors have nothing to pack
            return
        results = {i: (self, index) for i, index in self._saved_outputs.items()}
        self._saved = tuple(
            None if x is None else Packed(x, pack, unpack, results.get(i, NO_EDGE)) for i, x in enumerate(self._saved)
        )

    # ------------------------------------------------------------------------------------ forward mode

    @contextmanager
    def moving_forward(self) -> Iterator[None]:
        """While jvp runs."""
        self._is_moving = True
        try:
            yield
        finally:
            self._is_moving = False

    def as_tangent(self, tangent: Any, x: Any) -> Any:
        """What jvp gets for an argument: zeros for a tensor that doesn't move, unless it asked for None."""
        still = tangent is None and isinstance(x, TensorBase) and x.dtype.category >= FLOATING
        return ops.zeros_like(x) if still and self._materialize else tangent

    # ------------------------------------------------------------------------------------ backward

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved. RuntimeError once freed, or if one was modified in place since."""
        if self._is_moving:
            return self._for_forward
        if self._saved is None:
            raise RuntimeError(FREED)
        if any(isinstance(x, Packed) for x in self._saved):
            return self._results([None if x is None else x.tensor() for x in self._saved])
        for index, (x, version) in enumerate(zip(self._saved, self._versions, strict=False)):
            if x is not None and x.storage.version != version:
                output = self._saved_outputs.get(index)
                raise modified_inplace(x, version, *((x.grad_fn, x.output_index) if output is None else (self, output)))
        return self._results(self._saved)

    def _results(self, saved: Sequence[Any]) -> tuple[Any, ...]:
        """The saved tensors, the outputs among them as results of this node if that matters now."""
        if not state.enabled:
            return tuple(saved)
        return tuple(self._result(x, i) if i in self._saved_outputs else x for i, x in enumerate(saved))

    def _result(self, x: Any, index: int) -> Any:
        result = _twin(x)
        result.requires_grad, result.grad_fn = True, self._maker or self
        result.output_index = self._saved_outputs[index]
        return result

    @property
    def output_count(self) -> int:
        return len(self._outputs)

    __repr__ = object.__repr__  # its class has a module, that of Function

    def name(self) -> str:
        return self._name

    def apply(self, grads: list[Grad], wanted: Sequence[bool], maker: Node | None = None) -> Sequence[Grad]:
        """`maker`: the node that made what the result is now, if that isn't this one."""
        if self._materialize:
            grads = [
                ops.full(tuple(layout.sizes), 0, layout.dtype) if g is None and layout is not None else g
                for g, layout in zip(grads, self._outputs, strict=True)
            ]
        self._maker = maker
        try:
            result = self._backward(self, *grads)
        finally:
            self._maker = None
        return self._checked(list(result) if isinstance(result, (tuple, list)) else [result])

    def _checked(self, gradients: list[Any]) -> list[Grad]:
        count = len(self._arguments)
        if len(gradients) > count and all(g is None for g in gradients[count:]):
            gradients = gradients[:count]
        if len(gradients) != count:
            raise RuntimeError(
                f"function {self._name} returned an incorrect number of gradients (expected {count}, got"
                f" {len(gradients)})"
            )
        for i, (g, layout) in enumerate(zip(gradients, self._arguments, strict=True)):
            if g is None or layout is None or not self.needs_input_grad[i]:
                continue
            if not isinstance(g, TensorBase):
                raise TypeError(
                    f"function {self._name}: expected Tensor or None for gradient {i}, got {type(g).__name__}"
                )
            if g.sizes != layout.sizes or g.dtype is not layout.dtype:
                gradients[i] = self._fitted(g, layout, i)
        return gradients

    def _fitted(self, g: Any, layout: Layout, i: int) -> Any:
        """A gradient of another dtype converted, one of a broadcast argument summed. RuntimeError if it can't fit."""
        lead = len(g.sizes) - len(layout.sizes)
        pairs = zip(g.sizes[max(lead, 0) :], layout.sizes, strict=False)
        if lead < 0 or any(n != wanted and wanted != 1 for n, wanted in pairs):
            raise RuntimeError(
                f"Function {self._name} returned an invalid gradient at index {i} - got {list(g.sizes)} but expected"
                f" shape compatible with {list(layout.sizes)}"
            )
        return sum_to(g, layout)

    def release(self) -> None:
        if self._saved:
            self._saved = None


def _twin(x: Any) -> Any:
    """The same values as another tensor; a tracer is told, since it knows tensors by their identity."""
    return ops.detach(x) if x.is_fake else twin(x)
