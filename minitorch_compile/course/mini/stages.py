"""How far a folder with `mini` has come: which files can be imported, and which tests ask for no others.

>>> sorted(imports("from mini import ops, nothing\\nfrom mini.tensor import Tensor\\nimport mini.tape\\nimport math"))
['ops', 'tape', 'tensor']
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..files.regular_file import Unreadable, read_text
from .learner import MOST_BYTES
from .package import NAME
from .placeholder import MARK
from .reference import reference
from .sections import whole


def imports(text: str) -> set[str]:
    """The files of `mini` that a text imports, those in its functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == NAME:
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found |= _file(node.module or "")
        elif isinstance(node, ast.Import):
            found |= {file for alias in node.names for file in _file(alias.name)}
    return found & set(reference())


def _file(module: str) -> set[str]:
    package, _, file = module.partition(".")
    return {file} if package == NAME and file else set()


def files_in(folder: Path) -> dict[str, str]:
    """The texts of the files that are whole: no step is missing, and each is Python."""
    found = {}
    for file in reference():
        try:
            text = read_text(folder / f"{file}.py", MOST_BYTES)
            ast.parse(text)
        except (FileNotFoundError, Unreadable, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if MARK not in text:
            found[file] = text
    return found


def ready(texts: Mapping[str, str]) -> list[str]:
    """The files all of whose imports are there, and theirs."""
    needed = {file: imports(text) for file, text in texts.items()}
    return [file for file in texts if _all_below(file, needed) <= set(texts)]


def _all_below(file: str, needed: Mapping[str, set[str]]) -> set[str]:
    found, waiting = {file}, [file]
    while waiting:
        new = needed.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def unready_below(folder: Path, file: str) -> list[str]:
    """The files that this one stands on, in the reference, and that are not whole in the folder."""
    texts = {each: whole(parts) for each, parts in reference().items()}
    below = _all_below(file, {each: imports(text) for each, text in texts.items()}) - {file}
    return [each for each in reference() if each in below and each not in ready(files_in(folder))]


def runnable(tests: Path, files: Iterable[str]) -> list[Path]:
    """The tests that ask for no other files: by their imports, those of modules beside them, and by their names."""
    wanted = set(files)
    return [path for path in sorted(tests.glob("test_*.py")) if _asked_for(path) <= wanted]


def _asked_for(path: Path) -> set[str]:
    text = path.read_text(encoding="utf-8")
    beside = [
        path.with_name(f"{node.module}.py")
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
    ]
    named = {path.stem.removeprefix("test_")} & set(reference())
    return imports(text) | named.union(*map(_asked_for, beside))
