"""How an update rule is written: for one parameter, and then used for a list of them.

>>> from minitorch_compile import tensor
>>> @for_each_parameter
... def plain(p, g, state, *, lr):
...     return p - g * lr, state
>>> plain([tensor([1.0]), tensor([2.0])], [tensor([1.0]), tensor([1.0])], [None, None], lr=0.5)
([tensor([0.5000]), tensor([1.5000])], [None, None])
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.tensor import Tensor

Rule = Callable[..., tuple[list[Tensor], list[Any]]]


def for_each_parameter(one: Callable[..., tuple[Tensor, Any]]) -> Rule:
    """From `rule(p, g, state, **options)` to the rule for lists, with the same options. ValueError if a list is
    shorter than the others."""

    @functools.wraps(one)
    def all_of_them(
        params: Sequence[Tensor], grads: Sequence[Tensor], states: Sequence[Any], **options: Any
    ) -> tuple[list[Tensor], list[Any]]:
        results = [one(p, g, state, **options) for p, g, state in zip(params, grads, states, strict=True)]
        return [p for p, _ in results], [state for _, state in results]

    return all_of_them


def objective(p: Tensor, g: Tensor, weight_decay: Any, maximize: bool) -> Tensor:
    """The gradient of what is minimised: turned around to maximise, and with the weight penalty's part."""
    g = -g if maximize else g
    return g + p * weight_decay if is_used(weight_decay) else g


def is_used(weight_decay: Any) -> bool:
    """Whether there is a penalty; one that is a tensor is not looked at."""
    return isinstance(weight_decay, Tensor) or weight_decay != 0


def mean_towards(mean: Tensor, value: Tensor, weight: float) -> Tensor:
    """A running mean after a new value."""
    return mean + (value - mean) * weight
