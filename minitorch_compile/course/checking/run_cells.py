"""The statements that an answer needs, run in a module of their own."""

from __future__ import annotations

import ast
import linecache
import sys
import types
from typing import Any


def run_cells(module: types.ModuleType, cells: list[dict[str, Any]]) -> None:
    """Run the learner's statements in the module; tracebacks give the line numbers and the text of their cells."""
    sys.modules[module.__name__] = module
    for cell in cells:
        filename = f"cell {cell['number']}"
        linecache.cache[filename] = (len(cell["source"]), None, cell["source"].splitlines(keepends=True), filename)
        body = ast.parse(cell["source"]).body
        kept = ast.Module([body[index] for index in cell["statements"]], type_ignores=[])
        exec(compile(kept, filename, "exec"), module.__dict__)
