"""__torch_dispatch__: classes of tensors that say what an op computes, below autograd.

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None): ...

What reaches it is an op of the table that no floor above has taken apart, under PyTorch's name for it
(`aten_names.py`). Autograd has recorded the call already: a class says what is computed, not how to differentiate it.
An instance has sizes and a dtype, but no data of its own; what it is made of are its attributes.

>>> from minitorch_compile.tensor import Tensor, ones
>>> class Pair(Tensor):
...     @staticmethod
...     def __new__(cls, a, b):
...         return Tensor._make_wrapper_subclass(cls, a.sizes, dtype=a.dtype)
...     def __init__(self, a, b):
...         self.a, self.b = a, b
...     @classmethod
...     def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
...         a, b = ([getattr(x, side) if isinstance(x, Pair) else x for x in args] for side in "ab")
...         return Pair(func(*a), func(*b))
>>> pair = Pair(ones(2), ones(2) * 3).exp() + 1
>>> pair.a, pair.b
(tensor([3.7183, 3.7183]), tensor([21.0855, 21.0855]))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.dispatch.overrides import MISSING, PLAIN
from minitorch_compile.tensor.memory.device import device as as_device
from minitorch_compile.tensor.numerics.dtype import get_default_dtype
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake, kept_by

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

# Ops that are written in others and are asked about as they are: what they make should be of the class.
SEEN_WHOLE = frozenset(
    [f"{what}_like" for what in ("zeros", "ones", "full", "empty", "rand", "randn")]
    + [f"new_{what}" for what in ("zeros", "ones", "full", "empty")]
)
dispatching: list[type] = []  # the classes; while there is none, nobody looks for them


def note_dispatching_class(cls: type) -> None:
    """A class of tensors was made."""
    if hasattr(cls, "__torch_dispatch__"):
        PLAIN.discard(cls)  # the dispatcher's short way is not for these
        dispatching.append(cls)


def make_wrapper_subclass(
    cls: type,
    size: Any,
    strides: Any = None,
    storage_offset: int | None = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **others: Any,
) -> Any:
    """An instance of a class with `__torch_dispatch__`: it has these sizes, and no data of its own.

    layout, memory_format, pin_memory: as there is no memory, they say nothing.
    """
    if not hasattr(cls, "__torch_dispatch__"):
        raise TypeError(f"{cls.__name__} must define __torch_dispatch__")
    policy = others.pop("dispatch_sizes_strides_policy", None)
    if policy not in (None, "strides", "sizes"):
        raise ValueError(f"Unknown sizes_strides_policy: {policy}; expected 'strides' or 'sizes'")
    asked = [name for name in ("dispatch_device", "dispatch_layout") if others.pop(name, False)]
    if policy is not None or asked:
        raise NotImplementedError(
            "_make_wrapper_subclass: sizes, strides, device and layout of an instance are those it is made with;"
            " __torch_dispatch__ is not asked for them: leave dispatch_sizes_strides_policy, dispatch_device and"
            " dispatch_layout out"
        )
    unknown = sorted(others.keys() - {"layout", "memory_format", "pin_memory"})
    if unknown:
        raise TypeError(f"_make_wrapper_subclass() got an unexpected keyword argument '{unknown[0]}'")
    known = None if strides is None else tuple(strides)
    looks = empty_fake(tuple(size), known, dtype or get_default_dtype(), as_device(device or "cpu"))
    result: Any = object.__new__(cls)
    kept_by(result).update(kept_by(looks), storage=looks.storage)
    result.offset = storage_offset or 0
    result.requires_grad = requires_grad
    return result


def refuse_numbers(x: Any, method: str) -> None:
    """RuntimeError for an instance, whose numbers nobody but its class knows."""
    if dispatching and hasattr(type(x), "__torch_dispatch__"):
        raise RuntimeError(f".{method}() is not supported for tensor subclasses, got {type(x).__name__}")


def instances(args: Sequence[Any]) -> Iterator[Any]:
    """The arguments, also in lists, that are of such a class."""
    for value in args:
        if isinstance(value, TensorBase):
            if hasattr(type(value), "__torch_dispatch__"):
                yield value
        elif type(value) in (list, tuple):
            yield from instances(value)


def is_asked(args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether an argument is of such a class, which a call's other readers must leave to it."""
    return bool(dispatching) and any(True for _ in instances((*args, *kwargs.values())))


def dispatched(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the class of an argument says that a call gives; MISSING if there is none. TypeError if none has an
    answer."""
    from minitorch_compile.tensor.dispatch.aten_names import overload_of

    found = {type(value): value for value in instances((*args, *kwargs.values()))}
    if not found:
        return MISSING
    func, types = overload_of(op, args, kwargs), tuple(found)
    for cls in sorted(found, key=lambda cls: -len(cls.__mro__)):  # a subclass before its bases
        result = cls.__torch_dispatch__(func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    listed = "".join(f"\n  - tensor subclass {cls}" for cls in types)
    raise TypeError(
        f"Multiple dispatch failed for 'torch.ops.{func}'; all __torch_dispatch__ handlers returned NotImplemented:\n"
        f"{listed}"
    )


def run_dispatched(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same, or what the op itself gives."""
    result = dispatched(op, args, kwargs)
    return op.run(args, kwargs) if result is MISSING else result
