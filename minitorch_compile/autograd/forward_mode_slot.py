"""Where forward mode, which stands a floor above, puts its dual numbers for `gradcheck` and
`Function.apply` to find.

>>> import minitorch_compile as torch
>>> registered_forward_mode() is torch.autograd.forward_ad
True
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol


class ForwardMode(Protocol):
    """What `torch.autograd.forward_ad` offers: tensors that carry a tangent inside a level."""

    def dual_level(self) -> AbstractContextManager[int]: ...

    def make_dual(self, tensor: Any, tangent: Any) -> Any: ...

    def unpack_dual(self, tensor: Any) -> Any: ...

    def batched_tangents(self, function: Any, x: Any, tangents: Any) -> Any: ...

    def carry_tangents(self, values: Sequence[Any]) -> bool: ...

    def apply_function(self, function: Any, args: Sequence[Any]) -> Any: ...


slot: list[ForwardMode] = []  # empty until func is imported


def register_forward_mode(forward_mode: ForwardMode) -> None:
    """Installs it, once, when func is imported."""
    slot[:] = [forward_mode]


def registered_forward_mode() -> ForwardMode:
    """The dual numbers. RuntimeError before func was imported, which `import minitorch_compile` does."""
    if not slot:
        raise RuntimeError("forward mode is not loaded; import minitorch_compile first")
    return slot[0]
