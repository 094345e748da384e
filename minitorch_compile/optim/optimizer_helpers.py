"""Helpers of PyTorch's optimizers, which optimizers of other libraries call.

>>> from minitorch_compile.tensor import ones
>>> _default_to_fused_or_foreach([ones(2)], differentiable=False)
(False, True)
>>> _get_value(ones(()))
1.0
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.control import is_compiling
from minitorch_compile.tensor import Tensor, dtype, float32, float64, get_default_dtype, ops, set_grad_enabled
from minitorch_compile.tensor.memory.device import device

Indexed = tuple[list[list[Any]], list[int]]


def _use_grad_for_differentiable(func: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` that is recorded only by an optimizer with `differentiable=True`."""

    @functools.wraps(func)
    def step(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return func(self, *args, **kwargs)

    return step


def _get_value(x: Any) -> Any:
    """A number, of what may be a tensor; while a program is compiled, the tensor."""
    return x.item() if isinstance(x, Tensor) and not is_compiling() else x


def _stack_if_compiling(x: Any) -> Any:
    """The tensors in one, while a program is compiled; else the list."""
    return ops.stack(x) if is_compiling() else x


def _default_to_fused_or_foreach(
    params: Sequence[Any], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether to step all in one kernel, or by `_foreach_` operations; the latter here, unless it is to be recorded."""
    fused = use_fused and all(p is None or p.is_floating_point() for p in params)
    return (False, False) if differentiable else (fused, not fused)


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Puts a real view in the place of each complex tensor, and in those of what belongs to it."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = ops.view_as_real(p)
            for tensors in state_and_grads:
                tensors[i] = ops.view_as_real(tensors[i])


def _get_scalar_dtype(is_fused: bool | None = None) -> dtype:
    """The dtype of a count of steps."""
    return float64 if not is_fused and get_default_dtype() is float64 else float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices whose steps CUDA graphs and their like can hold; none of them is here."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Any]], with_indices: bool = False
) -> dict[tuple[device | None, dtype | None], Indexed]:
    """Lists of equal length, of which the first has tensors, apart by its dtypes; with the places that they had."""
    places: dict[Any, list[int]] = defaultdict(list)
    for place, tensor in enumerate(tensorlistlist[0]):
        places[tensor.device, tensor.dtype].append(place)
    return {key: ([[items[n] for n in at] for items in tensorlistlist], at) for key, at in places.items()}
