"""Everything at once, in the order in which it can be done; what holds is told, since no platform has it all.

What is here can't be undone by the process that has done it. Elsewhere than on Linux only the limits hold, and the
watch over what Python itself opens (`watch.py`), which stops a mistake and a cheat, not an attack.
"""

from __future__ import annotations

import os
from pathlib import Path

from . import landlock, network, powers, watch
from .places import DEVICES, readable


def enter(room: Path) -> dict[str, bool]:
    """What holds from now on. `room` is the one folder that can be written to."""
    os.environ.update(HOME=str(room), TMPDIR=str(room), MTC_CACHE_DIR=str(room / "kernels"))
    os.chdir(room)
    alone = network.leave()
    powerless = powers.give_up()
    known = 0
    if landlock.version():
        try:
            known = landlock.restrict(readable(), [room, *map(Path, DEVICES)])
        except OSError:  # a container may forbid what its kernel has
            known = 0
    watch.begin(room)
    return {
        "powers of root": powerless,
        "files": known >= 1,
        "memory of others": known >= 1,
        "connections": alone or known >= 4,
        "network": alone,
        "signals to others": known >= 6,
    }
