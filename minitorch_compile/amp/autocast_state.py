"""Whether this thread casts on which type of device, to what, and what the casts of its weights were.

>>> state.cpu.enabled, state.cpu.dtype, state.cuda.dtype
(False, torch.bfloat16, torch.float16)
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from minitorch_compile.amp.autocast_lists import FLOAT32, GIVEN, LISTS, LOW, REFUSED, RESULT
from minitorch_compile.tensor.functions import before_calls
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.numerics.dtype import bfloat16, float16, float32, float64
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.tensor.tensor_base import TensorBase


class Switch:
    """One type of device: whether its tensors are cast, and to what."""

    __slots__ = ("dtype", "enabled")

    def __init__(self, element: Dtype) -> None:
        self.enabled = False
        self.dtype = element


class _State(threading.local):
    """The switches of one thread. `casts` has, by the id of a weight, its cast, the weight, and what else was so."""

    cache_enabled = True
    depth = 0
    casts_to: tuple[Any, ...] = ()  # what decides how a program is computed: for each device that is on, what to

    def __init__(self) -> None:
        self.cpu, self.cuda = Switch(bfloat16), Switch(float16)
        # Where tensors of one device join those of another, as numbers of 0 dimensions do, the GPU's lists hold.
        self.switches = {"cuda": self.cuda, "cpu": self.cpu}
        self.casts: dict[int, tuple[Any, ...]] = {}


state = _State()
users: list[int] = []  # a thread that casts has its number here: while it is empty, nothing stands before a call
on_change: list[Callable[[], None]] = []  # who wants to know that a thread has begun or ended to cast
_lock = threading.Lock()


def switch(device_type: str, enabled: bool, element: Dtype) -> None:
    """Turns casting on or off in this thread, for one type of device."""
    changed = state.switches[device_type]
    was = changed.enabled, changed.dtype
    changed.enabled, changed.dtype = enabled, element
    if was == (enabled, element):
        return
    did = bool(state.casts_to)
    state.casts_to = tuple((name, each.dtype) for name, each in state.switches.items() if each.enabled)
    with _lock:
        stood = bool(users)
        if did and not state.casts_to:
            users.remove(threading.get_ident())
        elif state.casts_to and not did:
            users.append(threading.get_ident())
        if bool(users) is not stood:
            if users:
                before_calls.enter(_before, before_calls.AUTOCAST)
            else:
                before_calls.leave(_before)
    for listener in on_change:
        listener()


class Setting(NamedTuple):
    """How a thread stands: for each type of device whether is cast and to what, whether casts of weights are kept, and
    how many regions deep."""

    switches: tuple[tuple[str, bool, Dtype], ...]
    cache_enabled: bool
    depth: int


def setting() -> Setting:
    """How this thread stands."""
    switches = tuple((name, each.enabled, each.dtype) for name, each in state.switches.items())
    return Setting(switches, state.cache_enabled, state.depth)


def become(wanted: Setting) -> None:
    """As it stood."""
    for each in wanted.switches:
        switch(*each)
    state.cache_enabled = wanted.cache_enabled
    at_depth(wanted.depth)


def at_depth(depth: int) -> None:
    """So many regions deep. Outside of all of them, casts of weights are dropped."""
    state.depth = depth
    if not depth:
        forget_casts()


def _before(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[..., Any]) -> Any:
    """The call, with its arguments cast as the op's list says. What it calls in turn is not cast."""
    where = _listed_for((*args, *kwargs.values()))
    rule = None if where is None else LISTS[where].rule_for(op.name.removeprefix("F."), args, kwargs)
    if where is None or rule is None or "out" in kwargs:
        return call(*args, **kwargs)
    if rule is REFUSED:
        raise RuntimeError(UNSAFE.format(op.name.removeprefix("F.")))
    switched = state.switches[where]
    switched.enabled = False
    try:
        if rule is GIVEN:
            return call(*args, **kwargs)
        if rule is RESULT:
            return cast(call(*args, **kwargs), switched.dtype, where)
        target = switched.dtype if rule is LOW else float32
        if rule is not LOW and rule is not FLOAT32 and not _has_float32((*args, *kwargs.values()), where):
            target = switched.dtype
        args = tuple(cast(x, target, where) for x in args)
        kwargs = {name: cast(x, target, where) for name, x in kwargs.items()}
        return call(*args, **kwargs)
    finally:
        switched.enabled = True


UNSAFE = (
    "torch.nn.functional.{0} and torch.nn.BCELoss are unsafe to autocast.\nMany models use a sigmoid layer right before"
    " the binary cross entropy layer.\nIn this case, combine the two layers using"
    " torch.nn.functional.binary_cross_entropy_with_logits\nor torch.nn.BCEWithLogitsLoss. "
    " binary_cross_entropy_with_logits and BCEWithLogits are\nsafe to autocast."
)


def _listed_for(values: tuple[Any, ...]) -> str | None:
    """The type of device whose lists hold for a call on these values, if something is cast there."""
    for name in state.switches:
        if is_cast_on(name, values):
            return name
    return None


def is_cast_on(device_type: str, values: Iterable[Any]) -> bool:
    """Whether tensors of such a device are cast, and there is one among these values. In main memory there may be
    none."""
    switched = state.switches.get(device_type)
    return switched is not None and switched.enabled and (device_type == "cpu" or any_on(values, device_type))


def any_on(values: Iterable[Any], device_type: str) -> bool:
    """Whether a tensor is among them that lies on such a device, also inside lists."""
    for value in values:
        if isinstance(value, TensorBase):
            if value.device.type == device_type:
                return True
        elif isinstance(value, (list, tuple)) and any_on(value, device_type):
            return True
    return False


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
    was = [each for each in state.switches.values() if each.enabled]
    for each in was:
        each.enabled = False
    try:
        yield
    finally:
        for each in was:
            each.enabled = True


def is_eligible(x: Any, device_type: str) -> bool:
    """Whether it is a tensor of floats on such a device, which may be cast: float64 stays what it is."""
    if not isinstance(x, TensorBase) or x.is_sparse_layout:
        return False
    return x.dtype.is_floating_point and x.dtype is not float64 and x.device.type == device_type


def _has_float32(values: Iterable[Any], device_type: str) -> bool:
    """Whether one of the tensors that may be cast is of float32."""
    for value in values:
        if isinstance(value, (list, tuple)):
            if _has_float32(value, device_type):
                return True
        elif is_eligible(value, device_type) and value.dtype is float32:
            return True
    return False


def cast(value: Any, target: Dtype, device_type: str) -> Any:
    """The value in another dtype, if it is a tensor that may be cast; also inside lists."""
    if type(value) in (list, tuple):
        return type(value)(cast(item, target, device_type) for item in value)
    if not is_eligible(value, device_type) or value.dtype is target:
        return value
    if _may_be_kept(value, target, device_type):
        kept = state.casts.get(id(value))
        wanted = target, grad_state.enabled, value.storage.version
        if kept is None or kept[1]() is not value or kept[2:] != wanted:
            kept = state.casts[id(value)] = (value.to(target), weakref.ref(value), *wanted)
        return kept[0]
    return value.to(target)


def _may_be_kept(x: Any, target: Dtype, device_type: str) -> bool:
    """Whether the cast is worth keeping: a weight is used again, in the same step."""
    is_weight = x.dtype is float32 and x.requires_grad and x.is_leaf and x.base is None and not x.is_fake
    return is_weight and state.cache_enabled and target is state.switches[device_type].dtype


def forget_casts() -> None:
    """Drops the casts that were kept."""
    state.casts.clear()
