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

from minitorch_compile.tensor import Tensor, ops

UpdateRule = Callable[..., tuple[list[Tensor], list[Any]]]


def for_each_parameter(one: Callable[..., tuple[Tensor, Any]]) -> UpdateRule:
    """From `rule(p, g, state, **options)` to the rule for lists, with the same options. ValueError if a list is
    shorter than the others."""

    @functools.wraps(one)
    def all_of_them(
        params: Sequence[Tensor], grads: Sequence[Tensor], states: Sequence[Any], **options: Any
    ) -> tuple[list[Tensor], list[Any]]:
        results = [
            _on_parts(one, p, g, state, options) if p.dtype.is_complex else one(p, g, state, **options)
            for p, g, state in zip(params, grads, states, strict=True)
        ]
        return [p for p, _ in results], [state for _, state in results]

    return all_of_them


def _on_parts(one: Callable[..., Any], p: Tensor, g: Tensor, state: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    """The rule for a complex parameter: its real and imaginary parts are parameters of their own."""

    def parts(x: Any) -> Any:
        return ops.view_as_real(x) if isinstance(x, Tensor) and x.dtype.is_complex else x

    def whole(x: Any) -> Any:
        return ops.view_as_complex(x) if isinstance(x, Tensor) and x.shape == new_p.shape else x

    new_p, new_state = one(parts(p), parts(g), _mapped(parts, state), **options)
    return ops.view_as_complex(new_p), _mapped(whole, new_state)


def _mapped(function: Callable[[Any], Any], state: Any) -> Any:
    """A state with the function applied to each of its fields, or to itself if it is one tensor."""
    return type(state)(*map(function, state)) if isinstance(state, tuple) else function(state)


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
