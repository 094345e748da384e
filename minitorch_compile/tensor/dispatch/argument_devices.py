"""Where the tensors of a call are: on the meta device, in a FakeTensorMode, or in memory; and who may be mixed.

>>> from minitorch_compile.tensor import ones, ops
>>> ops.exp(ones(2).to("meta")).device
device(type='meta')
>>> refuse_mixed(ops.add, [ones(2), ones(2).to("meta")])
Traceback (most recent call last):
minitorch_compile.tensor.dispatch.argument_devices.MixedDevicesError: add: Tensor on device meta ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.memory.device import META
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

MIXING = frozenset(("indexing", "convolution", "copy", "view"))


def following(op: Op, arguments: Sequence[Any], result: Any) -> Any:
    """A fake result on the meta device, or of a FakeTensorMode, if an argument is: rules make plain fakes in main
    memory."""
    on_meta, mode = _where_from(arguments)
    if on_meta or mode is not None:
        if mode is not None:
            mode.check(op, arguments)
        for x in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(x, TensorBase):
                x.device, x.fake_mode = META if on_meta else x.device, mode
    return result


class MixedDevicesError(RuntimeError):
    """Tensors on meta were given beside others."""


def refuse_mixed(op: Op, arguments: Sequence[Any]) -> None:
    """MixedDevicesError for tensors on meta beside others with data, unless these are 0-d.

    Indices and windows may be anywhere, as in PyTorch, and so may what is copied to meta.
    """
    if op.kind in MIXING:
        return
    first = None
    for x in _all_tensors(arguments):
        if x.device is not META and (not x.sizes or x.is_fake):
            continue
        if first is not None and x.device is not first.device and META in (x.device, first.device):
            raise MixedDevicesError(
                f"{op.name}: Tensor on device {x.device} is not on the expected device {first.device}! Make all"
                f" tensors on one device: x.to('meta') has the sizes of x, and no data."
            )
        first = x if first is None else first


def _all_tensors(values: Sequence[Any]) -> Iterator[TensorBase]:
    for value in values:
        if isinstance(value, TensorBase):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _all_tensors(value)


def _where_from(values: Sequence[Any]) -> tuple[bool, Any]:
    """Whether one of the tensors is on the meta device, and the first one's fake mode."""
    on_meta, mode = False, None
    for value in values:
        if isinstance(value, TensorBase):
            on_meta, mode = on_meta or value.device is META, mode or value.fake_mode
        elif isinstance(value, (list, tuple)):
            inner = _where_from(value)
            on_meta, mode = on_meta or inner[0], mode or inner[1]
    return on_meta, mode


def holds_fake(value: Any) -> bool:
    """Whether an argument is a fake tensor, or a list that has one."""
    if isinstance(value, TensorBase):
        if value._array is not None:
            return False
        storage = value.storage
        return (storage.of if storage.flips else storage).buffer is None
    return isinstance(value, (list, tuple)) and any(holds_fake(item) for item in value)
