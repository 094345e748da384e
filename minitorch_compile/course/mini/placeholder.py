"""What stands in the learner's file for a step that isn't written: its names, which say so when they are used.

>>> part, = sections("# %% 01.7 twice\\ndef twice(x):\\n    return 2 * x\\n")[1:]
>>> print(placeholder("first", part))
def twice(*_, **__): raise ImportError("mini: ... borrow('01') takes the reference's")  # not written yet

So what is written of a file can be imported before the rest is. Only a step that makes a table raises as soon as its
file is imported: what the table is filled with stands further down.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .sections import Section, sections  # noqa: F401

MARK = "  # not written yet"  # how each of its lines ends
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def placeholder(file: str, part: Section, opens_class: bool = False) -> str:
    """`opens_class`: the step after this one stands inside a class that this one begins."""
    said = f"mini: step {part.number} of mini/{file}.py ({part.title}) is not written yet"
    said = f"{said}; borrow('{part.number.partition('.')[0]}') takes the reference's".replace('"', "'")
    lines = list(_lines(part, f'raise ImportError("{said}")'))
    if opens_class and not (lines and lines[-1].startswith("    ")):
        lines.append("class Missing:")
    return "\n".join(f"{line}{MARK}" for line in lines or [" " * part.depth + "pass"])


def without_placeholder(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.endswith(MARK))


def _lines(part: Section, raises: str) -> Iterator[str]:
    body = ast.parse(f"class _:\n{part.text}" if part.depth else part.text).body
    first, *rest = body
    inside = first.body if part.depth and isinstance(first, ast.ClassDef) else [first]
    for depth, node in [*((part.depth, node) for node in inside), *((0, node) for node in rest)]:
        before = " " * depth
        if isinstance(node, FUNCTIONS):
            yield f"{before}def {node.name}(*_, **__): {raises}"
        elif isinstance(node, ast.ClassDef):
            yield f"{before}class {node.name}:"
            yield f"{before}    def __new__(*_, **__): {raises}"
            yield f"{before}    __init_subclass__ = __new__"
        elif isinstance(node, ast.Assign | ast.AnnAssign) and not depth:
            yield raises
