"""Where vmap, which stands a floor above, says what a `Function` is on a batch.

>>> import minitorch_compile as torch
>>> callable(registered_vmap())
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Apply = Callable[[Any, Sequence[Any]], Any]
"""The Function and its arguments, examples of a batch among them, to what `apply` returns."""

slot: list[Apply] = []  # empty until func is imported


def register_vmap(apply: Apply) -> None:
    """Installs it, once, when func is imported."""
    slot[:] = [apply]


def registered_vmap() -> Apply:
    """What applies a Function to examples. RuntimeError before func was imported, which `import minitorch_compile`
    does."""
    if not slot:
        raise RuntimeError("vmap is not loaded; import minitorch_compile first")
    return slot[0]
