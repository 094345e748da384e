"""Reads the call sheets in `calls/`: one expression a line, with alternatives in braces.

    torch.{exp|log}(pos({3, 4|0|}))      six lines: two functions on a matrix, an empty vector, a 0-d tensor

A sheet starts with how its lines vary: `vary: layouts elements gradients`. A line that begins with `~` makes random
numbers, so only sizes, strides and dtypes can be compared.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "calls"
ALTERNATIVES = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Call:
    """One expression. `vary` says what else to try it with; `random` that its values can't be compared."""

    text: str
    sheet: str
    vary: frozenset[str]
    random: bool = False


def calls() -> Iterator[Call]:
    """All calls of all sheets."""
    for path in sorted(FOLDER.glob("*.txt")):
        yield from calls_of(path)


def calls_of(path: Path) -> Iterator[Call]:
    vary: frozenset[str] = frozenset()
    for line in path.read_text().splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith("vary:"):
            vary = frozenset(line.removeprefix("vary:").split())
        elif line:
            random, text = line.startswith("~"), line.lstrip("~ ")
            for expression in expand(text):
                yield Call(expression, path.stem, vary, random)


def expand(text: str) -> Iterator[str]:
    """The line once for each choice among its alternatives.

    >>> list(expand("{a|b}({1|})"))
    ['a(1)', 'a()', 'b(1)', 'b()']
    """
    parts = ALTERNATIVES.split(text)
    for choice in itertools.product(*(part.split("|") for part in parts[1::2])):
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(parts[::2], choice, fillvalue="")))


MAKERS = frozenset(("f", "pos", "unit", "distinct", "special", "i", "b", "c", "square", "definite"))


def with_number_tensors(text: str) -> Iterator[str]:
    """The line once for each of its numbers, with a 0-d tensor in its place; not those from which tensors are made.

    >>> list(with_number_tensors("f(3).sum(0, dtype=None) * 2"))
    ['f(3).sum(0, dtype=None) * torch.tensor(2)', 'f(3).sum(torch.tensor(0), dtype=None) * 2']
    """
    tree = ast.parse(text, mode="eval")
    made = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in MAKERS]
    within = {id(inner) for call in made for inner in ast.walk(call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) in (int, float) and id(node) not in within:
            number, node.value = node.value, "number"
            yield ast.unparse(tree).replace("'number'", f"torch.tensor({number!r})")
            node.value = number


def names_called(text: str) -> set[str]:
    """The functions and methods that an expression calls, as the op table names them.

    >>> sorted(names_called("F.relu(f(3)).add_(torch.linalg.inv(square(2)))"))
    ['F.relu', 'add_', 'inv', 'linalg_inv', 'relu']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.Subscript):
            found.add("getitem")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner, name = ast.unparse(node.func.value), node.func.attr
            found.add(name.strip("_") if name == "__setitem__" else name)
            if owner == "F":
                found.add(f"F.{name}")
            if owner.startswith("torch."):
                found.add(f"{owner.removeprefix('torch.')}_{name}")
    return found
