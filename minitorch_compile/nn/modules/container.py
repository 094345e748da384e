"""Modules that hold modules.

>>> from minitorch_compile import nn
>>> nn.Sequential(nn.Linear(2, 3), nn.ReLU())
Sequential(
  (0): Linear(in_features=2, out_features=3, bias=True)
  (1): ReLU()
)
"""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from minitorch_compile.nn.module import Module


class _Listed(Module):
    """Modules under the names "0", "1", ..., indexed like a list."""

    def _name_at(self, index: int) -> str:
        index = operator.index(index)
        count = len(self._modules)
        if not -count <= index < count:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return self._of_items(dict(list(self._modules.items())[index]))
        return self._modules[self._name_at(index)]

    def _of_items(self, items: dict[str, Any]) -> Any:
        """A container of the same class with some of the modules."""
        return type(self)(items.values())

    def __setitem__(self, index: int, module: Module) -> None:
        setattr(self, self._name_at(index), module)

    def __delitem__(self, index: int | slice) -> None:
        names = list(self._modules)
        for name in names[index] if isinstance(index, slice) else [self._name_at(index)]:
            delattr(self, name)
        self._renumber(self._modules.values())

    def _renumber(self, modules: Iterable[Module]) -> None:
        """Makes these the modules, under the names "0", "1", ..."""
        numbered = {str(i): module for i, module in enumerate(modules)}
        self._modules.clear()
        self._modules.update(numbered)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Any:
        """Adds a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Adds modules at the end."""
        for module in list(modules):
            self.append(module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Takes a module out."""
        module = self[key]
        del self[key]
        return module


class Sequential(_Listed):
    """Modules that are called one after another, each on the result of the one before.

    Given one by one, or as an OrderedDict with their names.

    `args`: the modules. They can be indexed, cut and counted like a list.

    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    >>> model(torch.ones(5, 4)).shape, len(model), model[1]
    (torch.Size([5, 2]), 3, ReLU())
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for index, module in enumerate(args):
                self.add_module(str(index), module)

    def _of_items(self, items: dict[str, Any]) -> Any:
        return type(self)(OrderedDict(items))

    def insert(self, index: int, module: Module) -> Sequential:
        """Adds a module before another."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def __add__(self, other: Iterable[Module]) -> Sequential:
        self._check_sequential(other, "add")
        return Sequential(*self, *other)

    def __iadd__(self, other: Iterable[Module]) -> Sequential:
        self._check_sequential(other, "add")
        return self.extend(other)

    def _check_sequential(self, other: Any, what: str) -> None:
        if not isinstance(other, Sequential):
            raise ValueError(f"{what} operator supports only objects of Sequential class, but {type(other)} is given.")

    def __mul__(self, other: int) -> Sequential:
        """The same modules several times one after another."""
        return Sequential(*list(self) * self._times(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Sequential:
        return self.extend(list(self) * (self._times(other) - 1))

    def _times(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other

    def forward(self, input: Any) -> Any:
        for module in self:
            input = module(input)
        return input


class ModuleList(_Listed):
    """A list of `modules`, so that their parameters are found. It has no forward.

    >>> layers = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(3)])
    >>> layers.append(torch.nn.ReLU())[-1], len(list(layers.parameters()))
    (ReLU(), 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self += modules

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Adds modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        return super().extend(modules)

    def insert(self, index: int, module: Module) -> None:
        """Adds a module before another."""
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def __iadd__(self, other: Iterable[Module]) -> ModuleList:
        return self.extend(other)

    def __repr__(self) -> str:
        """Equal modules in a row are printed once, with their number."""
        if not len(self):
            return f"{self._get_name()}()"
        lines, first = [], 0
        for text, group in itertools.groupby(repr(module) for module in self):
            count = len(list(group))
            text = text.replace("\n", "\n  ")
            last = first + count - 1
            lines.append(f"({first}): {text}" if count == 1 else f"({first}-{last}): {count} x {text}")
            first += count
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """Modules by name, so that their parameters are found. It has no forward. `modules`: a dict, or pairs.

    >>> layers = torch.nn.ModuleDict({"act": torch.nn.ReLU()})
    >>> layers["act"], "act" in layers
    (ReLU(), True)
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds or replaces modules."""
        for name, module in named_pairs(self, modules):
            self[name] = module

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """The modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names with the modules."""
        return self._modules.items()

    def pop(self, key: str) -> Any:
        """Takes a module out."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Takes all modules out."""
        self._modules.clear()


def named_pairs(container: Module, items: Any) -> Iterable[tuple[str, Any]]:
    """The (name, value) pairs of a mapping, of a ModuleDict, or of an iterable of pairs."""
    what = type(container).__name__
    if not isinstance(items, Iterable):
        raise TypeError(
            f"{what}.update should be called with an iterable of key/value pairs, but got {type(items).__name__}"
        )
    if hasattr(items, "items"):
        return list(items.items())
    pairs = list(items)
    for i, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{what} update sequence element #{i} should be Iterable; is {type(pair).__name__}")
        if len(list(pair)) != 2:
            raise ValueError(f"{what} update sequence element #{i} has length {len(list(pair))}; 2 is required")
    return pairs
