"""`out=`: every op of the torch namespace can store its result in a tensor that is there already.

>>> from minitorch_compile.tensor import ops, tensor, zeros
>>> total = zeros(2)
>>> ops.add(tensor([1.0, 2.0]), 1, out=total) is total, total
(True, tensor([2., 3.]))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.dispatch.accelerators import grow
from minitorch_compile.tensor.dispatch.captured_memory import captured_may_change
from minitorch_compile.tensor.dispatch.dispatch import any_requires_grad
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.user_warnings import warn_user

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op


def call_with_out(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Runs the op and stores what it returns in `out`, a tensor, or a tuple of them for several results.

    A tensor of other sizes is resized. RuntimeError if an argument requires grad, since the result has no history, or
    if the dtype of `out` can't hold the result; TypeError unless `out` is made of tensors.
    """
    if out is None:
        return op(*args, **kwargs)
    if grad_state.enabled and (any_requires_grad(args, kwargs) or any_requires_grad((out,), {})):
        raise RuntimeError(
            f"{op.name}(): functions with out=... arguments don't support automatic differentiation, but one of the"
            " arguments requires grad."
        )
    with no_grad():
        result = op(*args, **kwargs)
    if isinstance(result, TensorBase):
        return _store(op.name, result, out)
    if not isinstance(out, (tuple, list)) or len(out) != len(result):
        raise TypeError(f"{op.name}(): argument 'out' must be a tuple of {len(result)} Tensors, got {out!r}")
    stored = [_store(op.name, part, target) for part, target in zip(result, out, strict=True)]
    return getattr(type(result), "of_out", type(result))(*stored) if hasattr(result, "_fields") else tuple(stored)


def _store(name: str, result: TensorBase, out: Any) -> Any:
    if not isinstance(out, TensorBase):
        raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if result.dtype.category > out.dtype.category:
        raise RuntimeError(f"{name}: result type {result.dtype} can't be cast to the desired output type {out.dtype}")
    if out.sizes != result.sizes:
        _resize(name, out, result)
    with captured_may_change():
        return out.copy_(result)  # type: ignore[attr-defined]


def _resize(name: str, out: TensorBase, result: TensorBase) -> None:
    if numel(out.sizes):
        warn_user(
            f"{name}: An output with one or more elements was resized since it had shape {list(out.sizes)}, which does"
            f" not match the required output shape {list(result.sizes)}. Pass a tensor of the right shape, or an empty"
            " one.",
            UserWarning,
        )
    count = numel(result.sizes)
    buffer = out.storage.buffer
    if buffer is not None and count > len(out.storage):
        version = out.storage.version
        out.storage = Storage(type(buffer)(count, buffer.dtype))
        out.storage.version = version
    elif out.storage.block is not None:
        grow(out.storage, count * out.dtype.itemsize)
    out.offset, out.sizes, out.strides, out._array = 0, result.sizes, contiguous_strides(tuple(result.sizes)), None
