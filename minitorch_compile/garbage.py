"""Fewer searches for garbage while something is compiled.

Compiling makes hundreds of thousands of small objects and keeps most of them for a while. Each search for cycles among
them walks them all and finds next to nothing: a fifth of the time in which a training step of a GPT is compiled. So
the collector waits for more objects meanwhile; it still comes, so that memory stays bounded.

>>> before = gc.get_threshold()
>>> with collected_rarely():
...     gc.get_threshold()[0] == RARELY
True
>>> gc.get_threshold() == before
True
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

RARELY = 200_000  # new objects before the collector looks at them; Python's own number is 700 to 10,000


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Within the block the cyclic garbage collector runs less often. A collector that is off, or that was told to come
    even more rarely, is left as it is; and so is a threshold that was changed within the block.
    """
    before = gc.get_threshold()
    if before[0] == 0 or before[0] >= RARELY:
        yield
        return
    gc.set_threshold(RARELY, *before[1:])
    try:
        yield
    finally:
        if gc.get_threshold()[0] == RARELY:
            gc.set_threshold(*before)
