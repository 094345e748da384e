"""Where the compiler, which stands floors above, puts `compile` for `Module.compile()` to find.

>>> import minitorch_compile as torch
>>> registered_compiler() is torch.compile
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

COMPILED_BEFORE = "_dynamo_regions"  # where a module or function keeps what it was compiled to

_compiler: list[Callable[..., Any]] = []


def register_compiler(compile: Callable[..., Any]) -> None:
    """Sets what Module.compile() compiles with."""
    _compiler[:] = [compile]


def registered_compiler() -> Callable[..., Any]:
    """The compiler. RuntimeError before its floor was imported, which `import minitorch_compile` does."""
    if not _compiler:
        raise RuntimeError("Module.compile: the compiler's floor is not loaded; import minitorch_compile first")
    return _compiler[0]
