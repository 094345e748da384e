"""Makes a failing program small: statements go, blocks give way to their contents, expressions to their parts.

>>> print(shrunk("a = 1\\nif a:\\n    b = f(2)\\nc = 3", lambda text: "f(" in text and "2" in text))
f(2)
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator

SIMPLE = ("None", "0", "[]")


def shrunk(source: str, still_fails: Callable[[str], bool], most: int = 2000) -> str:
    """The smallest program found that still fails, after at most so many attempts."""
    attempts = 0
    improved = True
    while improved and attempts < most:
        improved = False
        for candidate in _smaller(source):
            attempts += 1
            if attempts >= most:
                break
            if still_fails(candidate):
                source, improved = candidate, True
                break
    return source


def _smaller(source: str) -> Iterator[str]:
    """Programs with one thing less, the biggest cuts first."""
    count = sum(1 for _ in ast.walk(ast.parse(source)))
    for edit in (_drop_statement, _unwrap_block, _simplify_expression):
        for index in range(count):
            tree = ast.parse(source)
            node = list(ast.walk(tree))[index]
            for text in edit(tree, node):
                if text != source:
                    yield text


def _text(tree: ast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(tree))


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    found = [getattr(node, name, None) for name in ("body", "orelse", "finalbody")]
    return [block for block in found if isinstance(block, list) and block and isinstance(block[0], ast.stmt)]


def _drop_statement(tree: ast.Module, node: ast.AST) -> Iterator[str]:
    for block in _blocks(node):
        for position in range(len(block)):
            removed = block.pop(position)
            if not block and not isinstance(node, ast.Module):
                block.append(ast.Pass())
                if not isinstance(removed, ast.Pass):
                    yield _text(tree)
                block.pop()
            else:
                yield _text(tree)
            block.insert(position, removed)
    for name in ("handlers", "cases", "items", "orelse", "finalbody"):
        part = getattr(node, name, None)
        if isinstance(part, list) and part and (name in ("orelse", "finalbody") or len(part) > 1):
            removed = part.pop()
            yield from _if_python(tree)
            part.append(removed)


def _unwrap_block(tree: ast.Module, node: ast.AST) -> Iterator[str]:
    for block in _blocks(node):
        for position, statement in enumerate(block):
            for inner in [] if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else _blocks(statement):
                block[position : position + 1] = inner
                yield from _if_python(tree)
                block[position : position + len(inner)] = [statement]


def _simplify_expression(tree: ast.Module, node: ast.AST) -> Iterator[str]:
    for name, value in ast.iter_fields(node):
        if isinstance(value, ast.expr) and not isinstance(getattr(value, "ctx", None), (ast.Store, ast.Del)):
            for simpler in _simpler(value):
                setattr(node, name, simpler)
                yield from _if_python(tree)
            setattr(node, name, value)
        elif isinstance(value, list) and value and isinstance(value[0], (ast.expr, ast.keyword)):
            yield from _simplify_list(tree, value)


def _simplify_list(tree: ast.Module, values: list[ast.AST]) -> Iterator[str]:
    for position, value in enumerate(list(values)):
        del values[position]
        yield from _if_python(tree)
        values.insert(position, value)
        for simpler in _simpler(value) if isinstance(value, ast.expr) else ():
            values[position] = simpler
            yield from _if_python(tree)
        values[position] = value


def _simpler(value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(value, (ast.Name, ast.Constant)):
        return
    yield from (part for part in ast.iter_child_nodes(value) if isinstance(part, ast.expr))
    yield from (ast.parse(text, mode="eval").body for text in SIMPLE if text != ast.unparse(value))


def _if_python(tree: ast.Module) -> Iterator[str]:
    try:
        text = _text(tree)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # `[]()` is odd, and may be what fails
            compile(text, "<smaller>", "exec")
    except (SyntaxError, ValueError, AttributeError, TypeError):
        return
    yield text
