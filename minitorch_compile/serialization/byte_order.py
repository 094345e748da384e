"""In which order the bytes of a number lie in a file of PyTorch's that doesn't say so: one written before 2.0.

>>> get_default_load_endianness(), is_big_unless_said()
(None, False)
>>> set_default_load_endianness(LoadEndianness.BIG)
>>> is_big_unless_said()
True
>>> set_default_load_endianness(None)
"""

from __future__ import annotations

import enum

from minitorch_compile.serialization import config


class LoadEndianness(enum.Enum):
    """The order of this machine, the lowest byte first, or the highest."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness() -> LoadEndianness | None:
    """The order that load() takes for that of a file without a byte order mark; None: that of this machine."""
    return config.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Changes it. TypeError for what is neither a LoadEndianness nor None."""
    if not isinstance(endianness, LoadEndianness) and endianness is not None:
        raise TypeError(
            "Invalid argument type in function set_default_load_endianness: expected a LoadEndianness or None, got"
            f" {type(endianness).__name__}"
        )
    config.load.endianness = endianness


def is_big_unless_said() -> bool:
    """Whether the highest byte is taken to come first; on the processors that kernels are made for, it doesn't."""
    return config.load.endianness is LoadEndianness.BIG
