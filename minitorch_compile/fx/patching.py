"""Functions that are replaced while a program is traced, so that their calls on proxies are seen.

A function of the program is seen if the program asked for it with `wrap`, at the top of its module:

    @fx.wrap
    def my_gelu(x): ...          # a call of it is one node

    fx.wrap("len")               # so is one of len, from that module

While tracing, the module's global of that name is a function that writes the call down if a proxy is among the
arguments. When tracing ends all is as it was, however it ended:

>>> with Patcher() as patcher:
...     patcher.patch(globals(), "max", lambda *values: "patched")
...     max(1, 2)
'patched'
>>> max(1, 2)
2
"""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

from minitorch_compile.fx.proxy import find_proxy

# What programs asked for: by the id of a module's globals and the name, these globals.
wrapped_functions: dict[tuple[int, str], dict[str, Any]] = {}
wrapped_methods: list[tuple[type, str]] = []
PATCHED = "__fx_already_patched"
_MISSING = object()


class Patcher:
    """Replaces functions, and puts all back at the end of a `with`."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], Any]] = []
        self._visited: set[int] = set()

    def patch(self, place: dict[str, Any], name: str, replacement: Callable[..., Any]) -> None:
        """Replace a module's global, or a builtin in the eyes of a module."""
        before = place.get(name, _MISSING)
        if getattr(before, PATCHED, False):
            return
        setattr(replacement, PATCHED, True)
        self._undo.append(lambda: place.pop(name) if before is _MISSING else place.__setitem__(name, before))
        place[name] = replacement

    def patch_method(self, cls: type, name: str, replacement: Callable[..., Any]) -> None:
        """Replace a method of a class, also one that it inherits."""
        before = vars(cls).get(name, _MISSING)
        self._undo.append(lambda: delattr(cls, name) if before is _MISSING else setattr(cls, name, before))
        setattr(cls, name, replacement)

    def wrap_all(self, place: dict[str, Any], names: Iterable[str]) -> None:
        """Replace functions of a module by their names; in the graph they are functions like others."""
        for name in names:
            self.patch(place, name, recording(place[name], wrapped=False))

    def wrap_known(self, place: dict[str, Any], functions: set[int]) -> None:
        """Replace those globals of a module that are functions known by their ids."""
        if id(place) in self._visited:
            return
        self._visited.add(id(place))
        for name, value in list(place.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self.patch(place, name, recording(value))

    def wrap_asked_for(self) -> None:
        """Replace what programs asked for."""
        for (_, name), place in wrapped_functions.copy().items():
            original = place[name] if name in place else getattr(builtins, name, None)
            if original is not None:
                self.patch(place, name, recording(original))
        for cls, name in wrapped_methods:
            self.patch_method(cls, name, recording_method(getattr(cls, name), name))

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *error: object) -> None:
        while self._undo:
            self._undo.pop()()


def recording(function: Callable[..., Any], wrapped: bool = True) -> Callable[..., Any]:
    """A function that writes calls on proxies down, and carries out others. `wrapped`: code that is made of the node
    has to ask for the same."""

    @functools.wraps(function)
    def record(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        result = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        if wrapped:
            result.node.meta["is_wrapped"] = True
        return result

    return record


def recording_method(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The same for a method, which becomes a call_method node."""

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        return proxy.tracer.create_proxy("call_method", name, args, kwargs)

    return wrapped


def wrap(fn_or_name: Any) -> Any:
    """Says at the top of a module that calls of a function, from that module, are one node each: `fn_or_name` is the
    function or its name. Also a decorator. NotImplementedError where it isn't called at the top of a module.

    >>> torch.fx.wrap("len")
    'len'
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    wrapped_functions[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name
