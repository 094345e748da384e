"""The attributes that a program hung on a tensor: what `vars(x)` shows, and a subclass gives on to another tensor.

What a tensor is (its storage, sizes, strides, ...) is kept in the same place and not shown.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> x.label = "first"
>>> vars(x)
{'label': 'first'}
>>> vars(x)["label"] = "second"
>>> x.label
'second'
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase, kept_by

# What tensors keep that is not the user's: `_dual` is the tangent of forward mode, `_dynamo_marks` which sizes change.
OWN_ATTRIBUTES = frozenset((*TensorBase.__annotations__, "_dual", "_dynamo_marks"))


class AttributesOf(dict[str, Any]):
    """The attributes of a tensor as they are now; what is changed here, is changed there."""

    __slots__ = ("_kept",)

    def __init__(self, tensor: TensorBase) -> None:
        self._kept = kept_by(tensor)
        super().__init__({name: value for name, value in self._kept.items() if name not in OWN_ATTRIBUTES})

    def __setitem__(self, name: str, value: Any) -> None:
        self._kept[name] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        del self._kept[name]

    def __ior__(self, others: Mapping[str, Any]) -> AttributesOf:  # type: ignore[override,misc]
        self.update(others)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def pop(self, name: str, *default: Any) -> Any:
        value = super().pop(name, *default)
        if name not in OWN_ATTRIBUTES:
            self._kept.pop(name, None)
        return value

    # A dict's own would go past the two above.
    popitem = MutableMapping.popitem
    clear = MutableMapping.clear
    update = MutableMapping.update
    setdefault = MutableMapping.setdefault


class WithOwnAttributes(TensorBase):
    """The part of Tensor that is its `__dict__`."""

    @property
    def __dict__(self) -> dict[str, Any]:
        """The attributes that a program set."""
        return AttributesOf(self)

    @__dict__.setter
    def __dict__(self, attributes: Mapping[str, Any]) -> None:
        shown = AttributesOf(self)
        shown.clear()
        shown.update(attributes)
