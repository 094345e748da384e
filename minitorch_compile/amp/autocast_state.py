"""Whether this thread casts, to what, and what the casts of its weights were.

>>> state.enabled, state.dtype
(False, torch.bfloat16)
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitorch_compile.amp.autocast_lists import FLOAT32, GIVEN, LOW, RESULT, rule_for
from minitorch_compile.tensor.functions import before_calls
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.numerics.dtype import bfloat16, float32, float64
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.tensor.tensor_base import TensorBase


class _State(threading.local):
    """The switch of one thread. `casts` has, by the id of a weight, its cast, the weight, and what else was so."""

    enabled = False
    dtype: Dtype = bfloat16
    casts_to: Dtype | None = None  # what decides how a program is computed: None where nothing is cast
    cache_enabled = True
    depth = 0

    def __init__(self) -> None:
        self.casts: dict[int, tuple[Any, ...]] = {}


state = _State()
users: list[int] = []  # a thread that casts has its number here: while it is empty, nothing stands before a call
on_change: list[Callable[[], None]] = []  # who wants to know that a thread has begun or ended to cast
_lock = threading.Lock()


def switch(enabled: bool, element: Dtype) -> None:
    """Turns casting on or off in this thread."""
    was = state.enabled, state.dtype
    state.enabled, state.dtype = enabled, element
    state.casts_to = element if enabled else None
    if was == (enabled, element):
        return
    with _lock:
        stood = bool(users)
        if was[0] and not enabled:
            users.remove(threading.get_ident())
        elif enabled and not was[0]:
            users.append(threading.get_ident())
        if bool(users) is not stood:
            if users:
                before_calls.enter(_before, before_calls.AUTOCAST)
            else:
                before_calls.leave(_before)
    for listener in on_change:
        listener()


Setting = tuple[bool, Dtype, bool, int]
"""Whether is cast, to what, whether casts of weights are kept, and how many regions deep."""


def setting() -> Setting:
    """How this thread stands."""
    return state.enabled, state.dtype, state.cache_enabled, state.depth


def become(wanted: Setting) -> None:
    """As it stood. Outside of all regions, casts of weights are dropped."""
    enabled, element, state.cache_enabled, state.depth = wanted
    switch(enabled, element)
    if not state.depth:
        forget_casts()


def _before(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
    """The call, with its arguments cast as the op's list says. What it calls in turn is not cast."""
    rule = rule_for(op.name.removeprefix("F."), args, kwargs) if state.enabled else None
    if rule is None or "out" in kwargs:
        return call(*args, **kwargs)
    state.enabled = False
    try:
        if rule is GIVEN:
            return call(*args, **kwargs)
        if rule is RESULT:
            return cast(call(*args, **kwargs), state.dtype)
        target = state.dtype if rule is LOW else float32 if rule is FLOAT32 else widest((*args, *kwargs.values()))
        args = tuple(cast(x, target) for x in args)
        kwargs = {name: cast(x, target) for name, x in kwargs.items()}
        return call(*args, **kwargs)
    finally:
        state.enabled = True


@contextmanager
def setting_kept() -> Iterator[None]:
    """What is called here may enter and leave regions: afterwards autocast is as it was; also a decorator."""
    before = setting()
    try:
        yield
    finally:
        become(before)


@contextmanager
def dtypes_as_given() -> Iterator[None]:
    """What is called here is not cast; also a decorator. A program that was cast when it was compiled is called so."""
    was, state.enabled = state.enabled, False
    try:
        yield
    finally:
        state.enabled = was


def is_eligible(x: Any) -> bool:
    """Whether it is a tensor of floats that may be cast: float64 stays what it is."""
    if not isinstance(x, TensorBase) or x.is_sparse_layout:
        return False
    return x.dtype.is_floating_point and x.dtype is not float64


def widest(values: Any) -> Dtype:
    """float32 if one of the tensors is, else the dtype that is cast to."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if widest(value) is float32:
                return float32
        elif is_eligible(value) and value.dtype is float32:
            return float32
    return state.dtype


def cast(value: Any, target: Dtype) -> Any:
    """The value in another dtype, if it is a tensor that may be cast; also inside lists."""
    if type(value) in (list, tuple):
        return type(value)(cast(item, target) for item in value)
    if not is_eligible(value) or value.dtype is target:
        return value
    if _may_be_kept(value, target):
        kept = state.casts.get(id(value))
        wanted = target, grad_state.enabled, value.storage.version
        if kept is None or kept[1]() is not value or kept[2:] != wanted:
            kept = state.casts[id(value)] = (value.to(target), weakref.ref(value), *wanted)
        return kept[0]
    return value.to(target)


def _may_be_kept(x: Any, target: Dtype) -> bool:
    """Whether the cast is worth keeping: a weight is used again, in the same step."""
    is_weight = x.dtype is float32 and x.requires_grad and x.is_leaf and x.base is None and not x.is_fake
    return is_weight and state.cache_enabled and target is state.dtype


def forget_casts() -> None:
    """Drops the casts that were kept."""
    state.casts.clear()
