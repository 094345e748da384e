"""torch._check and its kin: what must hold, with a message that is made only if it doesn't.

>>> n = 3
>>> _check(n > 2, lambda: f"n must be above 2, got {n}")
>>> _check_index(n < 2, lambda: f"n must be below 2, got {n}")
Traceback (most recent call last):
IndexError: n must be below 2, got 3
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.tensor.numerics.dtype import bool_
from minitorch_compile.tensor.tensor_base import TensorBase

Message = Callable[[], object] | None


def _assert(condition: Any, message: str) -> None:
    """AssertionError with the message unless the condition, a truth value or a tensor of one, holds."""
    assert condition, message


def _assert_async(input: Any, assert_msg: str = "Expected Tensor with single nonzero value, but got zero") -> None:
    """RuntimeError with the message unless the single element is not zero."""
    if not input:
        raise RuntimeError(assert_msg)


def _check_with(error_type: type[Exception], cond: Any, message: Message) -> None:
    """Raises `error_type` with what `message()` returns, unless `cond` is True. TypeError if it is neither True nor
    False."""
    if isinstance(cond, TensorBase):
        raise TypeError(
            "cond must be a bool, but got a Tensor. For tensor conditions, use torch._check_tensor_all() to assert that"
            " all elements are true."
        )
    if not isinstance(cond, bool):
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is not None and not callable(message):
        raise TypeError(f"message must be a callable, which returns the text, but got {type(message)}")
    raise error_type("Expected cond to be True, but got False." if message is None else str(message()))


def _check(cond: Any, message: Message = None) -> None:
    """RuntimeError unless the condition holds."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond: Any, message: Message = None) -> None:
    """IndexError unless the condition holds."""
    _check_with(IndexError, cond, message)


def _check_value(cond: Any, message: Message = None) -> None:
    """ValueError unless the condition holds."""
    _check_with(ValueError, cond, message)


def _check_type(cond: Any, message: Message = None) -> None:
    """TypeError unless the condition holds."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond: Any, message: Message = None) -> None:
    """NotImplementedError unless the condition holds."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i: Any, message: Message = None, *, max: Any = None) -> None:
    """RuntimeError unless `i` can be a size: not below 0, and at most `max`."""
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all_with(error_type: type[Exception], cond: Any, message: Message = None) -> None:
    """Raises `error_type` unless all elements of a bool tensor are True."""
    if not isinstance(cond, TensorBase):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype is not bool_:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check_with(error_type, bool(cond.all()), message)  # type: ignore[attr-defined]


def _check_tensor_all(cond: Any, message: Message = None) -> None:
    """RuntimeError unless all elements of a bool tensor are True."""
    _check_tensor_all_with(RuntimeError, cond, message)
