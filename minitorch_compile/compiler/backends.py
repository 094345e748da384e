"""The registry of backends: a backend turns a captured graph into something that can be called.

A backend is any callable `(graph_module, example_inputs) -> callable`. The example inputs are fake tensors: they tell
sizes, strides and dtypes, and hold no data. What it returns takes the real tensors and gives a tuple of results.

>>> @register_backend
... def shouting(graph_module, example_inputs):
...     print(f"compiling {len(graph_module.graph.nodes)} nodes")
...     return graph_module
>>> "shouting" in list_backends()
True
>>> lookup_backend("shouting") is shouting
True
>>> unregister_backend("shouting")
>>> lookup_backend("inducter")
Traceback (most recent call last):
minitorch_compile.dynamo.errors.InvalidBackend: compile: no backend named 'inducter'. Did you mean 'inductor'? ...

Source: torch/_dynamo/backends/registry.py.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.dynamo.errors import InvalidBackend

Backend = Callable[[Any, list[Any]], Callable[..., Any]]

_backends: dict[str, Backend] = {}
_tags: dict[str, frozenset[str]] = {}


def register_backend(compiler_fn: Backend | None = None, name: str | None = None, tags: Sequence[str] = ()) -> Any:
    """Enters a backend under its function's name, or under `name`. A decorator, with or without arguments.

    TypeError unless it is callable; ValueError if the name is taken by another.
    """
    if compiler_fn is None:
        return lambda fn: register_backend(fn, name, tags)
    if not callable(compiler_fn):
        raise TypeError(f"register_backend: compiler_fn must be callable, got {type(compiler_fn).__name__}")
    key = name or compiler_fn.__name__
    if _backends.get(key, compiler_fn) is not compiler_fn:
        raise ValueError(f"register_backend: the name {key!r} is taken; pass another name=")
    _backends[key] = compiler_fn
    _tags[key] = frozenset(tags)
    return compiler_fn


def unregister_backend(name: str) -> None:
    """Takes a backend out again. ValueError if there is none of that name."""
    lookup_backend(name)
    del _backends[name], _tags[name]


_default: list[str | Backend] = ["inductor"]


def get_default_backend() -> str | Backend:
    """The backend of `compile()` without one: "inductor", unless another was set."""
    return _default[0]


def set_default_backend(backend: str | Backend | None) -> None:
    """Sets the backend of `compile()` without one; None: "inductor" again. InvalidBackend for an unknown name."""
    if backend is not None:
        lookup_backend(backend)
    _default[0] = "inductor" if backend is None else backend


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names that `compile(backend=...)` accepts, sorted, without those that carry one of the tags."""
    return sorted(name for name in _backends if not _tags[name] & set(exclude_tags or ()))


def lookup_backend(compiler_fn: str | Backend) -> Backend:
    """The backend of that name; a callable is its own backend.

    InvalidBackend, a ValueError that lists the names, for an unknown one; TypeError for what is neither a name nor
    callable.
    """
    if callable(compiler_fn):
        return compiler_fn
    if not isinstance(compiler_fn, str):
        raise TypeError(
            "compile: backend must be a name or a callable (graph_module, example_inputs), got"
            f" {type(compiler_fn).__name__}"
        )
    if compiler_fn not in _backends:
        raise InvalidBackend(
            f"compile: no backend named {compiler_fn!r}. {suggestion(compiler_fn, list_backends(None))}"
        )
    return _backends[compiler_fn]


def suggestion(word: str, choices: Sequence[str]) -> str:
    """What to say about a name that isn't one of the choices."""
    close = difflib.get_close_matches(word, choices, n=1)
    hint = f"Did you mean {close[0]!r}? " if close else ""
    return f"{hint}Choose one of: {', '.join(choices)}."
