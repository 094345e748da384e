"""Whether nobody but this user can change what lies in a folder, or put another folder in its place.

Whoever can write to a folder can exchange what is in it, so the rules hold for every folder on the way down from the
root, and for the folders and links that a link on the way leads through: each belongs to this user or to the
administrator, and no other user can write to it. The one exception are folders like /tmp, whose sticky bit lets
everybody add entries, but remove and rename only their own. Folders that are missing are made, for this user alone,
once what lies above them was found right.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as name:
...     place = Path(name).resolve() / "above"
...     print(folder_problem(place / "folder"))
...     place.chmod(0o770)
...     print((folder_problem(place / "folder") or "").replace(name, ""))
None
lies in .../above, which other users can write to
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

ADMINISTRATOR = 0
MOST_LINKS = 40  # on the way to one folder, as in Linux: more go round in a circle


def folder_problem(folder: Path) -> str | None:
    """Why a folder can't be used for what must be trusted, or None if it can; it is made if there is none."""
    try:
        for place, status in _places_on_the_way(folder.absolute()):
            if problem := _problem_above(status):
                return f"lies in {place}, {problem}"
        status = folder.stat()
    except OSError as error:
        return f"can't be made ({error.strerror or error})"
    if not is_ours(status):
        return "belongs to another user" if _is_foreign(status) else "can be written to by other users"
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return "can't be written to"
    return None


def is_ours(status: os.stat_result) -> bool:
    """Whether what has this status belongs to this user, and nobody else can write to it."""
    return not _is_foreign(status) and not _others_can_write(status)


def _problem_above(status: os.stat_result) -> str | None:
    """What is wrong with a folder or link above a trusted folder."""
    if _is_foreign(status) and status.st_uid != ADMINISTRATOR:
        return "which belongs to another user"
    if stat.S_ISDIR(status.st_mode) and _others_can_write(status) and not status.st_mode & stat.S_ISVTX:
        return "which other users can write to"
    return None


def _is_foreign(status: os.stat_result) -> bool:
    return hasattr(os, "getuid") and status.st_uid != os.getuid()


def _others_can_write(status: os.stat_result) -> bool:
    return bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _places_on_the_way(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Every folder above `folder`, and every link on the way, with its status; the folder itself is made, not given.

    Whoever asks for the next one has found the last one right: only then is something made in it.
    """
    place, names, links = Path(folder.anchor), list(reversed(folder.parts[1:])), 0
    while names:
        name = names.pop()
        if name == "..":
            place = place.parent
            continue
        yield place, place.stat()
        place /= name
        if place.is_symlink():
            yield place, place.lstat()
            target, links = Path(os.readlink(place)), links + 1
            if links > MOST_LINKS:
                raise OSError(0, "links go round in a circle", str(place))
            names += [part for part in reversed(target.parts) if part != target.anchor]
            place = Path(target.anchor) if target.is_absolute() else place.parent
        else:
            place.mkdir(mode=0o700, exist_ok=True)
