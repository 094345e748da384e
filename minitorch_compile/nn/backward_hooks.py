"""Watching the gradients at a module's border: those that arrive at its outputs and those that leave at its inputs.

Inputs and outputs pass through an identity whose backward calls the hooks.

>>> from minitorch_compile import nn, ones
>>> layer = nn.Identity()
>>> handle = layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 10,))
>>> x = ones(2, requires_grad=True)
>>> layer(x).sum().backward()
>>> x.grad
tensor([10., 10.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd.function import Function
from minitorch_compile.tensor import Tensor, is_grad_enabled
from minitorch_compile.user_warnings import warn_user

Gradients = tuple[Any, ...]


class Border(Function):
    """The identity, forwards; backwards `meet(gradients)` may look at the gradients and change them."""

    @staticmethod
    def forward(ctx: Any, meet: Callable[[Gradients], Gradients], *tensors: Any) -> Gradients:
        ctx.meet = meet
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Gradients:
        return None, *ctx.meet(grads)


class GradientWatch:
    """One call of a module that has backward hooks."""

    def __init__(
        self, module: Any, hooks: Sequence[Callable[..., Any]], pre_hooks: Sequence[Callable[..., Any]]
    ) -> None:
        self.module = module
        self.hooks = hooks
        self.pre_hooks = pre_hooks
        self.input_places: list[int] | None = None
        self.input_count = 0
        self.output_places: list[int] = []
        self.output_count = 0
        self.grad_output: Gradients | None = None

    def inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, so that the gradients of those that require grad pass by here."""
        self.input_count = len(args)
        places = _watched(args)
        self.input_places = places or None
        return _through_border(args, places, self._at_inputs)

    def outputs(self, result: Any) -> Any:
        """The same for a tensor, or a tuple with tensors, that forward returned."""
        items = result if isinstance(result, tuple) else (result,)
        self.output_count = len(items)
        self.output_places = _watched(items)
        if not self.output_places:
            return result
        passed = _through_border(items, self.output_places, self._at_outputs)
        if not isinstance(result, tuple):
            return passed[0]
        return type(result)(*passed) if hasattr(result, "_fields") else passed

    def _at_outputs(self, grads: Gradients) -> Gradients:
        everywhere = _spread(grads, self.output_places, self.output_count)
        for hook in self.pre_hooks:
            everywhere = _replaced(everywhere, hook(self.module, everywhere), "grad_output")
        self.grad_output = everywhere
        if self.input_places is None:
            self._without_inputs()
        return tuple(everywhere[place] for place in self.output_places)

    def _at_inputs(self, grads: Gradients) -> Gradients:
        assert self.input_places is not None
        if self.grad_output is None:
            return grads
        everywhere = _spread(grads, self.input_places, self.input_count)
        for hook in self.hooks:
            everywhere = _replaced(everywhere, hook(self.module, everywhere, self.grad_output), "grad_input")
        self.grad_output = None
        return tuple(everywhere[place] for place in self.input_places)

    def _without_inputs(self) -> None:
        """No input requires grad, so nothing arrives there: the hooks are called now, and can't change anything."""
        if self.hooks:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no"
                " inputs require gradients."
            )
        for hook in self.hooks:
            result = hook(self.module, (None,) * self.input_count, self.grad_output)
            if result is not None and not (isinstance(result, tuple) and all(x is None for x in result)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for"
                    " all gradients."
                )


def _watched(items: Sequence[Any]) -> list[int]:
    """Where the tensors are whose gradients will be computed."""
    if not is_grad_enabled():
        return []
    return [place for place, x in enumerate(items) if isinstance(x, Tensor) and x.requires_grad]


def _through_border(items: Sequence[Any], places: list[int], meet: Callable[[Gradients], Gradients]) -> tuple[Any, ...]:
    passed = list(items)
    if places:
        for place, x in zip(places, Border.apply(meet, *(items[place] for place in places)), strict=True):
            passed[place] = x
    return tuple(passed)


def _spread(grads: Gradients, places: list[int], count: int) -> Gradients:
    """The gradients in a tuple with an entry for each argument: None for those that have none."""
    everywhere: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        everywhere[place] = grad
    return tuple(everywhere)


def _replaced(before: Gradients, result: Any, what: str) -> Gradients:
    if result is None:
        return before
    after = result if isinstance(result, tuple) else (result,)
    if len(after) != len(before):
        raise RuntimeError(
            f"Backward hook returned an invalid number of {what}, got {len(after)}, but expected {len(before)}"
        )
    return after
