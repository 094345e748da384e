"""PyTorch's modules of options, such as `torch._dynamo.config`: names for options that are kept elsewhere.

A name has a place where it is kept; or it is always the same here, and a program that sets it to something else is
warned; or nothing that a program gets depends on it, and it keeps what it is given.

>>> kept = {"limit": 8}
>>> limit = Place(lambda: kept["limit"], lambda value: kept.update(limit=value))
>>> config = ModuleType("config")
>>> config.__class__ = OptionModule
>>> config.option_names = OptionNames("torch.config", {"limit": limit}, {"guards": True}, {"triton.tiles": None})
>>> with config.option_names.patch(limit=2):
...     config.limit, kept
(2, {'limit': 2})
>>> config.triton.tiles = 4
>>> config.triton.tiles, config.limit
(4, 8)
>>> config.limt
Traceback (most recent call last):
AttributeError: torch.config.limt does not exist. Did you mean 'limit'?
"""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from minitorch_compile import config
from minitorch_compile.user_warnings import warn_user


@dataclass(frozen=True)
class Place:
    """Where an option is kept."""

    read: Callable[[], Any]
    write: Callable[[Any], None]

    @classmethod
    def in_config(cls, name: str) -> Place:
        """The option of that name of `minitorch_compile.config`."""
        return cls(lambda: getattr(config, name), lambda value: setattr(config, name, value))


class OptionNames:
    """The options of one module: `places`, what is `always` so, and what is `unused`, with its defaults."""

    def __init__(
        self, path: str, places: Mapping[str, Place], always: Mapping[str, Any], unused: Mapping[str, Any]
    ) -> None:
        self.path = path
        self.places = places
        self.always = always
        self.kept = {**unused, **always}
        self.groups = {name.rpartition(".")[0] for name in (*places, *self.kept)} - {""}
        self.deleted: set[str] = set()  # mock.patch deletes a name, and then sets it to what it was

    def __iter__(self) -> Iterator[str]:
        return iter((*self.places, *(name for name in self.kept if name not in self.places)))

    def get(self, name: str) -> Any:
        """The value. AttributeError for an unknown name."""
        if name in self.groups:
            return OptionGroup(self, name)
        if name in self.deleted:
            raise self._unknown(name)
        if name in self.places:
            return self.places[name].read()
        if name not in self.kept:
            raise self._unknown(name)
        return self.kept[name]

    def set(self, name: str, value: Any) -> None:
        """Sets it; a warning where it is always the same."""
        if name in self.places:
            self.places[name].write(value)
        elif name not in self.kept:
            raise self._unknown(name)
        else:
            if name in self.always and value != self.always[name]:
                always = self.always[name]
                warn_user(f"{self.path}.{name} is always {always!r} here: {value!r} has no effect.")
            self.kept[name] = value
        self.deleted.discard(name)

    def delete(self, name: str) -> None:
        """It does not exist until it is set again."""
        self.get(name)
        self.deleted.add(name)

    def copy(self) -> dict[str, Any]:
        """All options with their values."""
        return {name: self.get(name) for name in self}

    def patch(self, changes: Mapping[str, Any] | str | None = None, value: Any = None, /, **named: Any) -> Any:
        """Settings for a `with` block, or for the calls of a decorated function."""
        if isinstance(changes, str):
            changes = {changes: value}
        return self._patched({**(changes or {}), **named})

    @contextlib.contextmanager
    def _patched(self, changes: Mapping[str, Any]) -> Iterator[None]:
        before = {name: self.get(name) for name in changes}  # an unknown name fails before anything is set
        try:
            for name, value in changes.items():
                self.set(name, value)
            yield
        finally:
            for name, value in before.items():
                self.set(name, value)

    def _unknown(self, name: str) -> AttributeError:
        close = difflib.get_close_matches(name, list(self), 1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        return AttributeError(f"{self.path}.{name} does not exist.{hint}")


class OptionModule(ModuleType):
    """The class of a module whose attributes are the options of its `option_names`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # the import system and inspect probe for special names
            raise AttributeError(name)
        return vars(self)["option_names"].get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__") or name in vars(self) or name == "option_names":
            super().__setattr__(name, value)
        else:
            vars(self)["option_names"].set(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self)["option_names"].delete(name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *vars(self)["option_names"]})


class OptionGroup:
    """The options that begin with a word and a dot: `config.triton` of `triton.cudagraphs`."""

    def __init__(self, names: OptionNames, name: str) -> None:
        vars(self).update(_names=names, _name=name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._names.get(f"{self._name}.{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._names.set(f"{self._name}.{name}", value)

    def __delattr__(self, name: str) -> None:
        self._names.delete(f"{self._name}.{name}")
