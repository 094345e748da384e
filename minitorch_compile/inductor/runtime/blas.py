"""Matrix products by BLAS, called from compiled code through SciPy's function pointers: no Python in between.

`gemm(transpose_a, transpose_b, rows, columns, inner, a, a_step, b, b_step, keep, c, c_step)` is, for row-major
matrices, c = keep * c + a @ b. A step is the distance between rows; `transpose_a` says that a is stored by columns
instead, a_step apart. BLAS itself thinks in columns; it is asked for the transposed product of the transposed
matrices.

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def product(a, b, c):
...     gemm(False, False, 2, 2, 3, pointer(a), 3, pointer(b), 2, 0.0, pointer(c), 2)
>>> a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.empty((2, 2))
>>> product(a, b, c); c
array([[ 3.,  3.],
       [12., 12.]])
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from scipy.linalg import cython_blas

from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance
from minitorch_compile.tensor.cpu.blas import openblas

SYMBOLS = {"float32": ("minitorch_sgemm", "sgemm"), "float64": ("minitorch_dgemm", "dgemm")}
NO_TRANSPOSE, TRANSPOSE = ord("n"), ord("t")


def _address_of(name: str) -> int:
    """The address of a BLAS routine, out of the capsule in which SciPy publishes it."""
    capsule = cython_blas.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get_pointer(capsule, get_name(capsule))


for _symbol, _routine in SYMBOLS.values():
    llvm.add_symbol(_symbol, _address_of(_routine))


def _symbol_of(library: ctypes.CDLL, name: str) -> Any:
    """A function of OpenBLAS, whose builds decorate their names."""
    spellings = [f"{prefix}{name}{suffix}" for prefix in ("", "scipy_") for suffix in ("", "64_", "_64")]
    return next(getattr(library, spelling) for spelling in spellings if hasattr(library, spelling))


def _provide_thread_count() -> None:
    """Gives compiled code the functions that get and set OpenBLAS's number of threads.

    Another BLAS keeps to the number that it was given; what is counted then is a number that nobody looks at.
    """
    library = openblas("scipy")
    for name, signature in (("get", types.int32()), ("set", types.void(types.int32))):
        if library is not None:
            function = _symbol_of(library.dynlib, f"openblas_{name}_num_threads")
            address = ctypes.cast(function, ctypes.c_void_p).value
        else:
            meaning: Any = (lambda: np.int32(1)) if name == "get" else (lambda count: None)
            address = native_function(f"{name}_blas_threads", signature)(meaning).address
        llvm.add_symbol(f"minitorch_{name}_blas_threads", address)


if not config.DISABLE_JIT:
    _provide_thread_count()


def _python_gemm(
    transpose_a: bool, transpose_b: bool, rows: int, columns: int, inner: int,
    a: Any, a_step: int, b: Any, b_step: int, keep: float, c: Any, c_step: int,
) -> None:  # fmt: skip
    """The meaning, for generated code that runs without Numba."""

    def matrix(flat: Any, height: int, width: int, step: int, transpose: bool) -> Any:
        strides = (flat.itemsize, step * flat.itemsize) if transpose else (step * flat.itemsize, flat.itemsize)
        return np.lib.stride_tricks.as_strided(flat, (height, width), strides)

    target = matrix(c, rows, columns, c_step, False)
    product = matrix(a, rows, inner, a_step, transpose_a) @ matrix(b, inner, columns, b_step, transpose_b)
    target[...] = product + (keep * target if keep else 0)


@intrinsic
def _native_gemm(
    typing_context, transpose_a, transpose_b, rows, columns, inner, a, a_step, b, b_step, keep, c, c_step
):  # fmt: skip
    element = c.dtype
    flag, size = types.boolean, types.int64
    arguments = (flag, flag, size, size, size, a, size, b, size, types.float64, c, size)

    def code(context, builder, signature, values):
        trans_a, trans_b, m, n, k, a_data, lda, b_data, ldb, beta, c_data, ldc = values
        number = context.get_value_type(element)
        scalar = cgutils.alloca_once_value

        def flag_of(transposed):
            letter = builder.select(transposed, _byte(TRANSPOSE), _byte(NO_TRANSPOSE))
            return scalar(builder, letter)

        def int_of(value):
            return scalar(builder, builder.trunc(value, ir.IntType(32)))

        narrow = beta if element is types.float64 else builder.fptrunc(beta, number)
        one = scalar(builder, ir.Constant(number, 1.0))
        passed = [
            flag_of(trans_b), flag_of(trans_a), int_of(n), int_of(m), int_of(k), one, b_data, int_of(ldb),
            a_data, int_of(lda), scalar(builder, narrow), c_data, int_of(ldc),
        ]  # fmt: skip
        routine = ir.FunctionType(ir.VoidType(), [value.type for value in passed])
        symbol = SYMBOLS[str(element)][0]
        builder.call(cgutils.get_or_insert_function(builder.module, routine, symbol), passed)
        return context.get_dummy_value()

    return types.void(*arguments), code


def _byte(value: int) -> ir.Constant:
    return ir.Constant(ir.IntType(8), value)


gemm = _python_gemm if config.DISABLE_JIT else _native_gemm


# ------------------------------------------------------------------------------------------------ as kernels


def matrix_product(
    lo, hi, strips, tiles, transpose_a, transpose_b, rows, columns, inner, a, a_step, b, b_step, c, c_step
):
    """c = a @ b, or some of its strips * tiles parts: part n is tile n % tiles of the columns of strip n // tiles."""
    if hi - lo == strips * tiles:
        gemm(transpose_a != 0, transpose_b != 0, rows, columns, inner, a, a_step, b, b_step, 0.0, c, c_step)
        return
    for part in range(lo, hi):
        strip, tile = part // tiles, part % tiles
        top, bottom = strip * rows // strips, (strip + 1) * rows // strips
        left, right = tile * columns // tiles, (tile + 1) * columns // tiles
        first = advance(a, top if transpose_a != 0 else top * a_step)
        second = advance(b, left * b_step if transpose_b != 0 else left)
        result = advance(c, top * c_step + left)
        gemm(
            transpose_a != 0, transpose_b != 0, bottom - top, right - left, inner,
            first, a_step, second, b_step, 0.0, result, c_step,
        )  # fmt: skip


def batched_product(
    lo, hi, transpose_a, transpose_b, rows, columns, inner, a, a_part, a_step, b, b_part, b_step, c, c_step
):
    """Products whose matrices lie `a_part` and `b_part` elements apart; the results lie one after another."""
    for n in range(lo, hi):
        first, second, result = advance(a, n * a_part), advance(b, n * b_part), advance(c, n * rows * columns)
        gemm(
            transpose_a != 0, transpose_b != 0, rows, columns, inner, first, a_step, second, b_step, 0.0, result, c_step
        )


@cache
def product_kernel(element: str) -> Any:
    """`matrix_product` for one dtype; compiled when first asked for."""
    number, pointer = types.int64, types.CPointer(ELEMENTS[element])
    signature = types.void(*[number] * 9, pointer, number, pointer, number, pointer, number)
    return native_function(f"matrix_product_{element}", signature)(matrix_product)


@cache
def batched_product_kernel(element: str) -> Any:
    """`batched_product` for one dtype; compiled when first asked for."""
    number, pointer = types.int64, types.CPointer(ELEMENTS[element])
    signature = types.void(*[number] * 7, pointer, number, number, pointer, number, number, pointer, number)
    return native_function(f"batched_product_{element}", signature)(batched_product)
