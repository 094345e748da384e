"""The one folder of this user's in which machine code is kept: `MTC_CACHE_DIR`, or a folder in the user's cache folder.

What lies in it will be run, so a folder that somebody else could change is refused (`folder_trust`). Where there is
none to trust and to write to, a private temporary one takes its place, with one warning, and where there is none of
these either (a container without a writable place), NOWHERE, in which nothing can be kept.

>>> NOWHERE.exists(), os.path.isabs(cache_folder())
(False, True)
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from minitorch_compile import logs
from minitorch_compile.environment_variables import CACHE_DIR
from minitorch_compile.folder_trust import folder_problem
from minitorch_compile.user_warnings import warn_user

NOWHERE = Path(os.devnull) / "minitorch_compile"  # below a file there is never a folder

log = logs.artifact("cache")

_temporary: set[Path] = {NOWHERE}  # folders of which nothing is left for later processes


def cache_folder() -> Path:
    """The folder for compiled code, made if there is none; a temporary one if it can't be used or trusted."""
    return _usable_folder(CACHE_DIR.value() or os.path.join(_users_caches(), "minitorch_compile"))


def is_lasting() -> bool:
    """Whether later processes will find what is put into the folder for compiled code."""
    return cache_folder() not in _temporary


def _users_caches() -> str:
    """Where the user's caches lie. A relative path in XDG_CACHE_HOME isn't used, as its specification asks."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    home = os.path.expanduser("~")
    return named if os.path.isabs(named) else os.path.join(home if os.path.isabs(home) else "~", ".cache")


@lru_cache(maxsize=8)
def _usable_folder(name: str) -> Path:
    folder = Path(name)
    problem = "can't be made (this user has no home folder)" if name.startswith("~") else folder_problem(folder)
    if problem is None:
        return folder.resolve()  # a link that is turned elsewhere later on changes nothing
    log(f"{folder} {problem}: refused")
    replacement = _temporary_folder()
    warn_user(
        f"compiled kernels are not kept after this process ends: the cache folder {folder} {problem}."
        f" Set {CACHE_DIR.name} to a folder that only you can write to."
    )
    return replacement


def _temporary_folder() -> Path:
    """A folder that this process removes when it ends; NOWHERE if there is no place for one."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="minitorch_compile-")).resolve()
    except OSError as error:
        log(f"no temporary folder either ({error.strerror})")
        return NOWHERE
    _temporary.add(folder)
    maker = os.getpid()

    def remove() -> None:
        if os.getpid() == maker:  # a forked process ends in the same way, and the folder isn't its own
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder
