"""torch.backends.nnpack: a library for convolutions, which is not called here. What is switched has no effect.

>>> is_available(), set_flags(False)
(False, (True,))
>>> with flags(enabled=True):
...     set_flags(True)
(True,)
>>> set_flags(True)
(False,)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_said = [True]


def is_available() -> bool:
    """Whether it is called."""
    return False


def set_flags(_enabled: bool) -> tuple[bool]:
    """Switches it on or off; gives what was said before."""
    before, _said[0] = _said[0], _enabled
    return (before,)


@contextmanager
def flags(enabled: bool = False) -> Iterator[None]:
    """Inside, it is switched as is said."""
    (before,) = set_flags(enabled)
    try:
        yield
    finally:
        set_flags(before)
