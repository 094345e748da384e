"""What stands before the call of every op, while something has to: a profiler, autocast, sparse tensors.

It is put in the places of the two doors that calls come through, `dispatch` and the call of a composite op, and taken
away again. So where nothing is needed, nothing is there, and an op costs what it costs.

>>> from minitorch_compile.tensor import ones, ops
>>> def tell(op, args, kwargs, call):
...     print("called:", op)
...     return call(*args, **kwargs)
>>> enter(tell, PROFILER)
>>> x = ops.exp(ones(2))
called: ops.ones
called: ops.full
called: ops.exp
>>> leave(tell)
>>> x = ops.exp(x)
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from minitorch_compile.frame_marks import passed
from minitorch_compile.tensor.dispatch import op as op_module
from minitorch_compile.tensor.dispatch import overrides
from minitorch_compile.tensor.dispatch.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op_families import CompositeOp
from minitorch_compile.tensor.tensor_class import tensor_class

Before = Callable[[Any, tuple[Any, ...], dict[str, Any], Callable[..., Any]], Any]

# Who is asked first, the smallest number first: a profiler sees the casts that autocast makes.
PROFILER, AUTOCAST, LAYOUTS = range(3)

_standing: list[tuple[int, Before]] = []
_lock = threading.RLock()
_composite_call = CompositeOp.__call__


def enter(before: Before, place: int) -> None:
    """From now on `before(op, args, kwargs, call)` is what a call of an op does; `call(*args)` goes on."""
    with _lock:
        overrides.between |= {__name__, before.__module__}
        _standing.append((place, before))
        _standing.sort(key=lambda entry: entry[0])
        _install()


def leave(before: Before) -> None:
    """The end of it."""
    with _lock:
        found = next(entry for entry in _standing if entry[1] == before)  # bound methods are made anew
        _standing.remove(found)
        _install()


def standing() -> list[Before]:
    """Who stands there, in the order in which they are asked."""
    return [before for _, before in _standing]


def _install() -> None:
    """Puts those who stand there, one behind the other, before both doors."""
    door: Any = dispatch
    composite: Any = _composite_call
    for _, before in reversed(_standing):
        door, composite = _at_the_door(before, door), _of_composites(before, composite)
    op_module.dispatch = tensor_class.dispatch = door
    CompositeOp.__call__ = composite  # type: ignore[method-assign]


def _at_the_door(before: Before, beyond: Callable[..., Any]) -> Callable[..., Any]:
    @passed
    def door(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return before(op, args, kwargs, lambda *args, **kwargs: beyond(op, args, kwargs))

    return door


def _of_composites(before: Before, beyond: Callable[..., Any]) -> Callable[..., Any]:
    @passed
    def call(op: Any, *args: Any, **kwargs: Any) -> Any:
        return before(op, args, kwargs, lambda *args, **kwargs: beyond(op, *args, **kwargs))

    return call
