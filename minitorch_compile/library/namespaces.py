"""torch.ops.mylib: the ops of a namespace as attributes.

>>> from minitorch_compile.library import custom_op
>>> from minitorch_compile.tensor import Tensor, ones
>>> @custom_op("docs::minus", mutates_args=())
... def minus(x: Tensor) -> Tensor:
...     return -x
>>> spaces["docs"].minus.default(ones(2))
tensor([-1., -1.])
>>> spaces["docs"].plus
Traceback (most recent call last):
AttributeError: '_OpNamespace' 'docs' object has no attribute 'plus'
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

registry: dict[str, Any] = {}  # "namespace::name" -> CustomOpDef
spaces: dict[str, OpNamespace] = {}
_shown_in: list[dict[str, Any]] = []


class OpNamespace(ModuleType):
    """Has all ops whose names begin with its own. A module, as in PyTorch."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'_OpNamespace' '{self.__name__}' object has no attribute '{name}'")

    def __repr__(self) -> str:
        return f"<module 'torch.ops.{self.__name__}' from 'torch.ops'>"


def enter(qualname: str, op: Any) -> None:
    """From now on this op has the name."""
    registry[qualname] = op
    show(qualname, op)


def show(qualname: str, op: Any) -> None:
    """Makes it an attribute of its namespace."""
    space, _, name = qualname.partition("::")
    if space not in spaces:
        spaces[space] = OpNamespace(space)
        for scope in _shown_in:
            scope.setdefault(space, spaces[space])
    setattr(spaces[space], name, op)


def leave(qualname: str) -> None:
    """There is no op of this name any more."""
    if registry.pop(qualname, None) is not None:
        space, _, name = qualname.partition("::")
        delattr(spaces[space], name)


def show_in(scope: dict[str, Any]) -> None:
    """Puts every namespace, also those to come, among the names of a module: torch.ops."""
    _shown_in.append(scope)
    scope.update(spaces)
