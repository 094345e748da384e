"""What a learner wrote for one step, looked at before it is put among the others: is it written, is it Python?

>>> problem("    def hit(self):\\n        return 1", depth=4)
>>> problem("    def hit(self)\\n        return 1", depth=4)
"expected ':' in line 2: def hit(self)"
>>> problem("def hit(self):\\n    return 1", depth=4)
'its lines belong into a class: each begins with 4 spaces, the first begins with 0'

Lines are counted as in the cell, whose first is `%%mini guards 05.3`, or from the marker in the file.
"""

from __future__ import annotations

import ast
import re

from .sections import MARKER, depth

STUB = 'raise NotImplementedError("your code here")'
MOST_CHARACTERS = 200_000  # what is longer was not typed
MAGIC = re.compile(r"^%%mini[ \t]+(\S+)[ \t]+(\S+)[ \t]*$")


def is_stub(text: str) -> bool:
    """Whether the line is still there that every exercise begins with."""
    return any(line.strip() == STUB for line in text.splitlines())


def problem(text: str, depth: int) -> str | None:
    """Why the text can't be a step that is indented so far; None if it can."""
    if len(text) > MOST_CHARACTERS:
        return f"{len(text):,} characters are more than a step can have ({MOST_CHARACTERS:,})"
    if not text.strip():
        return "there is no line of code"
    for at, line in enumerate(text.split("\n"), 2):
        if MARKER.match(line):
            return f"line {at} is the mark of another section, and a cell holds one step: {line.strip()}"
    try:
        _compile(text)
        return _indentation(text, depth)
    except SyntaxError as error:
        line = f" in line {error.lineno}" if error.lineno else ""
        return f"{error.msg}{line}: {(error.text or '').strip()}"
    except (RecursionError, MemoryError):
        return "it is nested too deeply for Python's parser"
    except (ValueError, OverflowError) as error:  # characters that no text can hold, among them half of one
        return f"it can't be read: {error}"


def _compile(text: str) -> None:
    """SyntaxError with the cell's line numbers: one line stands before the text, as `%%mini` does."""
    before = "class _:" if depth(text) else "pass"
    compile(f"{before}\n{text}\n", "mini", "exec", dont_inherit=True)


def _indentation(text: str, wanted: int) -> str | None:
    found = depth(text)
    if found == wanted:
        return None
    if wanted:
        return f"its lines belong into a class: each begins with {wanted} spaces, the first begins with {found}"
    return f"its lines belong to no class: the first begins with {found} spaces, none was expected"


def last_cell(number: str, cells: list[str]) -> str | None:
    """The text of the step in the last cell that is `%%mini FILE number`; None if there is none."""
    for cell in reversed(cells):
        said = magic_cell(cell)
        if said is not None and said[1] == number:
            return said[2]
    return None


def magic_cell(cell: str) -> tuple[str, str, str] | None:
    """(file, number, text) of a `%%mini` cell, as a notebook has it or as IPython records it; None of any other.

    >>> magic_cell("%%mini guards 05.3\\nx = 1")
    ('guards', '05.3', 'x = 1')
    >>> magic_cell("get_ipython().run_cell_magic('mini', 'guards 05.3', 'x = 1\\\\n')")
    ('guards', '05.3', 'x = 1\\n')
    """
    if cell.startswith("get_ipython().run_cell_magic("):
        return _recorded(cell)
    first, _, text = cell.lstrip("\n").partition("\n")
    words = MAGIC.match(first)
    return (words[1], words[2], text) if words else None


def _recorded(cell: str) -> tuple[str, str, str] | None:
    try:
        call = ast.parse(cell.strip(), mode="eval").body
        name, line, text = (ast.literal_eval(argument) for argument in getattr(call, "args", ()))
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return None
    words = MAGIC.match(f"%%{name} {line}")
    return (words[1], words[2], text) if words and isinstance(text, str) else None
