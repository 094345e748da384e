"""Where the floor of function transforms, which stands above this one, puts `vmap` for flex_attention to find.

>>> import minitorch_compile as torch
>>> registered_vmap() is torch.vmap
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_vmap: list[Callable[..., Any]] = []


def register_vmap(vmap: Callable[..., Any]) -> None:
    """Sets what makes a function of a place one of all places."""
    _vmap[:] = [vmap]


def registered_vmap() -> Callable[..., Any]:
    """vmap. RuntimeError before its floor was imported, which `import minitorch_compile` does."""
    if not _vmap:
        raise RuntimeError("flex_attention: the floor of vmap is not loaded; import minitorch_compile first")
    return _vmap[0]
