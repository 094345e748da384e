"""One at a time, and not within oneself.

Python may run a finalizer between any two instructions, also while the allocator is in the middle of something. If that
finalizer frees a tensor, the same thread enters the allocator a second time. An ordinary lock would wait for itself
forever; a reentrant one would let it in among half-changed blocks. So the second entry is seen, and put off.

>>> turn = Turn()
>>> with turn:
...     turn.is_mine
True
>>> turn.is_mine
False
"""

from __future__ import annotations

from threading import Lock, get_ident


class Turn:
    """`with turn:` is for one thread at a time; RuntimeError for who has it already."""

    __slots__ = ("_lock", "_owner")

    def __init__(self) -> None:
        self._lock = Lock()
        self._owner: int | None = None

    @property
    def is_mine(self) -> bool:
        """Whether this thread has it."""
        return self._owner == get_ident()

    def __enter__(self) -> None:
        thread = get_ident()
        if self._owner == thread:
            raise RuntimeError("the CUDA allocator was entered by a finalizer that ran inside it; only free() can be")
        self._lock.acquire()
        self._owner = thread

    def __exit__(self, *error: object) -> None:
        self._owner = None
        self._lock.release()
