"""custom_fwd and custom_bwd: what an autograd.Function of a program's own does about autocast.

>>> from minitorch_compile import autograd, ones
>>> from minitorch_compile.amp import autocast
>>> class Product(autograd.Function):
...     @staticmethod
...     @custom_fwd(device_type="cpu")
...     def forward(ctx, x, y):
...         ctx.save_for_backward(x, y)
...         return x @ y
...     @staticmethod
...     @custom_bwd(device_type="cpu")
...     def backward(ctx, grad):
...         x, y = ctx.saved_tensors
...         return (grad @ y.t()).to(x.dtype), (x.t() @ grad.to(x.dtype)).to(y.dtype)
>>> x = ones(2, 2, requires_grad=True)
>>> with autocast("cpu"):
...     y = Product.apply(x, x)
>>> y.dtype
torch.bfloat16
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from minitorch_compile.amp.autocast_mode import autocast, get_autocast_dtype, is_autocast_enabled
from minitorch_compile.amp.autocast_state import is_eligible
from minitorch_compile.tensor.numerics.dtype import dtype


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def _cast(value: Any, element: dtype, device_type: str) -> Any:
    if is_eligible(value, device_type):
        return value.to(element)
    if isinstance(value, Mapping):
        return {_cast(k, element, device_type): _cast(v, element, device_type) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, element, device_type) for item in value)
    return value


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: dtype | None = None) -> Any:
    """Decorator of `forward`: notes for the backward whether autocast is on. With `cast_inputs`, tensors of floats
    come in that dtype, and autocast is off inside."""
    _check(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        if cast_inputs is None or not enabled:
            args[0]._fwd_used_autocast = enabled
            return fwd(*args, **kwargs)
        args[0]._fwd_used_autocast = False
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs, device_type), **_cast(kwargs, cast_inputs, device_type))

    return decorated


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorator of `backward`: it runs with autocast as its forward did."""
    _check(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated
