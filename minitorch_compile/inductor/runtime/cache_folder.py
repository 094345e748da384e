"""Files in the folder for compiled code: whole or not there, read only if they are this user's own, not too many.

Any number of processes may use one folder at once. A file appears under its name only when it is whole (written under
another name, then renamed), and none is ever changed. Which folder that is, `users_cache` says.

>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "ab" / "entry"
...     write_whole(path, b"some bytes"), read_own(path), read_own(path.parent / "another")
(True, b'some bytes', None)

The folder is kept below `MTC_CACHE_BYTES` (default 1 GiB; 0: no limit): the first entry that a process adds makes it
look, and then the entries that were used least recently are removed.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from minitorch_compile import logs
from minitorch_compile.environment_variables import CACHE_BYTES
from minitorch_compile.kernel_library.object_files import read_own as read_own  # the other half of what is done here
from minitorch_compile.kernel_library.object_files import used_files as used_files
from minitorch_compile.users_cache import cache_folder

OWN_FILES = "[0-9a-f][0-9a-f]/mtc_*"  # nothing else is ever removed: the folder may be the user's own
UNFINISHED = ".tmp"  # the end of a name under which a file is being written
ABANDONED = 3600.0  # seconds after which whoever was writing such a file must have been killed
log = logs.artifact("cache")

# ------------------------------------------------------------------------------------------------ files


def write_whole(path: Path, contents: bytes) -> bool:
    """Puts a file in its place; whoever reads it sees all of it or none, even if this process is killed here.

    False if it can't be written (a full disk, a folder that became read-only): a cache may do without.
    """
    temporary = ""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="mtc_", suffix=UNFINISHED)
        with os.fdopen(handle, "wb") as file:
            file.write(contents)
        os.replace(temporary, path)
    except OSError as error:
        log(f"{path} can't be written ({error.strerror})")
        with suppress(OSError):
            os.unlink(temporary)
        return False
    used_files.add(path)
    _keep_to_limit(cache_folder())
    return True


# ------------------------------------------------------------------------------------------------ size


@lru_cache(maxsize=8)  # once a process
def _keep_to_limit(folder: Path) -> None:
    trim(folder, CACHE_BYTES.value())


def entries(folder: Path) -> list[tuple[float, int, Path]]:
    """The files of ours in a folder: when each was used last, its bytes, its path; least recently used first."""
    files = []
    for path in folder.glob(OWN_FILES):
        with suppress(OSError):  # another process may have removed it
            status = path.lstat()
            if stat.S_ISREG(status.st_mode):
                files.append((status.st_mtime, status.st_size, path))
    return sorted(files)


def trim(folder: Path, limit: int) -> int:
    """Removes what killed processes left behind, then files, least recently used first, to stay below `limit` bytes.

    Where there is more, half of the limit is kept, so that it isn't reached again at once. 0 means no limit. Returns
    how many files were removed.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for number in range(3):
    ...         path = Path(folder) / "ab" / f"mtc_{number}"
    ...         _ = write_whole(path, bytes(100))
    ...         os.utime(path, (number, number))
    ...     trim(Path(folder), 300), trim(Path(folder), 250), os.listdir(path.parent)
    (0, 2, ['mtc_2'])
    """
    files = entries(folder)
    removed = [path for used, _, path in files if path.suffix == UNFINISHED and time.time() - used > ABANDONED]
    files = [file for file in files if file[2] not in removed]
    total = sum(size for _, size, _ in files)
    if 0 < limit < total:
        for _, size, path in files:
            if total <= limit // 2:
                break
            total -= size
            removed.append(path)
    for path in removed:
        path.unlink(missing_ok=True)
    if removed:
        log(f"{folder}: {len(removed)} files removed, {total:,} bytes left")
    return len(removed)
