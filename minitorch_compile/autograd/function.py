"""Function: an operation with a backward pass of your own.

>>> from minitorch_compile.tensor import tensor
>>> class Cube(Function):
...     @staticmethod
...     def forward(ctx, x):
...         ctx.save_for_backward(x)
...         return x * x * x
...     @staticmethod
...     def backward(ctx, grad):
...         (x,) = ctx.saved_tensors
...         return 3 * x * x * grad
>>> x = tensor(2.0, requires_grad=True)
>>> Cube.apply(x).backward()
>>> x.grad
tensor(12.)

Ahead-of-time compiled graphs are Functions as well: forward and backward are two compiled programs behind one node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.autograd.edges import gradient_edge
from minitorch_compile.autograd.node import FREED, NO_EDGE, Grad, Layout, Node, modified_inplace
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dtype import FLOATING
from minitorch_compile.tensor.grad_mode import no_grad, state
from minitorch_compile.tensor.tensor_base import TensorBase


class FunctionContext:
    """The `ctx` that forward and backward share: any attribute may be set on it.

    `needs_input_grad` says, for each argument of forward, whether its gradient will be asked for.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self._saved: tuple[Any, ...] | None = ()
        self._versions: tuple[int, ...] = ()
        self._name = "Function"
        self._non_differentiable: set[int] = set()
        self._dirty: set[int] = set()
        self._materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors (or Nones) for backward; they are checked there for in-place changes."""
        for x in tensors:
            if x is not None and not isinstance(x, TensorBase):
                raise TypeError(
                    f"save_for_backward can only save variables, but got {type(x).__name__}; set it as an attribute of ctx"
                )
        self._saved = tensors
        self._versions = tuple(0 if x is None else x.storage.version for x in tensors)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved. RuntimeError once freed, or if one was modified in place since."""
        if self._saved is None:
            raise RuntimeError(FREED)
        for index, (x, version) in enumerate(zip(self._saved, self._versions, strict=True)):
            if x is not None and x.storage.version != version:
                raise modified_inplace(x, f"saved tensor {index} of {self._name}", version)
        return self._saved

    def mark_non_differentiable(self, *outputs: Any) -> None:
        """These outputs will not require grad."""
        self._non_differentiable = {id(x) for x in outputs}

    def mark_dirty(self, *inputs: Any) -> None:
        """These inputs were modified in place, and are outputs."""
        self._dirty = {id(x) for x in inputs}

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros instead of None for an output that no gradient came from (the default)."""
        self._materialize = value


class FunctionNode(Node):
    """The node of one `Function.apply`."""

    __slots__ = ("arguments", "ctx", "function", "outputs")

    def __init__(self, function: type[Function], ctx: FunctionContext, arguments: Sequence[Any]) -> None:
        tensors = [x if isinstance(x, TensorBase) else None for x in arguments]
        super().__init__(tuple(NO_EDGE if x is None else gradient_edge(x) for x in tensors))
        self.function = function
        self.ctx = ctx
        self.arguments = tuple(None if x is None else Layout(x) for x in tensors)
        self.outputs: tuple[Layout | None, ...] = ()

    @property
    def output_count(self) -> int:
        return len(self.outputs)

    def name(self) -> str:
        return f"{self.function.__name__}Backward"

    def apply(self, grads: list[Grad], wanted: Sequence[bool]) -> Sequence[Grad]:
        if self.ctx._materialize:
            grads = [
                _zeros(layout) if g is None and layout is not None else g
                for g, layout in zip(grads, self.outputs, strict=True)
            ]
        result = self.function.backward(self.ctx, *grads)
        gradients = result if isinstance(result, (tuple, list)) else (result,)
        return self._checked(list(gradients))

    def _checked(self, gradients: list[Any]) -> list[Grad]:
        count = len(self.arguments)
        if len(gradients) > count and all(g is None for g in gradients[count:]):
            gradients = gradients[:count]
        if len(gradients) != count:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {count}, got {len(gradients)})"
            )
        for i, (g, layout) in enumerate(zip(gradients, self.arguments, strict=True)):
            if g is None or layout is None or self.next_functions[i] is NO_EDGE:
                continue
            if not isinstance(g, TensorBase):
                raise TypeError(
                    f"function {self.name()}: expected Variable or None for gradient {i}, got {type(g).__name__}"
                )
            if g.sizes != layout.sizes:
                raise RuntimeError(
                    f"Function {self.name()} returned an invalid gradient at index {i} - got {list(g.sizes)} but expected shape compatible with {list(layout.sizes)}"
                )
        return gradients

    def release(self) -> None:
        self.ctx._saved = None


def _zeros(layout: Layout) -> Any:
    return ops.full(tuple(layout.sizes), 0, layout.dtype)


class Function:
    """Subclass it with static methods `forward(ctx, *args)` and `backward(ctx, *grads)`, and call `apply(*args)`.

    `backward` returns a gradient or None for each argument. Its operations are recorded if the gradients are to be
    differentiated in turn. A class that defines `setup_context(ctx, inputs, output)` has a forward without ctx.
    """

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The operation. Nothing in it is recorded."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """The gradients of the arguments, given those of the outputs."""
        raise NotImplementedError(
            "You must implement the backward function for your custom autograd.Function to use it with backward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any) -> Any:
        """Runs forward, and leaves a node behind if a tensor among the arguments requires grad."""
        needs = tuple(isinstance(x, TensorBase) and x.requires_grad for x in args)
        ctx = FunctionContext(needs)
        ctx._name = cls.__name__
        node = FunctionNode(cls, ctx, args) if state.enabled and any(needs) else None
        with no_grad():
            setup = getattr(cls, "setup_context", None)
            result = cls.forward(*args) if setup else cls.forward(ctx, *args)
            if setup:
                setup(ctx, args, result)
        if node is None:
            return result
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        inputs = {id(x) for x in args}
        outputs = [_as_output(x, i, node, inputs) for i, x in enumerate(outputs)]
        node.outputs = tuple(Layout(x) if isinstance(x, TensorBase) else None for x in outputs)
        return tuple(outputs) if isinstance(result, (tuple, list)) else outputs[0]


def _as_output(x: Any, index: int, node: FunctionNode, inputs: set[int]) -> Any:
    """What forward returned, as a result of the node."""
    ctx = node.ctx
    if not isinstance(x, TensorBase) or x.dtype.category < FLOATING or id(x) in ctx._non_differentiable:
        return x
    if id(x) in inputs and id(x) not in ctx._dirty:
        x = ops.detach(x)  # an argument that is returned stays what it was; the result is another tensor
    x.requires_grad, x.grad_fn, x.output_index = True, node, index
    return x
