"""The part of a notebook that one name needs: how a learner's function reaches the process that checks it.

A check runs in a fresh process, so the learner's function has to travel there. What travels is text: the statements of
the cells run so far that the function needs, found by following names backwards, as a program slice. Slow cells, broken
cells and calls of `check` stay behind unless the answer depends on them.

>>> function = "def area(r):\\n    return scale * math.pi * r"
>>> cells = ["import math", "scale = 2", "slow = sum(range(10**12))", function, "area(1)"]
>>> for cell in slice_for("area", cells):
...     print(cell.number, cell.kept_source())
1 import math
2 scale = 2
4 def area(r):
    return scale * math.pi * r
"""

from __future__ import annotations

import ast
import symtable
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache


class CellSyntaxError(Exception):
    """A cell that can't be parsed, where the answer may have been meant to be."""


# What Python's parser raises: for wrong syntax; for characters that no text can hold; for what is nested too deeply.
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")  # functions, for Python, that run at once
LONGEST_CELL = 200_000  # characters; what is longer was not typed


@dataclass
class CellSlice:
    """The statements (by index) that are needed from one cell. `number` counts the cells from 1."""

    number: int
    source: str
    statements: list[int] = field(default_factory=list)

    def kept_source(self) -> str:
        body, lines = ast.parse(self.source).body, _lines(self.source)
        return "\n".join(_segment(lines, body[index]) for index in self.statements)


@dataclass(frozen=True)
class _Statement:
    cell: int
    index: int
    binds: frozenset[str]
    reads_now: frozenset[str]
    """Names that must exist when the statement runs: bases, decorators, defaults, right-hand sides."""
    reads_later: frozenset[str]
    """Names that a function body will look up when it is called."""
    extends: frozenset[str]
    """Names whose value the statement changes without binding them: `table[key] = ...`, `@register def ...`."""


def slice_for(name: str, cells: Sequence[str]) -> list[CellSlice]:
    """The cells' statements that `name` needs, in the order in which the notebook ran them.

    LookupError if no statement binds the name; CellSyntaxError if it is only in a cell that can't be parsed.
    """
    sources = [without_magics(cell) for cell in cells]
    statements = _statements(sources)
    kept = _needed(name, statements)
    if not kept:
        _explain_absence(name, sources)
    slices: dict[int, CellSlice] = {}
    for position in sorted(kept):
        statement = statements[position]
        cell = slices.setdefault(statement.cell, CellSlice(statement.cell + 1, sources[statement.cell]))
        cell.statements.append(statement.index)
    return list(slices.values())


def is_unwritten(name: str, cells: Sequence[CellSlice]) -> bool:
    """Whether `name`, in its slice, is a function that does nothing but raise NotImplementedError.

    >>> is_unwritten("f", slice_for("f", ["def f(x):\\n    raise NotImplementedError('your code here')"]))
    True
    """
    binding = [
        node
        for cell in cells
        for index, node in enumerate(ast.parse(cell.source).body)
        if index in cell.statements and name in _describe(0, 0, node, _segment(_lines(cell.source), node)).binds
    ]
    if not isinstance(binding[-1], ast.FunctionDef) or binding[-1].decorator_list:
        return False
    *before, last = binding[-1].body
    raises = isinstance(last, ast.Raise) and last.exc is not None and _root(last.exc) == "NotImplementedError"
    return raises and all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in before)


def without_magics(cell: str) -> str:
    """The cell with IPython's own lines (`%time`, `!ls`) commented out, so that line numbers stay.

    A `%%mini` cell is saved, not run in the notebook: nothing of it is bound there.
    """
    lines = cell.split("\n")
    if cell.lstrip().startswith("%%mini"):
        return "\n" * (len(lines) - 1)
    return "\n".join("#" + line if line.lstrip().startswith(("%", "!")) else line for line in lines)


def _needed(name: str, statements: list[_Statement]) -> set[int]:
    """Positions of the statements that `name` needs: the last binding of each name read, and what extends it."""
    kept: set[int] = set()
    bound, extended = _positions(statements)
    reached: dict[int, dict[str, int]] = {}  # by binding and name: up to where extensions have been looked for
    wanted: list[tuple[str, int]] = [(name, len(statements))]
    seen = set(wanted)

    def want(names: frozenset[str], before: int) -> None:
        for request in ((each, before) for each in names):
            if request not in seen:
                seen.add(request)
                wanted.append(request)

    while wanted:
        wanted_name, before = wanted.pop()
        binding = _last(bound.get(wanted_name, []), before)
        if binding is None:
            continue
        seen_to = reached.setdefault(binding, {}).get(wanted_name, binding)
        extensions = _between(extended.get(wanted_name, []), seen_to, before)
        reached[binding][wanted_name] = max(seen_to, before - 1)
        for position in {binding, *extensions} - kept:
            kept.add(position)
            want(statements[position].reads_now, position)
            want(statements[position].reads_later, len(statements))
    return kept


def _positions(statements: list[_Statement]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """By name, in their order: the statements that bind it, and those that extend it."""
    bound: dict[str, list[int]] = {}
    extended: dict[str, list[int]] = {}
    for position, statement in enumerate(statements):
        for name in statement.binds:
            bound.setdefault(name, []).append(position)
        for name in statement.extends:
            extended.setdefault(name, []).append(position)
    return bound, extended


def _last(positions: list[int], before: int) -> int | None:
    at = bisect_left(positions, before)
    return positions[at - 1] if at else None


def _between(positions: list[int], after: int, before: int) -> list[int]:
    return positions[bisect_right(positions, after) : bisect_left(positions, before)]


def _statements(sources: list[str]) -> list[_Statement]:
    found: list[_Statement] = []
    imported: set[str] = set()
    for number, source in enumerate(sources):
        try:
            parts = described(number, source)
        except UNREADABLE:  # of use only if nothing else binds the name; then `_explain_absence` says so
            continue
        for node, statement in parts:
            found.append(statement)
            if isinstance(node, ast.Import | ast.ImportFrom):
                imported |= statement.binds
    # `@njit def g` doesn't change `njit`: only what the notebook itself made is extended by decorating or assigning.
    return [replace(statement, extends=statement.extends - imported) for statement in found]


@lru_cache(maxsize=256)  # the exercises of a notebook have the same cells
def described(number: int, source: str) -> list[tuple[ast.stmt, _Statement]]:
    """The statements of a cell, or one of UNREADABLE."""
    if len(source) > LONGEST_CELL:
        raise ValueError(f"{len(source):,} characters are more than a cell can have here ({LONGEST_CELL:,})")
    lines = _lines(source)
    body = ast.parse(source).body
    return [(node, _describe(number, index, node, _segment(lines, node))) for index, node in enumerate(body)]


def _describe(cell: int, index: int, node: ast.stmt, source: str) -> _Statement:
    table = symtable.symtable(source, "cell", "exec")
    binds = {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()}
    now = {s.get_name() for s in table.get_symbols() if s.is_referenced()}
    later: set[str] = set()
    for child in table.get_children():
        names = _global_names(child)
        later |= names
        if child.get_type() == "class" or child.get_name() in COMPREHENSIONS:
            now |= names  # of a class its body, whose methods may well be called before the cell ends
    return _Statement(cell, index, frozenset(binds), frozenset(now), frozenset(later), frozenset(_extended(node)))


def _global_names(table: symtable.SymbolTable) -> set[str]:
    names = {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return names.union(*map(_global_names, table.get_children()))


def _extended(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return {_root(decorator) for decorator in node.decorator_list} - {""}
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign):
        targets = [node.target]
    return {_root(target) for target in targets if not isinstance(target, ast.Name)} - {""}


def _root(expression: ast.expr) -> str:
    """The name at the left end of `table[key]`, `module.attribute` or `register(op)`."""
    while isinstance(expression, ast.Subscript | ast.Attribute | ast.Call):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _lines(source: str) -> list[bytes]:
    """The lines as the parser counts them, in UTF-8, in which it counts columns."""
    return source.encode().replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def _segment(lines: list[bytes], node: ast.stmt) -> str:
    """The statement's text, decorators included (a function's own place begins at `def`)."""
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(d.lineno for d in decorators)])
    text = lines[first - 1 : node.end_lineno]
    text[-1] = text[-1][: node.end_col_offset]
    if first == node.lineno:
        text[0] = text[0][node.col_offset :]
    return b"\n".join(text).decode()


def _explain_absence(name: str, sources: list[str]) -> None:
    for number, source in enumerate(sources, 1):
        try:
            described(number, source)
        except UNREADABLE as error:
            if name in source:
                raise CellSyntaxError(_why(error, number)) from error
    raise LookupError(f"no cell run so far defines `{name}`")


def _why(error: Exception, number: int) -> str:
    """What is wrong with a cell."""
    if isinstance(error, SyntaxError):
        return f"{error.msg} in cell {number}, line {error.lineno}: {(error.text or '').strip()}"
    if isinstance(error, UnicodeEncodeError):
        return f"cell {number} holds half of a character ({error.object[error.start]!r}), which no text can"
    if isinstance(error, RecursionError | MemoryError):
        return f"cell {number} is nested too deeply for Python's parser"
    return f"cell {number} can't be read: {error}"
