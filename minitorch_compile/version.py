"""torch.version: which PyTorch this package speaks like, and that there is no GPU build.

>>> __version__ >= "2.9", __version__ < "2.20", cuda
(True, True, None)
"""

from __future__ import annotations

import re
from typing import Any


class TorchVersion(str):
    """A version that compares by its numbers, with texts and with tuples.

    >>> TorchVersion("2.13.0") > "2.9", TorchVersion("2.13.0") >= (2, 13)
    (True, True)
    """

    __slots__ = ()

    def numbers(self) -> tuple[int, ...]:
        """The numbers before the first letter or plus sign."""
        return _numbers(self)

    def __lt__(self, other: Any) -> bool:
        return _numbers(self) < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return not _numbers(other) < _numbers(self)

    def __gt__(self, other: Any) -> bool:
        return _numbers(other) < _numbers(self)

    def __ge__(self, other: Any) -> bool:
        return not _numbers(self) < _numbers(other)


def _numbers(version: Any) -> tuple[int, ...]:
    """(2, 13) for "2.13.0+cpu": zeros at the end say nothing."""
    if isinstance(version, str):
        version = [int(part) for part in re.findall(r"\d+", re.split(r"[+a-zA-Z]", version)[0])]
    numbers = tuple(version)
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return numbers


# The PyTorch whose names and behaviour are followed; behind the plus sign, this package's own version.
__version__ = TorchVersion("2.13.0+minitorch.0.1.0")
debug = False
cuda: str | None = None
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
