"""torch._foreach_add and its kin: one call of an op for each tensor of a list. Optimizers are written with them.

>>> from minitorch_compile.tensor import ones, zeros
>>> weights, gradients = [zeros(2), zeros(3)], [ones(2), ones(3)]
>>> _ = FOREACH["_foreach_add_"](weights, gradients, alpha=-0.5)
>>> weights, FOREACH["_foreach_norm"](weights)
([tensor([-0.5000, -0.5000]), tensor([-0.5000, -0.5000, -0.5000])], (tensor(0.7071), tensor(0.8660)))

An argument that is a list, or a tensor of as many numbers, gives each tensor its own; any other is for all of them. The
results are a tuple; those that write give back the list. In PyTorch a GPU does them all in one kernel; here `compile`
does that for any loop.

Source: aten/src/ATen/native/ForeachOpsKernels.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.aten_names import FUNCTIONS
from minitorch_compile.tensor.dispatch.op import Op, table
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.tensor_base import TensorBase

Tensors = Sequence[Any]


def _words(text: str) -> list[str]:
    return text.split()


# The ops of one tensor, and of a tensor and others; each has a form that writes.
OF_ONE = _words(
    "abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round"
    " rsqrt sigmoid sign sin sinh sqrt tan tanh trunc"
)
OF_MORE = {  # and how many others it takes
    **dict.fromkeys(_words("add sub mul div clamp_max clamp_min maximum minimum pow copy mm"), (1,)),
    "lerp": (2,),
    "addcmul": (2, 3),
    "addcdiv": (2, 3),
}
UNDER_OTHER_NAMES = {"maximum": "clamp_min", "minimum": "clamp_max"}
NUMBERS = (bool, int, float, complex)


def _check(name: str, tensors: Any) -> int:
    """How many there are. TypeError for what is no list of tensors, RuntimeError for an empty one."""
    if not isinstance(tensors, (list, tuple)) or not all(isinstance(x, TensorBase) for x in tensors):
        raise TypeError(f"{name}(): expected a list or tuple of Tensors, got {type(tensors).__name__}")
    if not tensors:
        raise RuntimeError(f"{name}(): Tensor list must have at least one tensor.")
    return len(tensors)


def _column(name: str, operand: Any, count: int, apart: bool) -> Sequence[Any]:
    """An operand for each of `count` tensors. `apart`: a tensor has a number for each."""
    if apart and isinstance(operand, TensorBase):
        if len(operand.sizes) != 1:
            raise RuntimeError(
                f"{name}(): Expected packed scalar Tensor to be of dimension 1. Got {len(operand.sizes)} instead."
            )
        operand = ops.unbind(operand)
    if isinstance(operand, (list, tuple)):
        if len(operand) != count:
            raise RuntimeError(
                f"{name}(): Tensor lists must have the same number of tensors, got {count} and {len(operand)}"
            )
        return operand
    if isinstance(operand, TensorBase) and operand.sizes:
        raise RuntimeError(
            f"{name}(): scalar tensor expected to be 0 dim but it has {len(operand.sizes)} dimensions and"
            f" {numel(operand.sizes)} elements."
        )
    if not isinstance(operand, (TensorBase, *NUMBERS)):
        raise TypeError(f"{name}(): expected a number, a Tensor or a list of them, got {type(operand).__name__}")
    return [operand] * count


def _call(op: Op, row: tuple[Any, ...], settings: dict[str, Any]) -> Any:
    if len(row) == 4:  # addcmul and addcdiv take what they multiply by as an option
        return op(*row[:3], value=row[3])
    return op(*row, **settings)


def _each(name: str, op: Op) -> Callable[..., Any]:
    """_foreach_sqrt of `sqrt`, _foreach_add of `add`. Operands that are named stand in the order of their names."""

    takes = OF_MORE.get(op.name.rstrip("_"), (0,))

    def foreach(self: Tensors, *operands: Any, alpha: Any = None, **named: Any) -> tuple[Any, ...]:
        count, given = _check(name, self), (*operands, *named.values())
        if len(given) not in takes:
            raise TypeError(
                f"{name}(): takes {' or '.join(map(str, takes))} operands beside the list, got {len(given)}"
            )
        columns = [_column(name, operand, count, apart=i == 2) for i, operand in enumerate(given)]
        settings = {} if alpha is None else {"alpha": alpha}
        rows = zip(self, *columns, strict=True)
        return tuple(_call(op, row, settings) for row in rows)

    return foreach


def _each_in_place(name: str, op: Op) -> Callable[..., Any]:
    """The form that writes; it gives the list back."""
    make = _each(name, op)

    def foreach_(self: Tensors, *operands: Any, **named: Any) -> Tensors:
        make(self, *operands, **named)
        return self

    return foreach_


def _foreach_pow(self: Any, exponent: Any) -> tuple[Any, ...]:
    """Powers of each tensor; of a number, if `self` is one and the exponents are the list."""
    if isinstance(self, NUMBERS):
        _check("_foreach_pow", exponent)
        return tuple(ops.pow(self, x) for x in exponent)
    return _each("_foreach_pow", ops.pow)(self, exponent)


def _foreach_norm(self: Tensors, ord: float = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The norm of each tensor, over all its elements."""
    _check("_foreach_norm", self)
    return tuple(ops.linalg_vector_norm(x, ord, dtype=dtype) for x in self)


def _foreach_powsum(self: Tensors, ord: float = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The sum of |x| ** ord of each tensor."""
    _check("_foreach_powsum", self)
    return tuple(ops.sum(ops.pow(ops.abs(x), ord), dtype=dtype) for x in self)


def _foreach_max(self: Tensors) -> tuple[Any, ...]:
    """The greatest element of each tensor. RuntimeError if one has none."""
    _check("_foreach_max", self)
    if any(x.numel() == 0 for x in self):
        raise RuntimeError("_foreach_max() cannot compute the maximum of an empty tensor; leave it out of the list")
    return tuple(ops.amax(x) for x in self)


def _foreach_mm(self: Tensors, mat2: Tensors) -> tuple[Any, ...]:
    """The product of each pair of matrices."""
    _check("_foreach_mm", mat2)
    return _each("_foreach_mm", ops.mm)(self, mat2)


def _foreach_clone(self: Tensors, *, memory_format: Any = None) -> tuple[Any, ...]:
    """A copy of each tensor."""
    _check("_foreach_clone", self)
    return tuple(ops.clone(x) if memory_format is None else ops.clone(x, memory_format=memory_format) for x in self)


def _foreach_copy_(self: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
    """Writes into each tensor what its partner has."""
    return _each_in_place("_foreach_copy_", ops.copy_)(self, src)


def _foreach_zero_(self: Tensors) -> Tensors:
    """Writes zeros into each tensor."""
    return _each_in_place("_foreach_zero_", ops.zero_)(self)


def _named(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = f"_foreach_{name}"
    function.__doc__ = f"`torch.{name}` of each tensor of a list."
    return function


def _all() -> dict[str, Callable[..., Any]]:
    found = {name: value for name, value in globals().items() if name.startswith("_foreach_")}
    for name in (*OF_ONE, *(name for name in OF_MORE if name not in ("copy", "mm"))):
        op = UNDER_OTHER_NAMES.get(name, name)
        found.setdefault(f"_foreach_{name}", _named(name, _each(f"_foreach_{name}", table[op])))
        found[f"_foreach_{name}_"] = _named(f"{name}_", _each_in_place(f"_foreach_{name}_", table[f"{op}_"]))
    return found


FOREACH = _all()
FUNCTIONS.update(FOREACH)
