"""Numbers that are given as tensors, and dtypes as Python's types: where PyTorch takes a number it also takes a 0-d
tensor, and reads its value; where it takes a dtype, also float, int, bool or complex.

Which parameters are numbers or dtypes, an op's annotations say. Kernels and shape rules get plain numbers, and dtypes.

>>> from minitorch_compile.tensor import ops, tensor
>>> x = tensor([1.0, 2.0])
>>> ops.add(x, x, alpha=tensor(3)), ops.select(x, tensor(0), tensor(1)), ops.view(x, (tensor(2), tensor(1))).shape
(tensor([4., 8.]), tensor(2.), torch.Size([2, 1]))
>>> ops.sum(tensor([1, 2]), dtype=float)
tensor(3., dtype=torch.float64)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import BOOL, FLOATING, as_dtype, dtype
from minitorch_compile.tensor.tensor_base import TensorBase

Reader = Callable[[Any, str, str], Any]
Numbers = tuple[int, Reader, frozenset[type]]  # a position, what reads the argument, its types that need no reading
READ = (TensorBase, np.generic)  # what stands for a number: NumPy's own would give results of their dtype
NEVER = 1 << 30  # where the first number stands if there is none

# Of functions that PyTorch writes in Python: it asks whether these are true, whatever they are.
LOOSE = {"inplace", "size_average", "reduce", "hard", "full", "return_indices", "add_zero_attn", "need_weights"}


def readers(annotations: Sequence[str], loose: Sequence[bool] = ()) -> tuple[Numbers, ...]:
    """The parameters that are numbers, sequences of them, or dtypes: position, what reads it, types that need no
    reading. Those that are `loose` are asked for their truth only, as Python asks.

    >>> [(position, reader.__name__) for position, reader, _ in readers(["Array", "Ints | None", "float", "bool"])]
    [(1, 'whole_number'), (2, 'number'), (3, 'flag')]
    """
    found = ((position, *_reader(annotation)) for position, annotation in enumerate(annotations))
    return tuple(
        (position, reader, fine)
        for position, reader, fine in found
        if reader is not None and not (reader is flag and any(loose[position : position + 1]))
    )


@cache  # a thousand ops have few different annotations
def _reader(annotation: str) -> tuple[Reader | None, frozenset[type]]:
    """What reads an argument of this annotation, if it is a number or a dtype, and the types that need no reading."""
    words = set(re.findall(r"\w+", annotation))
    if words & {"dtype", "DType"}:
        reader: Reader | None = element_type
    elif words & {"Array", "Tensor", "ndarray", "Any", "Callable"}:
        reader = None
    elif words & {"float", "Scalar"}:
        reader = number
    elif words & {"int", "Ints", "Axes"}:
        reader = whole_number
    else:
        reader = flag if "bool" in words else None
    return reader, frozenset() if reader is None else _fine(reader, words)


def _fine(reader: Reader, words: set[str]) -> frozenset[type]:
    """The types that such an argument has where all is well."""
    if reader is flag:
        return frozenset((bool, type(None)) if "None" in words else (bool,))
    if reader is whole_number:
        others = (bool, str, dtype) if words & {"bool", "str", "dtype"} else ()
        return frozenset((int, type(None), Size, *others))
    return frozenset((int, float, bool, complex, type(None)) if reader is number else (dtype, type(None)))


def plain(values: tuple[Any, ...], numbers: tuple[Numbers, ...], op: str, names: Sequence[str]) -> tuple[Any, ...]:
    """The arguments of an op, with numbers where tensors stand for them. TypeError for a tensor that can't."""
    for position, reader, fine in numbers:
        if position >= len(values):
            break
        value = values[position]
        if type(value) in fine:
            continue
        if isinstance(value, READ) or reader is element_type:
            read = reader(value, op, names[position])
        elif type(value) in (tuple, list):
            if fine.issuperset(map(type, value)) or not any(isinstance(item, READ) for item in value):
                continue
            read = tuple(reader(item, op, names[position]) if isinstance(item, READ) else item for item in value)
        else:
            refuse(value, reader, op, names[position])
            continue
        values = (*values[:position], read, *values[position + 1 :])
    return values


def refuse(value: Any, reader: Reader, op: str, name: str) -> None:
    """TypeError for what is surely no such argument: a number that should be a bool, a bool that should be an int."""
    kind = type(value)
    if reader is flag:
        raise TypeError(f"{op}(): argument '{name}' must be bool, not {kind.__name__}")
    if reader is number and kind is np.ndarray:
        raise TypeError(f"{op}(): argument '{name}' must be Number, not ndarray; use its .item()")
    if reader is whole_number and kind in (bool, float):
        raise TypeError(f"{op}(): argument '{name}' must be int, not {kind.__name__}")


def number(value: Any, op: str, name: str) -> Any:
    """The element of a 0-d tensor. TypeError for others, and for one through which gradients would have to flow."""
    if isinstance(value, np.generic):
        return float(value) if isinstance(value, np.bool_) else value.item()
    if value.sizes or value.requires_grad:
        why = "that requires grad: use its .item()" if value.requires_grad else f"of sizes {list(value.sizes)}"
        raise TypeError(f"{op}(): argument '{name}' must be Number, not Tensor {why}")
    return value.item()


def whole_number(value: Any, op: str, name: str) -> int:
    """The element of a tensor that has one, an integer. TypeError for others, RuntimeError for a bool (PyTorch's)."""
    if isinstance(value, np.generic):
        if not isinstance(value, np.integer):
            raise TypeError(f"{op}(): argument '{name}' must be int, not {type(value).__name__}")
        return int(value)
    if value.dtype.category >= FLOATING or numel(value.sizes) != 1:
        raise TypeError(f"{op}(): argument '{name}' must be int, not Tensor of {value.dtype}, {list(value.sizes)}")
    if value.dtype.category == BOOL:
        raise RuntimeError(f"{op}(): argument '{name}' must be int, and a bool tensor isn't; use .int()")
    result: int = value.item()
    return result


def element_type(value: Any, op: str, name: str) -> dtype:
    """The dtype that a Python type stands for. TypeError for a tensor, and for other types."""
    if isinstance(value, TensorBase):
        raise TypeError(f"{op}(): argument '{name}' must be torch.dtype, not Tensor")
    if not isinstance(value, type):
        raise TypeError(f"{op}(): argument '{name}' must be torch.dtype, not {type(value).__name__}")
    return as_dtype(value)


def flag(value: Any, op: str, name: str) -> Any:
    """TypeError: a bool may not be given as a tensor, nor as another number."""
    if isinstance(value, np.bool_):
        return bool(value)
    kind = "Tensor; use its .item()" if isinstance(value, TensorBase) else type(value).__name__
    raise TypeError(f"{op}(): argument '{name}' must be bool, not {kind}")


def coefficient(op: str, name: str, value: Any, is_complex: bool) -> Any:
    """A factor of tensors. RuntimeError for a complex one of real tensors.

    >>> coefficient("addmm", "alpha", 2j, is_complex=False)
    Traceback (most recent call last):
    RuntimeError: addmm: alpha is 2j, and a complex value cannot be converted to a real type without overflow
    """
    if isinstance(value, complex) and not is_complex:
        raise RuntimeError(
            f"{op}: {name} is {value}, and a complex value cannot be converted to a real type without overflow"
        )
    return value
