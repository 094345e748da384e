"""A file of the learner's, read with suspicion: it may be a pipe, a folder, enormous, or no text.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     _ = Path(folder, "guards.py").write_bytes(b"caf\\xe9")
...     for name in ("guards.py", "."):
...         try:
...             read_text(Path(folder, name), 1000)
...         except Unreadable as problem:
...             print(problem)
byte 3 is not UTF-8 text
it is not a file
"""

from __future__ import annotations

import os
import stat
from pathlib import Path


class Unreadable(ValueError):
    """Why a file has no text."""


def read_regular_file(path: Path, most_bytes: int) -> bytes:
    """A file's bytes. OSError if it is no file (reading a pipe would wait for ever), ValueError if there are more."""
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(0, "it is not a file")
    with path.open("rb") as file:  # it may be growing
        contents = file.read(most_bytes + 1) if status.st_size <= most_bytes else b""
    if max(len(contents), status.st_size) > most_bytes:
        raise ValueError(f"it has more than {most_bytes:,} bytes")
    return contents


def read_text(path: Path, most_bytes: int) -> str:
    """A file's text, its lines ended by "\\n". Unreadable says what is in the way; FileNotFoundError if nothing is."""
    try:
        text = read_regular_file(path, most_bytes).decode("utf-8-sig")
    except FileNotFoundError:
        if not os.path.lexists(path):
            raise
        raise Unreadable("it is a link to nothing") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not UTF-8 text") from error
    except (OSError, ValueError) as error:
        raise Unreadable(getattr(error, "strerror", None) or str(error)) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")
