"""Matrix products by BLAS, called from compiled code through SciPy's function pointers: no Python in between.

`gemm(rows, columns, inner, a, b, keep, c, c_step)` is c = keep * c + a @ b, where a and b are each a `Matrix`, and the
rows of c begin c_step elements apart. BLAS itself thinks in columns; it is asked for the transposed product of the
transposed matrices.

>>> import numpy as np
>>> from numba import njit
>>> from minitorch_compile.inductor.runtime.raw_memory import pointer
>>> @njit
... def product(a, b, c):
...     gemm(2, 2, 3, Matrix(pointer(a), 3, False), Matrix(pointer(b), 2, False), 0.0, pointer(c), 2)
>>> a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.empty((2, 2))
>>> product(a, b, c); c
array([[ 3.,  3.],
       [12., 12.]])
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from minitorch_compile.inductor.runtime.kernel_function import native_function, planned_kernel
from minitorch_compile.inductor.runtime.raw_memory import ELEMENTS, advance, as_tuple
from minitorch_compile.kernel_library.blas_routines import provide_routines
from minitorch_compile.tensor.cpu.blas import openblas

SYMBOLS = {"float32": "minitorch_sgemm", "float64": "minitorch_dgemm"}
NO_TRANSPOSE, TRANSPOSE = ord("n"), ord("t")


provide_routines()


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


class Matrix(NamedTuple):
    """A matrix from `start` on, whose rows (or columns, if it lies `by_columns`) begin `step` elements apart."""

    start: Any
    step: int
    by_columns: bool


def _python_gemm(rows: int, columns: int, inner: int, a: Matrix, b: Matrix, keep: float, c: Any, c_step: int) -> None:
    """The meaning, for generated code that runs without Numba."""

    def array(matrix: Matrix, height: int, width: int) -> Any:
        flat, step, by_columns = matrix
        strides = (flat.itemsize, step * flat.itemsize) if by_columns else (step * flat.itemsize, flat.itemsize)
        return np.lib.stride_tricks.as_strided(flat, (height, width), strides)

    target = array(Matrix(c, c_step, False), rows, columns)
    product = array(a, rows, inner) @ array(b, inner, columns)
    target[...] = product + (keep * target if keep else 0)


@intrinsic
def _native_gemm(typing_context, rows, columns, inner, a, b, keep, c, c_step):
    element, size = c.dtype, types.int64

    def code(context, builder, signature, values):
        m, n, k, left, right, beta, c_data, ldc = values
        number = context.get_value_type(element)

        def passed(value):
            return cgutils.alloca_once_value(builder, value)

        def matrix(kind, record):
            """What BLAS is told of a matrix: whether to transpose it, where it lies, how far apart its rows are."""
            start, step, by_columns = cgutils.unpack_tuple(builder, record)
            flag = context.cast(builder, by_columns, kind[2], types.boolean)
            letter = builder.select(flag, _byte(TRANSPOSE), _byte(NO_TRANSPOSE))
            return passed(letter), start, whole(context.cast(builder, step, kind[1], size))

        def whole(value):
            return passed(builder.trunc(value, ir.IntType(32)))

        narrow = beta if element is types.float64 else builder.fptrunc(beta, number)
        (trans_a, a_data, lda), (trans_b, b_data, ldb) = matrix(a, left), matrix(b, right)
        arguments = [
            trans_b, trans_a, whole(n), whole(m), whole(k), passed(ir.Constant(number, 1.0)), b_data, ldb,
            a_data, lda, passed(narrow), c_data, whole(ldc),
        ]  # fmt: skip
        routine = ir.FunctionType(ir.VoidType(), [value.type for value in arguments])
        symbol = SYMBOLS[str(element)]
        builder.call(cgutils.get_or_insert_function(builder.module, routine, symbol), arguments)
        return context.get_dummy_value()

    return types.void(size, size, size, a, b, types.float64, c, size), code


def _byte(value: int) -> ir.Constant:
    return ir.Constant(ir.IntType(8), value)


gemm = _python_gemm if config.DISABLE_JIT else _native_gemm


# ------------------------------------------------------------------------------------------------ as kernels


class ProductPlan(NamedTuple):
    """A product of rows x inner by inner x columns, cut into `strips` of rows, and each of these into `tiles`."""

    strips: int = 0
    tiles: int = 0
    rows: int = 0
    columns: int = 0
    inner: int = 0
    a_by_columns: int = 0
    a_step: int = 0
    b_by_columns: int = 0
    b_step: int = 0
    c_step: int = 0


class BatchedProductPlan(NamedTuple):
    """Products of rows x inner by inner x columns; matrices lie `a_apart` and `b_apart` elements from one another."""

    rows: int = 0
    columns: int = 0
    inner: int = 0
    a_apart: int = 0
    a_by_columns: int = 0
    a_step: int = 0
    b_apart: int = 0
    b_by_columns: int = 0
    b_step: int = 0
    c_step: int = 0


PRODUCT_PLAN, BATCHED_PRODUCT_PLAN = ProductPlan(), BatchedProductPlan()


def matrix_product(lo, hi, a, b, c, numbers):
    """c = a @ b, or some of its strips * tiles parts: part n is tile n % tiles of the columns of strip n // tiles."""
    plan = as_tuple(numbers, PRODUCT_PLAN)
    a_by_columns, b_by_columns = plan.a_by_columns != 0, plan.b_by_columns != 0
    if hi - lo == plan.strips * plan.tiles:
        first, second = Matrix(a, plan.a_step, a_by_columns), Matrix(b, plan.b_step, b_by_columns)
        gemm(plan.rows, plan.columns, plan.inner, first, second, 0.0, c, plan.c_step)
        return
    for part in range(lo, hi):
        strip, tile = part // plan.tiles, part % plan.tiles
        top, bottom = strip * plan.rows // plan.strips, (strip + 1) * plan.rows // plan.strips
        left, right = tile * plan.columns // plan.tiles, (tile + 1) * plan.columns // plan.tiles
        first = Matrix(advance(a, top if a_by_columns else top * plan.a_step), plan.a_step, a_by_columns)
        second = Matrix(advance(b, left * plan.b_step if b_by_columns else left), plan.b_step, b_by_columns)
        result = advance(c, top * plan.c_step + left)
        gemm(bottom - top, right - left, plan.inner, first, second, 0.0, result, plan.c_step)


def batched_product(lo, hi, a, b, c, numbers):
    """The products from lo up to hi; the results lie one after another."""
    plan = as_tuple(numbers, BATCHED_PRODUCT_PLAN)
    for n in range(lo, hi):
        first = Matrix(advance(a, n * plan.a_apart), plan.a_step, plan.a_by_columns != 0)
        second = Matrix(advance(b, n * plan.b_apart), plan.b_step, plan.b_by_columns != 0)
        result = advance(c, n * plan.rows * plan.columns)
        gemm(plan.rows, plan.columns, plan.inner, first, second, 0.0, result, plan.c_step)


@cache
def product_kernel(element: str) -> Any:
    """The kernel (lo, hi, a, b, c, numbers) for one dtype; compiled when first asked for."""
    return planned_kernel(f"matrix_product_{element}", *[ELEMENTS[element]] * 3)(matrix_product)


@cache
def batched_product_kernel(element: str) -> Any:
    """The kernel (lo, hi, a, b, c, numbers) for one dtype; compiled when first asked for."""
    return planned_kernel(f"batched_product_{element}", *[ELEMENTS[element]] * 3)(batched_product)
