"""A container as its built-in class sees it, past the methods that a subclass overrides.

Guards, and the generated code that does changes again, look at what is *in* a container. They must not run a
`__len__` or `__setitem__` of the program: what those do was traced, and the program runs them as often as plain Python
does. So the path of a container's contents goes through a view that asks the built-in class.

>>> class Loud(dict):
...     def __setitem__(self, key, value):
...         print("set", key)
...         super().__setitem__(key, value)
>>> loud = Loud(a=1)
>>> below(dict)(loud)["b"] = 2
>>> "b" in below(dict)(loud), len(below(dict)(loud)), list(below(dict)(loud).items())
(True, 2, [('a', 1), ('b', 2)])
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from minitorch_compile.dynamo.guards.source import ChainedSource

FACTORY: Any = vars(collections.defaultdict)["default_factory"]


class Below:
    """The view. `base` is the built-in class of `real`."""

    __slots__ = ("base", "real")

    def __init__(self, base: Any, real: Any) -> None:
        self.base = base
        self.real = real

    def __len__(self) -> int:
        return self.base.__len__(self.real)

    def __iter__(self) -> Iterator[Any]:
        return self.base.__iter__(self.real)

    def __contains__(self, item: object) -> bool:
        return self.base.__contains__(self.real, item)

    def __getitem__(self, key: Any) -> Any:
        if issubclass(self.base, dict) and not dict.__contains__(self.real, key):
            raise KeyError(key)  # dict.__getitem__ would ask `__missing__`
        return self.base.__getitem__(self.real, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.base.__setitem__(self.real, key, value)

    def __delitem__(self, key: Any) -> None:
        self.base.__delitem__(self.real, key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name).__get__(self.real, type(self.real))


@functools.cache
def below(base: type) -> Callable[[Any], Below]:
    """Makes views for containers of this built-in class."""
    return functools.partial(Below, base)


def made(cls: Any, base: Any, items: Any, factory: Any = None) -> Any:
    """A new container of class `cls` that holds the items, without running methods of the class.

    >>> class Loud(collections.OrderedDict):
    ...     def __setitem__(self, key, value):
    ...         print("set", key)
    >>> made(Loud, collections.OrderedDict, {"a": 1})
    Loud([('a', 1)])
    """
    fresh = base.__new__(cls)
    _fill(fresh, base, items)
    if base is collections.defaultdict:
        FACTORY.__set__(fresh, factory)
    return fresh


def _fill(fresh: Any, base: Any, items: Mapping[Any, Any] | Iterable[Any]) -> None:
    if isinstance(items, Mapping):
        for key, value in items.items():
            base.__setitem__(fresh, key, value)
    else:
        base.extend(fresh, items)


@dataclass(frozen=True)
class BelowSource(ChainedSource):
    """The contents of the container at `origin`; `view` is the name under which generated code has `below(base)`."""

    view: str

    def read(self, base: str) -> str:
        return f"{self.view}({base})"
