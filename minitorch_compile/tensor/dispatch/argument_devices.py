"""Where the tensors of a call are: on a device, in a FakeTensorMode, or in main memory; and who may be mixed.

>>> from minitorch_compile.tensor import ones, ops
>>> ops.exp(ones(2).to("meta")).device
device(type='meta')
>>> refuse_mixed(ops.add, [ones(2), ones(2).to("meta")])
Traceback (most recent call last):
minitorch_compile.tensor.dispatch.argument_devices.MixedDevicesError: add: Tensor on device meta ...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.memory.device import CPU, META, device
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

MIXING = frozenset(("indexing", "convolution", "copy", "view"))
LIKE_THE_FIRST = frozenset(("indexing", "copy", "view"))  # the other tensors may be anywhere, but for these ops
ON_ONE_DEVICE = frozenset(("gather", "scatter_add", "scatter_src", "scatter_combine", "embedding"))
INDICES_FROM_MAIN_MEMORY = frozenset(("index", "index_put"))  # x[i], of what lies on a device


def following(op: Op, arguments: Sequence[Any], result: Any) -> Any:
    """A fake result on the device of the arguments, or of their FakeTensorMode: rules make plain fakes in main
    memory."""
    where, mode = _where_from(arguments)
    if where is not CPU or mode is not None:
        if mode is not None:
            mode.check(op, arguments)
        for x in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(x, TensorBase):
                x.device, x.fake_mode = x.device if where is CPU else where, mode
    return result


class MixedDevicesError(RuntimeError):
    """Tensors were given that lie on different devices."""


def place_of(op: Op, tensors: Sequence[TensorBase]) -> device | None:
    """Where the results of a call on these tensors go that has data in the memory of a device: there, unless they are
    like the first argument. None if there are no such data, or if a tensor has none at all.

    MixedDevicesError for tensors on two devices; one of no dimensions in main memory may join, as in PyTorch.
    """
    found, beside = None, None
    for x in tensors:
        if x.storage.block is not None:
            beside = beside if found is None or x.device == found else x.device
            found = found or x.device
        elif x.is_fake:
            return None
        elif x.sizes:
            beside = x.device
    if found is not None and op.name in INDICES_FROM_MAIN_MEMORY:
        return _place_of_indexed(op, tensors)
    if found is not None and op.kind in LIKE_THE_FIRST and op.name not in ON_ONE_DEVICE:
        return tensors[0].device
    if found is not None and beside is not None:
        raise MixedDevicesError(
            f"Expected all tensors to be on the same device, but found at least two devices, {found} and {beside}!"
            f" ({op.name}: move one of them, as x.to('{found}'))"
        )
    return found


def _place_of_indexed(op: Op, tensors: Sequence[TensorBase]) -> device:
    """Where x[indices] is computed: on the device of x. Indices may come from main memory, and so may a single number
    that is stored. RuntimeError in PyTorch's words for others."""
    where = tensors[0].device
    values = tensors[-1:] if op.name == "index_put" else []
    for index in tensors[1 : len(tensors) - len(values)]:
        if index.device != where and index.storage.block is not None:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({where}); got one on"
                f" {index.device}"
            )
    for x in values:
        if x.device != where and (x.sizes or x.storage.block is not None):
            raise MixedDevicesError(
                f"Expected all tensors to be on the same device, but found at least two devices, {where} and"
                f" {x.device}! ({op.name}: move one of them, as x.to('{where}'))"
            )
    return where


def device_of(tensors: Iterable[TensorBase]) -> device:
    """Where the constants of a formula over these tensors have to be: where the first is that isn't in main memory."""
    for x in tensors:
        if x.device is not CPU:
            return x.device
    return CPU


def refuse_mixed(op: Op, arguments: Sequence[Any]) -> None:
    """MixedDevicesError for tensors on meta beside others with data, unless these are 0-d.

    Indices and windows may be anywhere, as in PyTorch, and so may what is copied to meta.
    """
    if op.kind in MIXING:
        return
    first = None
    for x in all_tensors(arguments):
        if x.device is not META and (not x.sizes or x.is_fake):
            continue
        if first is not None and x.device is not first.device and META in (x.device, first.device):
            raise MixedDevicesError(
                f"{op.name}: Tensor on device {x.device} is not on the expected device {first.device}! Make all"
                f" tensors on one device: x.to('meta') has the sizes of x, and no data."
            )
        first = x if first is None else first


def all_tensors(values: Iterable[Any]) -> list[TensorBase]:
    """The tensors of a call, those in lists, too."""
    found: list[TensorBase] = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += all_tensors(value)
    return found


def _where_from(values: Sequence[Any]) -> tuple[device, Any]:
    """The first device of the tensors that isn't main memory, and the first one's fake mode."""
    where, mode = CPU, None
    for value in values:
        if isinstance(value, TensorBase):
            where, mode = value.device if where is CPU else where, mode or value.fake_mode
        elif isinstance(value, (list, tuple)):
            inner = _where_from(value)
            where, mode = inner[0] if where is CPU else where, mode or inner[1]
    return where, mode


def is_elsewhere(value: Any) -> bool:
    """Whether an argument is a tensor whose elements aren't in main memory, but nowhere or on a device; or a list that
    has one."""
    if isinstance(value, TensorBase):
        if value._array is not None:
            return False
        storage = value.storage
        return (storage.of if storage.flips else storage).buffer is None
    return isinstance(value, (list, tuple)) and any(is_elsewhere(item) for item in value)
