"""Tells einops about our tensors as soon as a program imports einops, and not before.

>>> import importlib.util, sys
>>> watch()
>>> isinstance(sys.meta_path[0], EinopsFinder) or "einops" in sys.modules or importlib.util.find_spec("einops") is None
True
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def watch() -> None:
    """From now on, `import einops` also registers the backend."""
    if "einops" in sys.modules:
        register()
    elif not any(isinstance(finder, EinopsFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, EinopsFinder())


def register() -> None:
    """Makes our backend known: einops finds it as a subclass of its own AbstractBackend."""
    importlib.import_module("minitorch_compile.interop.einops_backend")


class EinopsFinder(MetaPathFinder):
    """Answers once, when einops is first imported: with what the other finders say, and the backend after it."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "einops":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return None
        spec.loader = _ThenRegister(spec.loader)
        return spec


class _ThenRegister(Loader):
    """Another loader, with a call after it."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        register()
