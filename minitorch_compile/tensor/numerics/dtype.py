"""Element types, and the rules by which two of them combine.

A `dtype` is a singleton: compare with `is`. Combining follows PyTorch, not NumPy: the *category* (bool < integer <
floating < complex) decides first, so an int64 tensor and a float32 tensor give float32, and a Python number never
widens a tensor of its own category.

>>> promote_types(int64, float32)
torch.float32
>>> promote_types(uint8, int8)
torch.int16

Source: PyTorch's c10/core/ScalarType and "Type Promotion Semantics" in its documentation.
"""

from __future__ import annotations

from collections.abc import Iterable

import ml_dtypes
import numpy as np

from minitorch_compile.symbolic import WHOLE, SymFloat, SymInt

BOOL, INTEGER, FLOATING, COMPLEX = range(4)


class dtype:
    """One element type. `numpy` is the NumPy dtype that stores it, `itemsize` its size in bytes, and `by_numpy`
    whether kernels compute on such arrays. The library makes them all,
    of a `name`, a `numpy_type` and a `category`.

    >>> torch.ones(2).dtype, torch.int64.itemsize, torch.bfloat16.is_floating_point
    (torch.float32, 8, True)
    """

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __slots__ = ("by_numpy", "category", "is_complex", "is_floating_point", "is_signed", "itemsize", "name", "numpy")

    def __init__(self, name: str, numpy_type: type, category: int) -> None:
        self.name = name
        self.numpy = np.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        self.category = category
        self.is_floating_point = category == FLOATING
        self.is_complex = category == COMPLEX
        self.is_signed = category >= FLOATING or self.numpy.kind == "i"
        self.by_numpy = True

    def to_complex(self) -> dtype:
        """The complex dtype whose parts are of this dtype; that of a complex dtype is itself. RuntimeError for
        integers."""
        if self.is_complex:
            return self
        if self in FLOAT8:
            raise RuntimeError(f"Unknown Complex ScalarType for {self.name.capitalize()}")
        if not self.is_floating_point:
            raise RuntimeError(f"to_complex: {self} has no complex dtype; convert to a floating-point dtype first")
        return _COMPLEX_OF.get(self, complex64)

    def to_real(self) -> dtype:
        """The dtype of the parts, and of absolute values; that of a real dtype is itself."""
        if not self.is_complex:
            return self
        return _REAL_OF[self]

    def __repr__(self) -> str:
        # PyTorch's text, so that programs which print or parse a dtype run unchanged.
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name  # a singleton: unpickling finds this module's global of that name


float64 = dtype("float64", np.float64, FLOATING)
float32 = dtype("float32", np.float32, FLOATING)
float16 = dtype("float16", np.float16, FLOATING)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, FLOATING)  # computed in float32, then rounded: see rounding.py
int64 = dtype("int64", np.int64, INTEGER)
int32 = dtype("int32", np.int32, INTEGER)
int16 = dtype("int16", np.int16, INTEGER)
int8 = dtype("int8", np.int8, INTEGER)
uint8 = dtype("uint8", np.uint8, INTEGER)
bool_ = dtype("bool", np.bool_, BOOL)
complex128 = dtype("complex128", np.complex128, COMPLEX)
complex64 = dtype("complex64", np.complex64, COMPLEX)
complex32 = dtype("complex32", ml_dtypes.complex32, COMPLEX)  # computed in complex64, where it is computed in
_COMPLEX_OF = {float64: complex128, float16: complex32}
_REAL_OF = {complex128: float64, complex64: float32, complex32: float16}
# What files and quantized models keep numbers in: they are moved and converted; nothing is computed in them.
uint16 = dtype("uint16", np.uint16, INTEGER)
uint32 = dtype("uint32", np.uint32, INTEGER)
uint64 = dtype("uint64", np.uint64, INTEGER)
float8_e4m3fn = dtype("float8_e4m3fn", ml_dtypes.float8_e4m3fn, FLOATING)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, FLOATING)
float8_e5m2 = dtype("float8_e5m2", ml_dtypes.float8_e5m2, FLOATING)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, FLOATING)
float8_e8m0fnu = dtype("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu, FLOATING)

DTYPES = (float64, float32, float16, int64, int32, int16, int8, uint8, bool_)  # those that kernels compute in
UNSIGNED = (uint16, uint32, uint64)
FLOAT8 = (float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, float8_e5m2fnuz, float8_e8m0fnu)
ONLY_STORED = frozenset((*UNSIGNED, *FLOAT8, complex32))
for _element in (float16, bfloat16, *ONLY_STORED):
    _element.by_numpy = False
float8_e8m0fnu.is_signed = False  # powers of two: it has no sign, and no zero
STORED_DTYPES = (*DTYPES, bfloat16, complex128, complex64, complex32, *UNSIGNED, *FLOAT8)
FROM_NUMPY = {d.numpy: d for d in STORED_DTYPES}
FROM_NAME = {d.name: d for d in FROM_NUMPY.values()} | {
    "cdouble": complex128,
    "cfloat": complex64,
    "chalf": complex32,
    "double": float64,
    "float": float32,
    "half": float16,
    "long": int64,
    "int": int32,
}
FROM_PYTHON = {bool: bool_, int: int64}  # a number that is a float becomes the default dtype
FROM_TYPE = {bool: bool_, int: int64, float: float64, complex: complex128}  # but dtype=float means float64

in_use = [float32]  # the default dtype; a list, which compiled code looks into at each call


def get_default_dtype() -> dtype:
    """The dtype of new floating-point tensors: float32 unless set_default_dtype changed it.

    >>> torch.get_default_dtype()
    torch.float32
    """
    return in_use[0]


def set_default_dtype(d: dtype, /) -> None:
    """Changes the dtype of new floating-point tensors to `d`. TypeError unless that is a floating-point dtype.

    >>> torch.set_default_dtype(torch.float64)
    >>> torch.tensor([1.5]).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: d must be a floating-point dtype, got {d!r}")
    in_use[0] = d


def as_dtype(value: object) -> dtype:
    """A dtype from a dtype or from Python's bool, int and float; TypeError for anything else."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in FROM_TYPE:
        return FROM_TYPE[value]
    raise TypeError(f"dtype: expected a dtype such as torch.float32, got {value!r}")


def dtype_of_scalar(value: bool | int | float | complex | np.generic | SymInt | SymFloat) -> dtype:
    """The dtype that a Python number has when it stands alone."""
    known = FROM_PYTHON.get(type(value))
    if known is not None:
        return known
    if isinstance(value, np.bool_):
        return bool_
    if isinstance(value, (complex, np.complexfloating)):
        return in_use[0].to_complex()
    return int64 if isinstance(value, (*WHOLE, np.integer)) else in_use[0]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that PyTorch lets both convert to."""
    a, b = type1, type2
    if type(a) is not dtype or type(b) is not dtype:
        return promote_types(as_dtype(a), as_dtype(b))
    if a is b:
        return a
    if not (a.by_numpy and b.by_numpy):
        _refuse_stored(a, b)
    if {a.category, b.category} == {FLOATING, COMPLEX}:
        return promote_types(a.to_complex(), b.to_complex())
    if a.category != b.category:
        return a if a.category > b.category else b
    if {a, b} == {float16, bfloat16}:
        return float32
    return FROM_NUMPY[np.promote_types(a.numpy, b.numpy)]


def _refuse_stored(a: dtype, b: dtype) -> None:
    """RuntimeError if one of two different dtypes is only stored, and the other says nothing stronger."""
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {a} and {b}")
    if (a in UNSIGNED or b in UNSIGNED) and FLOATING not in (a.category, b.category):
        raise RuntimeError(
            f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a} and {b}"
        )


def result_dtype(dims: Iterable[dtype], zeros: Iterable[dtype] = (), scalars: Iterable[dtype] = ()) -> dtype:
    """The dtype of an operation on tensors with dimensions, 0-d tensors and Python numbers, in falling order of say.

    A later group counts only if its category is higher than that of the groups before it; a complex one then makes the
    floats before it complex.

    >>> result_dtype([float32], zeros=[float64]), result_dtype([int64], scalars=[float32])
    (torch.float32, torch.float32)
    """
    result: dtype | None = None
    for group in (dims, zeros, scalars):
        combined: dtype | None = None
        for d in group:
            combined = d if combined is None else promote_types(combined, d)
        if combined is not None and (result is None or combined.category > result.category):
            to_complex = result is not None and result.category == FLOATING
            result = result.to_complex() if result is not None and to_complex else combined
    if result is None:
        raise TypeError("result_dtype: expected at least one tensor or number, got none")
    return result


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether an in-place operation may store a result of dtype `from_` in a tensor of dtype `to`: never down a
    category."""
    if type(from_) is not dtype or type(to) is not dtype:
        return can_cast(as_dtype(from_), as_dtype(to))
    return from_.category <= to.category
