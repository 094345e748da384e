"""Counts in how many files of PyTorch programs each public name is used: `tools/count_names.py FOLDER ... > FILE`.

`most_used_names.json` is what it said of the sources of PyTorch's tutorials and examples, the models of torchvision and
timm, and nine libraries and programs written on PyTorch, equal files counted once; the names that are here, the most
used first. It decides whose docstrings have arguments and an example (tests/tooling/test_examples.py).

Only the text is looked at. `nn.Linear` is a name by the file's imports. `x.view(...)` counts as Tensor's method if
Tensor has one of that name and `x` is neither imported nor a text; so methods of other classes count, too. What one
declaration makes a function, a method and a method in place is counted together.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minitorch_compile as torch
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op

MOST = 300
METHOD = "torch.Tensor"
OWNERS = (
    (METHOD, torch.Tensor),
    ("torch.nn.Module", torch.nn.Module),
    ("torch.optim.Optimizer", torch.optim.Optimizer),
)
PLACES = (
    ("torch.optim", torch.optim),
    ("torch.distributions", torch.distributions),
    ("torch.nn", torch.nn),
    ("torch.nn.functional", torch.nn.functional),
    ("torch", torch),
)
# What only answers for other machines, leads to TorchScript, or is private; and the corners of distributions.
NOT_COUNTED = re.compile(
    r"torch\.(_|accelerator|cuda|distributed|futures|jit|multiprocessing|nn\.(parallel|DataParallel)|utils\.data\.distributed)"
    r"|torch\.distributions\.(constraints|transforms)\.|.*\._|torch\.(Tensor|\w+Tensor)$"
)
# Methods of dicts, lists, texts, files and modules, far more often than of tensors.
METHODS_OF_OTHERS = """
    add append apply clear copy count format get index insert items join keys open pop put read remove replace set sort
    split strip update values write
""".split()  # noqa: SIM905


def programs(folders: list[str]) -> Iterator[str]:
    """The sources of all programs, equal ones once; of a notebook its cells of code."""
    seen = set()
    for file in sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file()):
        if file.suffix not in (".py", ".ipynb"):
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix == ".ipynb":
            cells = (cell for cell in json.loads(text).get("cells", []) if cell["cell_type"] == "code")
            lines = "\n".join("".join(cell["source"]) for cell in cells).split("\n")
            text = "\n".join(line for line in lines if not line.lstrip().startswith(("!", "%")))
        digest = hashlib.sha256(text.encode()).digest()
        if "torch" in text and digest not in seen:
            seen.add(digest)
            yield text


def imported(tree: ast.AST) -> dict[str, str]:
    """What the names of a file stand for, by its imports."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.partition(".")[0]] = (
                    alias.name if alias.asname else alias.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return names


def names_used(tree: ast.AST) -> set[str]:
    """The names of PyTorch that a file uses, as `torch.nn.Linear` and `torch.Tensor.view`."""
    places = imported(tree)
    used = {place for place in places.values() if place.startswith("torch.")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            path = dotted(node)
            if path and path[0] in places:
                used.add(".".join([places[path[0]], *path[1:]]))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            path = dotted(node.func)
            known = bool(path) and path[0] in places
            if not known and not isinstance(node.func.value, ast.Constant) and node.func.attr not in METHODS_OF_OTHERS:
                used.add(f"torch.Tensor.{node.func.attr}")
    return used


def dotted(node: ast.expr) -> list[str]:
    """`a.b.c` in its parts; nothing for what is no such path."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []


def counted(folders: list[str]) -> Counter[str]:
    """By name, in how many programs it is."""
    total: Counter[str] = Counter()
    for text in programs(folders):
        try:
            tree = ast.parse(text)
        except SyntaxError:  # a program for Python 2, or a page with holes
            continue
        total.update({one for name in names_used(tree) if (one := one_name(name))})
    return total


def one_name(name: str) -> str:
    """The name under which an object is documented: of a method that is a function, too, the function's, and of one
    that writes in place, that of what it writes. "" for what can't be called, isn't there or isn't counted."""
    space, _, last = name.rpartition(".")
    if not name.startswith("torch.") or NOT_COUNTED.match(name):
        return ""
    if space == METHOD:
        if (op := ops.table.get(last)) and hasattr(torch.Tensor, last):
            return name_of_op(op)
        return next((f"{owner}.{last}" for owner, kind in OWNERS if callable(getattr(kind, last, None))), "")
    value: Any = torch
    for part in name.split(".")[1:]:
        value = getattr(value, part, None)
    if inspect.ismodule(value) or not callable(value):
        return ""
    if isinstance(value, Op):
        return name_of_op(value)
    return next((f"{place}.{last}" for place, kind in PLACES if getattr(kind, last, None) is value), name)


def name_of_op(op: Op) -> str:
    """Where a program finds an op; of one that has a form in place, the form that hasn't."""
    plain = ops.table.get(op.name.removesuffix("_"), op)
    op = plain if plain.kernel is op.kernel else op
    name = op.name.rpartition(".")[2]
    for space in ("linalg", "fft", "special"):
        if space in op.namespaces:
            return f"torch.{space}.{name.removeprefix(f'{space}_')}"
    if "torch" in op.namespaces:
        return f"torch.{name}"
    if "functional" in op.namespaces:
        return f"torch.nn.functional.{name}"
    return f"{METHOD}.{name}" if hasattr(torch.Tensor, name) else f"{METHOD}.{name}_"


if __name__ == "__main__":
    rows = counted(sys.argv[1:]).most_common(MOST)
    print("{\n" + ",\n".join(f"  {json.dumps(name)}: {count}" for name, count in rows) + "\n}")
