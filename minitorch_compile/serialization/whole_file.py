"""A file that is there when it is whole: it is written under another name, which is given up in the end.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "checkpoint")
...     with written_whole(path) as file:
...         _ = file.write(b"half"), os.listdir(folder) == ["checkpoint"]
...     os.listdir(folder)
['checkpoint']
"""

from __future__ import annotations

import os
import stat
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Opens a file to be written. If that fails or is broken off, an older file of that name stays as it was.

    RuntimeError if there is no such folder, as in PyTorch. What is no regular file, such as a pipe, is written to.
    """
    target = os.path.realpath(path)  # a link stays a link
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(path)) or folder} does not exist.")
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    if os.path.exists(target):
        with open(target, "ab"):  # a file that may not be written to is not replaced either
            pass
    draft = os.path.join(folder, f".{uuid.uuid4().hex}.part")
    try:
        with open(draft, "xb") as file:
            yield file
        if os.path.exists(target):
            os.chmod(draft, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(draft, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(draft)
        raise
