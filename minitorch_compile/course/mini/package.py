"""The composed package, imported from its texts without a file: what an exercise's cases get as `mini`.

>>> files = {"__init__": "", "tensor": "# %% 01.7 twice\\ndef twice(x):\\n    return 2 * x\\n"}
>>> with imported(files, owned={"01.7"}) as mini:
...     mini.tensor.twice(21)
42
>>> learners_line("mini/tensor.py", 3)
'step 01.7, line 3: return 2 * x'
"""

from __future__ import annotations

import importlib
import linecache
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from .sections import sections

NAME = "mini"
_owned: set[str] = set()


class Package:
    """`mini.guards` imports the module at its first use. Where there is an `elsewhere`, it is that one's."""

    elsewhere: Any = None

    def __getattr__(self, file: str) -> Any:
        if file.startswith("__"):
            raise AttributeError(file)
        if self.elsewhere is not None:
            return getattr(self.elsewhere, file)
        return importlib.import_module(f"{NAME}.{file}")


class _Texts(MetaPathFinder, Loader):
    """Finds and loads modules whose text is in a dictionary."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    def find_spec(self, fullname: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        return (
            spec_from_loader(fullname, self, is_package=fullname == NAME) if self.file(fullname) in self.files else None
        )

    def create_module(self, spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        file = self.file(module.__name__)
        source, filename = self.files[file], f"{NAME}/{file}.py"
        linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
        module.__file__ = filename
        exec(compile(source, filename, "exec", dont_inherit=True), vars(module))

    @staticmethod
    def file(fullname: str) -> str:
        return "__init__" if fullname == NAME else fullname.partition(".")[2]


@contextmanager
def imported(files: Mapping[str, str], owned: Collection[str]) -> Iterator[Package]:
    """Within the block `import mini` finds these texts and no other; `owned` are the learner's steps."""
    before = forget_modules()
    finder = _Texts(files)
    sys.meta_path.insert(0, finder)
    _owned.clear()
    _owned.update(owned)
    try:
        yield Package()
    finally:
        sys.meta_path.remove(finder)
        forget_modules()
        sys.modules.update(before)


def forget_modules() -> dict[str, ModuleType]:
    """Takes `mini` out of the modules that are imported, so that the next import reads it anew."""
    names = [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]
    return {name: sys.modules.pop(name) for name in names}


def learners_line(filename: str, line: int) -> str | None:
    """A line of a composed file, told as the learner knows it; None if it is of a step that isn't the learner's."""
    if not filename.startswith(f"{NAME}/") or filename not in linecache.cache:
        return None
    at = 0
    for section in sections("".join(linecache.getlines(filename))):
        first, at = at, at + (section.marker + section.text).count("\n")
        if first < line <= at:
            said = f"step {section.number}, line {line - first}: {linecache.getline(filename, line).strip()}"
            return said if section.number in _owned else None
    return None
