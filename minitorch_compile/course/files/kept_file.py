"""Small files of the course's own in work/, which only remember: a damaged one is told of once, and made anew.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / ".hints.json"
...     _ = path.write_text("[1, 2")
...     print(read_kept(path))
...     write_kept(path, {"01.1": 2})
...     read_kept(path)
note: .hints.json can't be used (Expecting ',' delimiter: line 1 column 6 (char 5)); it is made anew
{}
{'01.1': 2}
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from .regular_file import read_regular_file

MOST_BYTES = 16 * 2**20


def read_kept(path: Path) -> dict[str, Any]:
    """What the file holds: an object of JSON; {} if there is no file, or none that can be used."""
    try:
        data = json.loads(read_regular_file(path, MOST_BYTES).decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        return _unusable(path, getattr(error, "strerror", None) or str(error))
    return data if isinstance(data, dict) else _unusable(path, "it holds no object of JSON")


def write_kept(path: Path, data: dict[str, Any]) -> None:
    """Replaces the file as a whole; a line says so if it can't."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(data, indent=1, sort_keys=True), encoding="utf-8")
        os.replace(temporary, path)
    except OSError as error:
        print(f"note: {path.name} can't be written ({error.strerror}); nothing is remembered")
        with suppress(OSError):
            temporary.unlink()


def _unusable(path: Path, why: str) -> dict[str, Any]:
    print(f"note: {path.name} can't be used ({why}); it is made anew")
    return {}
