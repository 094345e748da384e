"""One at a time, and not within oneself.

Python may run a finalizer between any two instructions, also while the allocator is in the middle of something. If that
finalizer frees a tensor, the same thread enters the allocator a second time. An ordinary lock would wait for itself
forever; a reentrant one would let it in among half-changed blocks. So the second entry is seen, and put off.

>>> turn = Turn()
>>> with turn:
...     turn.is_mine()
True
>>> turn.is_mine()
False
"""

from __future__ import annotations

from threading import RLock
from typing import Any, NoReturn


class Turn:
    """`with turn:` is for one thread at a time; RuntimeError for who has it already.

    Who is in a hurry looks himself whether it `is_mine()`, and takes the `lock`: so no function of Python's is entered.
    """

    __slots__ = ("is_mine", "lock")

    def __init__(self) -> None:
        lock: Any = RLock()
        self.lock, self.is_mine = lock, lock._is_owned  # which a condition variable asks its lock, too

    def refuse(self) -> NoReturn:
        raise RuntimeError("the CUDA allocator was entered by a finalizer that ran inside it; only free() can be")

    def __enter__(self) -> None:
        if self.is_mine():
            self.refuse()
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()
