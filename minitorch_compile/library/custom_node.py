"""The gradient of a custom op: a row of the table of derivatives, and the node it leaves behind, which is its `ctx`.

>>> from minitorch_compile.library import custom_op
>>> from minitorch_compile.tensor import Tensor, ones
>>> @custom_op("docs::square", mutates_args=())
... def square(x: Tensor) -> Tensor:
...     return x * x
>>> square.register_autograd(
...     lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad,
...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(inputs[0]),
... )
>>> x = ones(2, requires_grad=True)
>>> square(x).sum().backward()
>>> x.grad
tensor([2., 2.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.autograd.derivative_table import VALUE, Derivative
from minitorch_compile.autograd.function_node import FunctionNode
from minitorch_compile.autograd.node import Grad, Layout
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.library.custom_op import CustomOpDef


class CustomDerivative(Derivative):
    """What `register_autograd` was given; without it, nodes whose gradients raise."""

    __slots__ = ("backward", "setup_context")

    def __init__(
        self, op: CustomOpDef, backward: Callable[..., Any] | None, setup_context: Callable[..., Any] | None
    ) -> None:
        self.name = f"GeneratedBackwardFor_{op.name.replace('.', '_')}_default"
        self.backward = backward
        self.setup_context = setup_context
        self.formula = backward or _unregistered(op)
        self.keeps_out = VALUE
        self.keeps = (VALUE,) * len(op.parameters)
        self.keeps_for_others = ()
        self.node_class = type(f"{self.name}Backward", (CustomNode,), {"__doc__": CustomNode.__doc__})


def _unregistered(op: CustomOpDef) -> Callable[..., Any]:
    def backward(ctx: Any, *grads: Any) -> Any:
        raise RuntimeError(
            f"Trying to backward through {op.name}.default but no autograd formula was registered. Please use"
            " register_autograd to add one."
        )

    return backward


class CustomNode(FunctionNode):
    """One call. A list of tensors has an edge for each, and `backward` gives a list for it."""

    def __init__(self, op: CustomOpDef, derivative: CustomDerivative, bound: Sequence[Any]) -> None:
        self._groups = [isinstance(value, (list, tuple)) and any(map(_is_tensor, value)) for value in bound]
        leaves = [
            x for value, several in zip(bound, self._groups, strict=True) for x in (value if several else (value,))
        ]
        super().__init__(
            derivative.name, _in_tuple(derivative.formula) if any(self._groups) else derivative.formula, leaves
        )
        self._counts = [len(value) if several else 1 for value, several in zip(bound, self._groups, strict=True)]
        self._needed = self.needs_input_grad
        self._inputs, self._keywords = op._as_called(bound)
        self._setup_context = derivative.setup_context
        names = [argument for argument in op.schema.arguments if not argument.kwarg_only]
        self.needs_input_grad = tuple(self._nested(self._needed))[: len(names)]

    def _nested(self, flat: Sequence[Any]) -> list[Any]:
        found, start = [], 0
        for count, several in zip(self._counts, self._groups, strict=True):
            found.append(list(flat[start : start + count]) if several else flat[start])
            start += count
        return found

    def keep_output(self, out: Any) -> None:
        """The call has its result: `setup_context` keeps what backward will need."""
        outputs = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if self._setup_context is not None:
            with no_grad():
                keywords = {"keyword_only_inputs": self._keywords} if self._keywords else {}
                self._setup_context(ctx=self, inputs=tuple(self._inputs), output=out, **keywords)
        self._inputs, self._keywords = [], {}
        for x in outputs:
            if id(x) in self._non_differentiable:
                x._requires_grad, x.grad_fn = False, None
        self._outputs = tuple(Layout(x) if _is_tensor(x) else None for x in outputs)
        self._keep_saved(outputs)

    def _checked(self, gradients: list[Any]) -> list[Grad]:
        nested, self.needs_input_grad = self.needs_input_grad, self._needed
        try:
            return super()._checked(self._flat(gradients))
        finally:
            self.needs_input_grad = nested

    def _flat(self, gradients: list[Any]) -> list[Any]:
        """One gradient for each tensor, None for what is given by keyword."""
        gradients = gradients + [None] * (len(self._counts) - len(gradients))
        flat: list[Any] = []
        for given, count, several in zip(gradients, self._counts, self._groups, strict=False):
            flat += ([None] * count if given is None else list(given)) if several else [given]
        return flat + gradients[len(self._counts) :]


def _in_tuple(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Where lists are gradients, one by itself is that of the first argument."""

    def gradients(ctx: Any, *grads: Any) -> Any:
        result = backward(ctx, *grads)
        return result if isinstance(result, tuple) else (result,)

    return gradients


def _is_tensor(x: Any) -> bool:
    return isinstance(x, TensorBase)
