"""Where the kernel hides nothing: Python's own audit of what it opens refuses the course's answers.

It can't be taken off again from Python. C code that the learner's code calls is not seen.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from .places import environments, hidden, is_hidden

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def begin(room: Path) -> None:
    """From now on Python opens no file that is hidden, such as the course's answers, and writes below `room` only."""
    closed = tuple(str(folder) + os.sep for folder in hidden())
    python = tuple(str(path) + os.sep for path in environments() if is_hidden(path))
    inside = str(room.resolve())

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            name, _, flags = arguments
        elif event in ("os.listdir", "os.scandir"):
            name, flags = arguments[0], 0
        else:
            return
        if not isinstance(name, str | bytes | os.PathLike):
            return
        path = os.path.realpath(os.fsdecode(name))
        if (
            ((path + os.sep).startswith(closed) and not path.startswith(python))
            or (flags or 0) & WRITING
            and not path.startswith((inside, "/dev/", "/proc/self"))
        ):
            raise PermissionError(13, "Permission denied", os.fsdecode(name))

    sys.addaudithook(refuse)
