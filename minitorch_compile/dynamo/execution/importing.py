"""What `from module import ...` reads, as CPython reads it.

>>> import math
>>> import_from(math, "tau") == math.tau
True
>>> "floor" in public_names(math), "__name__" in public_names(math)
(True, False)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


def import_from(module: Any, name: str) -> Any:
    """`from module import name`: an attribute, or a submodule that is being imported."""
    missing = object()
    module_name = getattr(module, "__name__", "<unknown module name>")
    value = getattr(module, name, sys.modules.get(f"{module_name}.{name}", missing))
    if value is not missing:
        return value
    path = getattr(module, "__file__", None)
    where = path or "unknown location"
    if getattr(getattr(module, "__spec__", None), "_initializing", False):
        which = f"partially initialized module {module_name!r} (most likely due to a circular import)"
    else:
        which = repr(module_name)
    raise ImportError(f"cannot import name {name!r} from {which} ({where})", name=module_name, path=path)


def public_names(module: Any) -> Iterator[str]:
    """What `from module import *` takes: the names in `__all__`, else all that don't begin with an underscore."""
    listed: Any = getattr(module, "__all__", None)
    where = "__all__"
    if not hasattr(module, "__all__"):
        if not hasattr(module, "__dict__"):
            raise ImportError("from-import-* object has no __dict__ and no __all__")
        where, listed = "__dict__", list(module.__dict__)
    for name in listed:
        if not isinstance(name, str):
            kind = "Item in" if where == "__all__" else "Key in"
            raise TypeError(f"{kind} {module.__name__}.{where} must be str, not {type(name).__name__}")
        if where == "__all__" or not name.startswith("_"):
            yield name
