"""Dispatch keys, as far as programs name them: where an implementation belongs, and what is left out for a while.

PyTorch finds the kernel of a call by the highest of its keys. Here each layer asks for itself, so a set of keys says
something in one place only: a custom op's implementation under autocast switches autocast off by them.

>>> from minitorch_compile import amp, ones
>>> keys = DispatchKeySet(DispatchKey.AutocastCPU) | DispatchKeySet(DispatchKey.AutocastCUDA)
>>> with amp.autocast("cpu"), _ExcludeDispatchKeyGuard(keys):
...     (ones(2, 2) @ ones(2, 2)).dtype
torch.float32
"""

from __future__ import annotations

import enum
from collections.abc import Iterable

from minitorch_compile.amp import autocast_state


class DispatchKey(enum.Enum):
    """The keys that torch.library knows: devices, autograd, autocast."""

    CPU = enum.auto()
    CUDA = enum.auto()
    XPU = enum.auto()
    MPS = enum.auto()
    Meta = enum.auto()
    Autograd = enum.auto()
    AutogradCPU = enum.auto()
    CompositeExplicitAutograd = enum.auto()
    CompositeImplicitAutograd = enum.auto()
    AutocastCPU = enum.auto()
    AutocastCUDA = enum.auto()
    AutocastXPU = enum.auto()
    AutocastMPS = enum.auto()


class DispatchKeySet:
    """Some keys. `a | b`, `a & b` and `a - b` are sets again."""

    def __init__(self, keys: DispatchKey | Iterable[DispatchKey] = ()) -> None:
        self._keys = frozenset([keys] if isinstance(keys, DispatchKey) else keys)

    def has(self, k: DispatchKey) -> bool:
        """Whether the key is among them."""
        return k in self._keys

    def add(self, k: DispatchKey) -> DispatchKeySet:
        """With one more."""
        return DispatchKeySet(self._keys | {k})

    def remove(self, k: DispatchKey) -> DispatchKeySet:
        """Without one."""
        return DispatchKeySet(self._keys - {k})

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(key.name for key in DispatchKey if key in self._keys)})"


SWITCHED_BY = {"cpu": DispatchKey.AutocastCPU, "cuda": DispatchKey.AutocastCUDA}


class _ExcludeDispatchKeyGuard:  # PyTorch's name
    """`with` it, autocast is off if its key is in the set. NotImplementedError for keys of anything else."""

    def __init__(self, keys: DispatchKeySet) -> None:
        others = [key.name for key in DispatchKey if keys.has(key) and not key.name.startswith("Autocast")]
        if others:
            raise NotImplementedError(
                f"_ExcludeDispatchKeyGuard: only autocast can be left out by its key, but got {', '.join(others)};"
                " for autograd use torch.no_grad()"
            )
        self._left_out = [name for name, key in SWITCHED_BY.items() if keys.has(key)]
        self._before: list[list[tuple[str, bool]]] = []

    def __enter__(self) -> None:
        switches = autocast_state.state.switches
        self._before.append([(name, switches[name].enabled) for name in self._left_out])
        for name in self._left_out:
            autocast_state.switch(name, False, switches[name].dtype)

    def __exit__(self, *of_error: object) -> None:
        for name, enabled in self._before.pop():
            autocast_state.switch(name, enabled, autocast_state.state.switches[name].dtype)
