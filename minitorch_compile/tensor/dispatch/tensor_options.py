"""Where a new tensor goes, and what else every factory takes: device=, layout=, pin_memory=, requires_grad=.

>>> from minitorch_compile.tensor import ones
>>> with_options(ones(2), requires_grad=True)
tensor([1., 1.], requires_grad=True)
>>> with_options(ones(2), device="meta").device
device(type='meta')
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators, located, pinned
from minitorch_compile.tensor.dispatch.op import find
from minitorch_compile.tensor.memory.device import CPU, META, NO_DATA, entered
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.memory_format import layout as Layout
from minitorch_compile.tensor.memory.memory_format import preserved_strides, strided
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

TENSOR_OPTIONS = frozenset(("device", "layout", "pin_memory", "requires_grad"))


def with_options(
    x: TensorBase,
    device: Any = None,
    layout: Layout | None = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Any:
    """A tensor that was just made, on its device. Every argument is checked; none is ignored.

    RuntimeError for a device or a layout that isn't there, and for pinned memory where there is no GPU to use it.
    """
    check_layout(layout)
    result = on_device(x, device)
    if pin_memory:
        result = pinned(result)
    if requires_grad:
        result.requires_grad = True
    return result


def making_on(where: Any) -> AbstractContextManager[Any]:
    """Inside, factories make their tensors on that device, unless it is None. On "meta" nothing is computed."""
    if where is None or (not entered.devices and (where is CPU or Device(where).type == "cpu")):
        return nullcontext()
    return Device(where)


def check_layout(layout: Layout | None) -> None:
    """RuntimeError for the sparse layouts, TypeError for what is no layout."""
    if layout is None or layout is strided:
        return
    if not isinstance(layout, Layout):
        raise TypeError(f"layout: expected torch.strided, got {layout!r}")
    raise RuntimeError(f"layout: tensors here are strided, got {layout!r}; keep indices and values as two tensors")


def on_device(x: TensorBase, where: Any, non_blocking: bool = False) -> Any:
    """The tensor on a device: itself if it is there, without its data on "meta". For a device that isn't here
    RuntimeError, or AssertionError where PyTorch raises that. `non_blocking`: don't wait for a copy from pinned memory
    or into it."""
    if where is None:
        return x
    target = Device(where)
    if target.type in accelerators or x.device.type in accelerators:
        target = located(target)
        if x.device is META and target is not META:
            raise NotImplementedError(f"to: {NO_DATA}")
        if target == x.device:
            return x
        return find("to_device")(x, target, True) if non_blocking else find("to_device")(x, target)
    if target.type == x.device.type:
        return x
    if target.type == "cpu":
        raise NotImplementedError(f"to: {NO_DATA}")
    if target.type != "meta":
        advice = f"no tensors on {str(target)!r} here; expected one of cpu, meta (torch.cuda.is_available() is False)"
        if target.type in ("cuda", "xpu"):
            raise AssertionError(f"Torch not compiled with {target.type.upper()} enabled: {advice}")
        raise RuntimeError(f"device: {advice}")
    return empty_fake(x.sizes, preserved_strides(tuple(x.sizes), x.strides), x.dtype, META)
