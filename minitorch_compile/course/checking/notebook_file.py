"""The code cells of a notebook file, whatever state the file is in: damaged ones are an error in words.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "01_views.ipynb"
...     _ = path.write_text('{"cells": [{"cell_type": "code", "source": ["x = 1\\\\n", "y = 2"]}]}')
...     print(code_cells(path))
...     _ = path.write_text('{"cells": null}')
...     code_cells(path)
Traceback (most recent call last):
minitorch_compile.course.checking.notebook_file.NotANotebook: 01_views.ipynb is not a notebook: it has no list of cells

What is no cell, or a cell without a text, counts as an empty one, so that the others keep their numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..files.regular_file import read_regular_file

MOST_BYTES = 64 * 2**20  # a lesson with all its pictures has less than one
MOST_CODE = 2 * 10**6  # characters: more was not typed, and each exercise looks for its answer in all of it


class NotANotebook(ValueError):
    """Why a file can't be graded."""


def code_cells(path: Path) -> list[str]:
    """The sources of a notebook's code cells, from the top. NotANotebook if there are none to be had."""
    try:
        cells = _parsed(path)
    except OSError as error:
        raise NotANotebook(f"{path.name} can't be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise NotANotebook(f"{path.name} is not a notebook: byte {error.start} is not UTF-8 text") from error
    except (RecursionError, MemoryError) as error:
        raise NotANotebook(f"{path.name} is not a notebook: it is nested too deeply") from error
    except ValueError as error:
        raise NotANotebook(f"{path.name} is not a notebook: {error}") from error
    sources = [_source(cell) for cell in cells if not isinstance(cell, dict) or cell.get("cell_type") == "code"]
    if (length := sum(map(len, sources)) + len(sources)) > MOST_CODE:
        raise NotANotebook(f"{path.name} is too long: it has {length:,} characters of code, {MOST_CODE:,} are allowed")
    return sources


def _parsed(path: Path) -> list[Any]:
    contents = read_regular_file(path, MOST_BYTES)
    if not contents:
        raise ValueError("it is empty")
    data = json.loads(contents.decode("utf-8-sig"))
    cells = data.get("cells") if isinstance(data, dict) else None
    if not isinstance(cells, list):
        raise ValueError("it has no list of cells")
    return cells


def _source(cell: Any) -> str:
    source = cell.get("source") if isinstance(cell, dict) else None
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    return source if isinstance(source, str) else ""
