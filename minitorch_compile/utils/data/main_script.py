"""Whether worker processes may be started from where the program is.

A spawned process first imports the main script anew, to know its classes and functions. If the line of the script that
is being executed just now runs on import, and isn't guarded by `if __name__ == "__main__":`, each worker would run the
whole script once more.

>>> script = "loader = make()\\nfor batch in loader:\\n    print(batch)\\n"
>>> is_guarded(script, 2)
False
>>> is_guarded('if __name__ == "__main__":\\n    for batch in loader:\\n        print(batch)\\n', 2)
True
"""

from __future__ import annotations

import ast
import linecache
import os
import sys
from types import FrameType


def is_guarded(source: str, line: int) -> bool:
    """Whether a line of a script lies in a block that asks for `__name__`."""
    return any(
        isinstance(node, ast.If) and _asks_for_name(node.test) and node.lineno <= line <= (node.end_lineno or line)
        for node in ast.walk(ast.parse(source))
    )


def _asks_for_name(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id == "__name__" for node in ast.walk(test))


def unguarded_line() -> str | None:
    """The place in the main script that led here, as "file, line n", if a worker would come there too."""
    if is_interactive():
        return None  # a worker imports nothing of it
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__main__":
            source = "".join(linecache.getlines(frame.f_code.co_filename))
            if source and not is_guarded(source, frame.f_lineno):
                return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
        frame = frame.f_back
    return None


def is_interactive() -> bool:
    """Whether the main module is no file, as in a notebook: what it defines, no other process finds."""
    main = sys.modules["__main__"]
    return getattr(main, "__file__", None) is None and getattr(main, "__spec__", None) is None


def is_lost() -> bool:
    """Whether the main module names a file that isn't there, as a script read from standard input does."""
    main = sys.modules["__main__"]
    path = getattr(main, "__file__", None)
    return path is not None and getattr(main, "__spec__", None) is None and not os.path.exists(path)
