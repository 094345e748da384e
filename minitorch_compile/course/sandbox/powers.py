"""Linux: root without root's powers, for this process and all that it starts."""

from __future__ import annotations

import ctypes
import struct
import sys

SET_SECURE_BITS, NO_ROOT_AND_LOCKED = 28, 0b11  # a program that root starts gets no powers back
VERSION_3 = 0x20080522


def give_up() -> bool:
    """Whether the process has no powers now that other processes of its user don't have."""
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(SET_SECURE_BITS, NO_ROOT_AND_LOCKED, 0, 0, 0)  # refused to users who aren't root: they have none
    return libc.capset(struct.pack("Ii", VERSION_3, 0), bytes(24)) == 0
