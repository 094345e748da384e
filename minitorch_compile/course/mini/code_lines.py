r"""Which lines of a text are code: not blank, no comment, no docstring. By them `mini` is measured.

>>> sorted(code_lines("'A docstring.'\n\n# why\nx = 1\ny = '''two\nlines'''\n"))
[4, 5, 6]
"""

from __future__ import annotations

import ast
import io
import tokenize

from .sections import depth

NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
BLOCKS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def code_lines(text: str) -> set[int]:
    """The numbers of the lines of code, from 1. SyntaxError if it is no Python."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = {line for token in tokens if token.type not in NO_CODE for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, BLOCKS) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            found -= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return found


def lines_in_step(text: str) -> int:
    """How many lines of code a step has, which may stand inside a class; of what is no Python all that aren't blank.

    >>> lines_in_step("    def hit(self):\\n        'It was.'\\n        return 1")
    2
    """
    inside = depth(text) > 0
    try:
        return len(code_lines(f"class _:\n{text}\n" if inside else f"{text}\n")) - inside
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return sum(bool(line.strip()) for line in text.splitlines())
