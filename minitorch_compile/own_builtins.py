"""Python's built-in functions as they were when the package was imported: what its code means by them.

A program may put its own `len` or `isinstance` into `builtins`. Plain Python calls it from then on, and so does what is
compiled, since the look-up is guarded. But the questions of the compiler, of its guards and of the tensor library, are
not the program's. Every module of this package, and all generated code, finds the original functions; while something
is compiled, they are in their place for the standard library, too.

>>> import builtins
>>> def lengths():
...     real, builtins.len = builtins.len, lambda items: 7
...     try:
...         with restored() as programs:
...             while_compiling = builtins.len("ab")
...         return builtins.len("ab"), programs["len"]("ab"), while_compiling
...     finally:
...         builtins.len = real
>>> lengths()
(7, 7, 2)
>>> from minitorch_compile.pytree import tree_leaves
>>> tree_leaves.__builtins__ is ORIGINAL
True
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

SCOPE = vars(builtins)
ORIGINAL = dict(SCOPE)
PACKAGE = __name__.partition(".")[0] + "."
# For the functions below, as our loader does it for those of other modules.
__builtins__ = ORIGINAL  # type: ignore[assignment]


class _Loader(SourceFileLoader):
    """Makes modules whose functions look built-in names up in a dict of our own."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        vars(module)["__builtins__"] = ORIGINAL
        return module


class _Finder(MetaPathFinder):
    """Finds the modules of this package where they are, for our loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname.startswith(PACKAGE) else None
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


sys.meta_path.insert(0, _Finder())


class restored:  # used as a function would be; one of contextlib's would call the program's `next`
    """The original functions are back in the block; gives the names as the program has them.

    Other threads see the originals, too, meanwhile.
    """

    def __enter__(self) -> Mapping[str, Any]:
        self.programs = SCOPE
        if _changed():
            self.programs = dict(SCOPE)
            SCOPE.update(ORIGINAL)
        return self.programs

    def __exit__(self, *exception: object) -> None:
        if self.programs is not SCOPE:
            for name in ORIGINAL:
                if name in self.programs:
                    SCOPE[name] = self.programs[name]
                else:
                    del SCOPE[name]


def _changed() -> bool:
    """Python itself keeps the last value of an interactive session there, as `_`."""
    missing = object()
    return any(SCOPE.get(name, missing) is not value for name, value in ORIGINAL.items() if name != "_")
