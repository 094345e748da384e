"""Modules that hold parameters, as a list or by name.

>>> from minitorch_compile import nn, ones
>>> weights = nn.ParameterList([ones(2), ones(1, 3)])
>>> weights
ParameterList(
    (0): Parameter containing: [torch.float32 of size 2]
    (1): Parameter containing: [torch.float32 of size 1x3]
)
>>> list(nn.ParameterDict({"a": ones(1)}).state_dict())
['a']
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.container import named_pairs
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor


def _as_parameter(value: Any) -> Any:
    """A tensor becomes a parameter; other values are only kept."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _line(name: Any, value: Any, of: Any) -> str:
    """One entry of the repr; `of` is what PyTorch calls the elements there."""
    if not isinstance(value, Tensor):
        return f"  ({name}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({name}): {kind} containing: [{of} of size {'x'.join(map(str, value.shape))}]"


class _Parameters(Module):
    """What both containers have in common: they aren't called, and print like a table."""

    def _entries(self) -> Iterable[tuple[Any, Any]]:
        raise NotImplementedError

    def _elements(self, value: Any) -> Any:
        return value.dtype

    def extra_repr(self) -> str:
        return "\n".join(
            _line(name, value, self._elements(value) if isinstance(value, Tensor) else None)
            for name, value in self._entries()
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self._get_name()} should not be called.")


class ParameterList(_Parameters):
    """A list of parameters. Tensors in it become parameters; other values are kept, but aren't part of the state."""

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _name_at(self, index: int) -> str:
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise IndexError(f"index {index} is out of range")
        return str(index % len(self))

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(self[i] for i in range(*index.indices(len(self))))
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def append(self, value: Any) -> ParameterList:
        """Adds a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Adds values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def _entries(self) -> Iterable[tuple[Any, Any]]:
        return enumerate(self)


class ParameterDict(_Parameters):
    """Parameters by name, in the order they came. Tensors in it become parameters; other values are kept, but aren't
    part of the state."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._names: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _checked(self, key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is"
                f" '{type(key).__name__}')."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._checked(key))

    def __setitem__(self, key: str, value: Any) -> None:
        name = self._checked(key)
        value = _as_parameter(value)
        if isinstance(value, Parameter):
            self.register_parameter(name, value)
        else:
            setattr(self, name, value)
        self._names[name] = None

    def __delitem__(self, key: str) -> None:
        del self._names[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._names))

    def __contains__(self, key: str) -> bool:
        return key in self._names

    def copy(self) -> ParameterDict:
        """Another ParameterDict of the same values."""
        return ParameterDict(self)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._names.keys()

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._names)

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names with the values."""
        return ((key, self[key]) for key in self._names)

    _entries = items

    def _elements(self, value: Any) -> Any:
        return value.type()

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401  # this is the method that it proposes

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, which is set to `default` if it isn't there."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Takes a value out."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes the last (name, value) out."""
        key = next(reversed(self))
        return key, self.pop(key)

    def clear(self) -> None:
        """Takes everything out."""
        for key in list(self._names):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Adds or replaces values, from a mapping or an iterable of pairs."""
        for key, value in named_pairs(self, parameters):
            self[key] = value

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A ParameterDict with one value under all names."""
        return ParameterDict((key, default) for key in keys)

    def __or__(self, other: Any) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> Any:
        return {**other, **dict(self.items())}

    def __ior__(self, other: Any) -> ParameterDict:
        self.update(other)
        return self
