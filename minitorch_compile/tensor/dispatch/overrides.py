"""__torch_function__: classes that say what a call means that has one of their instances as an argument.

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): ...

>>> from minitorch_compile.tensor import Tensor, ones, ops
>>> class Logged(Tensor):
...     @classmethod
...     def __torch_function__(cls, func, types, args=(), kwargs=None):
...         print(func.__name__)
...         return super().__torch_function__(func, types, args, kwargs)
>>> x = ones(2).as_subclass(Logged)
>>> type(x + ones(2)).__name__
add
'Logged'

Programs without such classes pay nothing. The dispatcher's short way is for the classes in `PLAIN`; everybody else goes
the long way, on which `watching` is asked: empty, until the first class that overrides is made, or a mode is entered. A
class that is no tensor is noticed when the first operation fails on an instance (`recovered`).

Instances come before those of their superclasses, else from left to right; NotImplemented passes the call on.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

PLAIN: set[type] = set()  # the classes of tensors that override nothing
VALUES = frozenset((int, float, bool, complex, str, type(None), dtype, slice, Size))  # the usual other arguments
between: set[str] = set()  # modules that stand between a call and the dispatcher (functions/before_calls.py)
watching: list[Any] = []  # the classes that override, and the modes that are entered
MISSING: Any = object()


class _State(threading.local):
    """What one thread has switched off, and its modes, the innermost last."""

    def __init__(self) -> None:
        self.subclasses_off = 0
        self.all_off = 0
        self.modes: list[Any] = []


state = _State()


def _disabled_torch_function_impl(
    func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """For a class that overrides nothing: `__torch_function__ = _disabled_torch_function_impl`."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


class DisableTorchFunctionSubclass:
    """Inside, `__torch_function__` of classes is not asked; that of modes is."""

    def __enter__(self) -> None:
        state.subclasses_off += 1

    def __exit__(self, *error: Any) -> None:
        state.subclasses_off -= 1


class DisableTorchFunction(DisableTorchFunctionSubclass):
    """Inside, nobody is asked."""

    def __enter__(self) -> None:
        super().__enter__()
        state.all_off += 1

    def __exit__(self, *error: Any) -> None:
        super().__exit__()
        state.all_off -= 1


def not_overridden(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, in which nobody is asked."""

    def call(*args: Any) -> Any:
        with DisableTorchFunction():
            return function(*args)

    return call


# ------------------------------------------------------------------------------------------ who overrides


def note_class(cls: type) -> None:
    """A class of tensors was made."""
    (watching.append if overrides(cls) else PLAIN.add)(cls)


def overrides(cls: type) -> bool:
    """Whether a class has a `__torch_function__` that isn't switched off. Tensor's own is that of its subclasses."""
    handler = getattr(cls, "__torch_function__", None)
    return handler is not None and handler is not _disabled_torch_function_impl and cls is not TensorBase.concrete


def overriding(args: Iterable[Any], kwargs: Mapping[str, Any] | None = None) -> list[Any]:
    """The arguments, also in lists, that are asked: one for each class, in the order in which they are."""
    found: list[Any] = []
    for value in _all_in((*args, *(kwargs or {}).values())):
        cls = type(value)
        if cls not in PLAIN and cls not in VALUES and overrides(cls) and all(type(x) is not cls for x in found):
            place = next((i for i, x in enumerate(found) if issubclass(cls, type(x))), len(found))
            found.insert(place, value)
    return found


def _all_in(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if type(value) in (list, tuple):
            yield from _all_in(value)
        else:
            yield value


# ------------------------------------------------------------------------------------------ calls


def overridden(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a call of an op gives if somebody overrides it; MISSING if nobody does."""
    modes = state.modes and not state.all_off
    found = [] if state.subclasses_off else overriding(args, kwargs)
    if not modes and not found:
        return MISSING
    func = _face(op, sys._getframe(1))
    return call_overrides(func, found, args[::-1] if _is_reflected(func) else args, kwargs)


def call_overrides(func: Any, found: Sequence[Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Asks the innermost mode, then each of these. TypeError if all answer NotImplemented."""
    types, given = tuple(type(x) for x in found), [dict(kwargs)] if kwargs else []
    if state.modes and not state.all_off:
        mode = state.modes.pop()
        try:
            result = mode.__torch_function__(func, types, args, *given)
        finally:
            state.modes.append(mode)
        if result is not NotImplemented:
            return result
    for value in found:
        result = type(value).__torch_function__(func, types, args, *given)
        if result is not NotImplemented:
            return result
    name = getattr(func, "__name__", func)
    listed = "".join(f"\n  - tensor subclass {cls}" for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.{name}'; all __torch_function__ handlers returned NotImplemented:\n"
        f"{listed}"
    )


def recovered(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call again, after it failed on an argument of a class that overrides and that nobody knew of; else MISSING.

    If it is part of a larger operation on the same argument, that one has to be asked, so the error goes on to it.
    """
    found = [x for x in overriding(args, kwargs) if not isinstance(x, TensorBase) and type(x) not in watching]
    if not found or state.subclasses_off:
        return MISSING
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        within = frame.f_locals.get("self"), frame.f_locals.get("args")
        if hasattr(within[0], "tensor_parameters") and type(within[1]) is tuple:
            if any(x is found[0] for x in _all_in(within[1])):
                if within[0] is not op:
                    return MISSING
        frame = frame.f_back
    watching.extend(type(x) for x in found)
    func = _face(op, sys._getframe(1))
    return call_overrides(func, overriding(args, kwargs), args[::-1] if _is_reflected(func) else args, kwargs)


# ------------------------------------------------------------------------------------------ under which name

NAMED_AS_OPERATORS = {
    "eq": "__eq__",
    "floor_divide": "__floordiv__",
    "bitwise_and": "__and__",
    "bitwise_or": "__or__",
    "bitwise_xor": "__xor__",
    "bitwise_left_shift": "__lshift__",
    "bitwise_right_shift": "__rshift__",
}
REFLECTED = {"sub": "__rsub__", "pow": "__rpow__", "floor_divide": "__rfloordiv__", "remainder": "__rmod__"}
ITEMS = ("__getitem__", "__setitem__")


def _is_reflected(func: Any) -> bool:
    """Whether it takes the right operand first."""
    return getattr(func, "__name__", "") in REFLECTED.values()


def _face(op: Op, frame: FrameType | None) -> Any:
    """What the program called: the op, or the method of Tensor that stands for it.

    Whether a method did is seen by the frames: each method calls the op from the file of the class.
    """
    while frame is not None and (
        frame.f_globals.get("__package__", "") == __package__ or frame.f_globals.get("__name__") in between
    ):
        frame = frame.f_back
    cls: Any = TensorBase.concrete
    if frame is None or frame.f_globals.get("__name__") != cls.__new__.__module__:
        return op
    code = frame.f_code
    if "_reflected" in code.co_qualname:
        name = REFLECTED.get(op.name, op.name)
    elif "_binary" in code.co_qualname:
        name = NAMED_AS_OPERATORS.get(op.name, op.name)
    else:
        name = code.co_name if code.co_name in ITEMS or not hasattr(cls, op.name) else op.name
    found = cls.__dict__.get(name, op)
    return found.__get__ if isinstance(found, property) else found


# ------------------------------------------------------------------------------------------ what subclasses do


@functools.cache
def get_default_nowrap_functions() -> frozenset[Any]:
    """The functions whose results `Tensor.__torch_function__` leaves as they are."""
    cls: Any = TensorBase.concrete
    return frozenset((cls._base.__get__, cls.grad.__get__))


def as_class(result: Any, cls: type) -> Any:
    """The tensors of a result as instances of a subclass."""
    if isinstance(result, TensorBase):
        return result if isinstance(result, cls) else result.as_subclass(cls)  # type: ignore[attr-defined]
    if isinstance(result, (tuple, list)) and not isinstance(result, Size):
        parts = [as_class(part, cls) for part in result]
        return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
    return result
