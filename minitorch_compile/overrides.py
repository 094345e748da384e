"""torch.overrides: for functions and modes that take part in `__torch_function__`.

>>> from minitorch_compile.tensor import Tensor, ones
>>> class Own(Tensor):
...     "Results are of this class, too."
>>> x = ones(2).as_subclass(Own)
>>> has_torch_function((x,)), has_torch_function((ones(2),)), is_tensor_like(x)
(True, False, True)
>>> class Names(TorchFunctionMode):
...     def __torch_function__(self, func, types, args=(), kwargs=None):
...         print(resolve_name(func))
...         return func(*args, **(kwargs or {}))
>>> with Names():
...     _ = ones(2) + 1
torch.ones
torch.Tensor.add

What the dispatcher does with it: `tensor/dispatch/overrides.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FunctionType
from typing import Any

from minitorch_compile.tensor import Op, Tensor, ops
from minitorch_compile.tensor.dispatch import overrides as rules
from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.dispatch.overrides import get_default_nowrap_functions
from minitorch_compile.tensor.ops import visible_in

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether one of the arguments overrides functions, or a mode is entered."""
    if rules.state.modes and not rules.state.all_off:
        return True
    return not rules.state.subclasses_off and any(
        type(x) not in rules.PLAIN and rules.overrides(type(x)) for x in relevant_args
    )


def has_torch_function_unary(obj: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((obj,))


def has_torch_function_variadic(*args: Any) -> bool:
    """`has_torch_function` of these."""
    return has_torch_function(args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What a function gives that one of its arguments, or a mode, overrides. TypeError if all answer NotImplemented."""
    found = [] if rules.state.subclasses_off else rules.overriding(relevant_args)
    return rules.call_overrides(public_api, found, args, kwargs)


def is_tensor_like(inp: Any) -> bool:
    """Whether it is a tensor, or overrides functions as one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def wrap_torch_function(dispatcher: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function can be overridden by what `dispatcher` gives for its arguments."""

    def decorate(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(wrapped, relevant, *args, **kwargs)
            return func(*args, **kwargs)

        return wrapped

    return decorate


class TorchFunctionMode:
    """A context manager: inside, its `__torch_function__(func, types, args, kwargs)` is asked about every function.

    In it, functions mean what they mean outside of the mode.
    """

    def __init__(self) -> None:
        pass

    def __torch_function__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        rules.state.modes.append(self)
        rules.watching.append(self)
        contexts.append(self)
        return self

    def __exit__(self, *error: Any) -> None:
        rules.state.modes.pop()
        _drop(rules.watching, self)
        _drop(contexts, self)


def _drop(entered: list[Any], mode: Any) -> None:
    """Takes a mode out of a list of which other members may define `==`."""
    del entered[max(i for i, x in enumerate(entered) if x is mode)]


class BaseTorchFunctionMode(TorchFunctionMode):
    """One that changes nothing."""

    def __torch_function__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


@contextmanager
def enable_reentrant_dispatch() -> Iterator[None]:
    """Inside, overrides are asked again although one runs."""
    before = rules.state.subclasses_off
    rules.state.subclasses_off = 0
    try:
        yield
    finally:
        rules.state.subclasses_off = before


# ------------------------------------------------------------------------------------------ what there is to override


@functools.cache
def get_overridable_functions() -> dict[str, list[Any]]:
    """The functions that can be overridden, by where they are."""
    methods = [value for name, value in _methods() if isinstance(value, FunctionType) and name in ops.table]
    spaces = {"torch": "torch", "torch.functional": "", "torch.nn.functional": "functional"}
    found = {place: list(visible_in(space).values()) for place, space in spaces.items() if space}
    for space in ("linalg", "fft", "special"):
        found[f"torch.{space}"] = list(visible_in(space).values())
    return {**found, "torch.Tensor": methods}


def _methods() -> list[tuple[str, Any]]:
    return [(name, value) for cls in reversed(Tensor.__mro__[:-1]) for name, value in vars(cls).items()]


@functools.cache
def get_ignored_functions() -> frozenset[Any]:
    """Public functions that ask nobody: they are no operations."""
    from_table = {f for functions in get_overridable_functions().values() for f in functions}
    return frozenset(
        value
        for name, value in _methods()
        if isinstance(value, FunctionType) and not name.startswith("_") and value not in from_table
    )


@functools.cache
def get_testing_overrides() -> dict[Any, Callable[..., Any]]:
    """For each function that can be overridden, one that takes the same arguments and gives -1."""
    return {f: _like(f) for functions in get_overridable_functions().values() for f in functions}


def _like(function: Any) -> Callable[..., Any]:
    def dummy(*args: Any, **kwargs: Any) -> int:
        if isinstance(function, Op):
            function.__signature__.bind(*args, **kwargs)
        return -1

    return dummy


def resolve_name(f: Any) -> str | None:
    """The name of an overridable function, as a program writes it; None for others."""
    for space, functions in get_overridable_functions().items():
        if any(f is each for each in functions):
            return f"{space}.{getattr(f, '__name__', f)}"
    return None


def is_tensor_method_or_property(func: Any) -> bool:
    """Whether it is a method of Tensor, or the `__get__` of one of its properties."""
    owner = getattr(func, "__self__", None)
    return isinstance(owner, property) or any(func is value for _, value in _methods())
