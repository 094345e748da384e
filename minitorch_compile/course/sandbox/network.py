"""Linux: a network of one's own, in which there is nobody. Root can, and users where the kernel lets them."""

from __future__ import annotations

import ctypes
import sys

NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000


def leave() -> bool:
    """Leaves the machine's network; whether that could be done."""
    if not sys.platform.startswith("linux"):
        return False
    unshare = ctypes.CDLL(None, use_errno=True).unshare
    return unshare(NEW_NETWORK) == 0 or unshare(NEW_USER | NEW_NETWORK) == 0
