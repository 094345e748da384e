"""Where a tensor's data lies.

>>> device("cpu"), device("cuda:1").index
(device(type='cpu'), 1)
>>> from minitorch_compile.tensor import zeros
>>> with device("meta"):
...     zeros(10**6, 10**6).device
device(type='meta')
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

# The kinds of devices that PyTorch's programs name. Tensors live on the first two; naming another is no error, putting
# a tensor there is one.
TYPES = ("cpu", "meta", "cuda", "mps", "xpu", "hpu", "xla", "ipu", "mtia", "vulkan", "privateuseone")


class _Entered(threading.local):
    """The devices of the `with` statements that a thread is in; before them its default device, if it has set one.

    `making`: where the tensor is to be computed that a factory is being asked for, if not in main memory. `hidden`: the
    lists that `no_default_device` keeps for later, the outermost first.
    """

    def __init__(self) -> None:
        self.devices: list[device] = []
        self.hidden: list[list[device]] = []
        self.default: device | None = None
        self.making: device | None = None


entered = _Entered()


def set_default(wanted: device | None) -> None:
    """Where a thread makes tensors outside of all `with` statements; None is main memory."""
    devices = entered.hidden[0] if entered.hidden else entered.devices
    if entered.default is not None:
        devices.pop(0)
    entered.default = wanted
    if wanted is not None:
        devices.insert(0, wanted)


@contextmanager
def no_default_device() -> Iterator[None]:
    """What is called here makes tensors in main memory unless it says where; also a decorator. A compiler's own numbers
    are no business of a `with torch.device(...)` that the program is in. A default set here holds afterwards."""
    entered.hidden.append(entered.devices)
    entered.devices = []
    try:
        yield
    finally:
        entered.devices = entered.hidden.pop()


class device:
    """A device by `type`, such as "cpu" or "cuda:1", and `index`. Inside `with device(...)` it is where new tensors are
    made. Compare with `==`.

    RuntimeError for a string that names none, TypeError for what isn't a string.

    >>> torch.device("cuda", 1), torch.ones(2).device == torch.device("cpu")
    (device(type='cuda', index=1), True)
    """

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __slots__ = ("index", "type")
    type: str
    index: int | None

    def __init__(self, type: str | device | int, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int) and not isinstance(type, bool):  # PyTorch: the number of an accelerator
            self.type, self.index = "cuda", type
            return
        if not isinstance(type, str):
            raise TypeError(f"device: expected a string such as 'cpu', got {type!r}")
        name, colon, number = type.partition(":")
        if name not in TYPES or (colon and not number.isdecimal()):
            raise RuntimeError(f"Expected one of {', '.join(TYPES)} device type at start of device string: {type}")
        if colon and index is not None:
            raise RuntimeError(f"device: {type!r} names an index already, got index {index} besides")
        self.type = name
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        return (
            f"device(type='{self.type}')" if self.index is None else f"device(type='{self.type}', index={self.index})"
        )

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __enter__(self) -> device:
        entered.devices.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        entered.devices.pop()

    def __hash__(self) -> int:
        return hash((self.type, self.index))


CPU = device("cpu")
META = device("meta")
NO_DATA = (
    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of torch.nn.Module.to()"
    " when moving module from meta to a different device; torch.empty_like(x, device='cpu') makes room for one tensor."
)
