"""The one folder that the learner's code can write to, removed with all that it has made of it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count


@contextmanager
def a_room() -> Iterator[str]:
    """A new folder.

    >>> with a_room() as room:
    ...     os.makedirs(os.path.join(room, "a/b/c"), mode=0o500)
    >>> os.path.exists(room)
    False
    """
    room = tempfile.mkdtemp()
    try:
        yield room
    finally:
        remove(room)


def remove(folder: str) -> None:
    """Removes it, however deep it is: a tree's removal by recursion ends where Python's or the system's depth does.

    What lies in a folder in it is brought up, so that no path gets long; a link is removed, never followed.
    """
    names = (os.path.join(folder, f".{number}") for number in count())
    waiting = [folder]
    while waiting:
        current = waiting.pop()
        with suppress(OSError):
            os.chmod(current, 0o700)
            for entry in list(os.scandir(current)):
                if not entry.is_dir(follow_symlinks=False):
                    os.unlink(entry.path)
                    continue
                brought = entry.path
                if current != folder:
                    os.chmod(brought, 0o700)  # a folder that can't be written to can't be moved
                    brought = next(name for name in names if not os.path.lexists(name))
                    os.rename(entry.path, brought)
                waiting.append(brought)
            if current != folder:
                os.rmdir(current)
    with suppress(OSError):
        os.rmdir(folder)
