"""Python source made by the compiler, executed as if it stood in a file.

Tracebacks, pdb and inspect find the text of a function by its file name, through `linecache`. So generated source is
entered there under a name of its own:

>>> double = function_from_source("def double(x):\\n    return x * 2\\n", "double", {})
>>> double(21)
42
>>> import inspect
>>> print(inspect.getsource(double))
def double(x):
    return x * 2

With `config.generated_source_folder` set, the text is written to a file in that folder instead.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from minitorch_compile import config
from minitorch_compile.own_builtins import ORIGINAL

_numbers = itertools.count()
# Texts whose functions are gone. They leave linecache when the next text comes and not at once: a finalizer may run in
# the middle of `linecache.checkcache`, which expects that all entries stay.
_unneeded: deque[str] = deque()


def function_from_source(source: str, name: str, global_values: dict[str, Any]) -> Callable[..., Any]:
    """Execute `source` with these globals and return the function `name` that it defines.

    The text stays findable as long as the function lives.
    """
    with suppress(IndexError):  # none left; another thread may have taken the last one
        while True:
            linecache.cache.pop(_unneeded.popleft(), None)
    filename = _filename(name)
    if config.generated_source_folder is None:
        # An entry without a modification time is never checked against the disk.
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    else:
        Path(filename).parent.mkdir(parents=True, exist_ok=True)
        Path(filename).write_text(source, encoding="utf-8")
    namespace = {"__builtins__": ORIGINAL, **global_values}
    exec(compile(source, filename, "exec"), namespace)
    function = namespace[name]
    weakref.finalize(function, _unneeded.append, filename)
    return function


def _filename(name: str) -> str:
    number = next(_numbers)
    folder = config.generated_source_folder
    return f"<generated {name} {number}>" if folder is None else str(Path(folder) / f"{name}_{number}.py")
