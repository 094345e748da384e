"""Special functions in kernels: calls of SciPy's own, by the addresses that SciPy publishes for compiled code.

They are series whose length depends on the argument, so there is nothing to vectorise; but the rest of the kernel is
fused around them, no array is made for them, and threads share the work. Each gives the number that eager execution
gives, which computes float32 in float64 as well.

>>> from numba import njit
>>> @njit
... def at(x):
...     return lgamma(x), digamma(x), erfc(x)
>>> at(5.0), at(0.0)
((3.1780538303479458, 1.5061176684318003, 1.5374597944280347e-12), (inf, -inf, 1.0))

Errors don't matter here: SciPy's functions report them through a setting of the calling thread, which is "ignore" in
the threads that run kernels.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from scipy import special
from scipy.special import cython_special

from minitorch_compile.inductor.kernels.vecmath.float64 import inlined
from minitorch_compile.inductor.runtime.native import instruction, same_type, select

# For each prim that is computed here: the names of SciPy's function and of its parameters' types. A function for
# several types has a name for each.
ROUTINES = {
    "erfc": ("__pyx_fuse_1erfc", 1), "erfcx": ("__pyx_fuse_1erfcx", 1), "erf_inv": ("__pyx_fuse_0erfinv", 1),
    "ndtri": ("ndtri", 1), "lgamma": ("gammaln", 1), "digamma": ("__pyx_fuse_1psi", 1),
    "igamma": ("gammainc", 2), "igammac": ("gammaincc", 2),
    "bessel_j0": ("j0", 1), "bessel_j1": ("j1", 1), "bessel_y0": ("y0", 1), "bessel_y1": ("y1", 1),
    "bessel_i0e": ("i0e", 1), "bessel_i1e": ("i1e", 1), "bessel_k0e": ("k0e", 1), "bessel_k1e": ("k1e", 1),
}  # fmt: skip


def published(name: str, parameters: int) -> int | None:
    """The address of one of SciPy's functions of that many floats; None if this SciPy has no such function.

    A capsule has it, whose name is its C signature.
    """
    capsule = cython_special.__pyx_capi__.get(name)
    if capsule is None:
        return None
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    signature = get_name(capsule)
    wanted = f"double ({'double, ' * parameters}int __pyx_skip_dispatch)"
    return get_pointer(capsule, signature) if signature.decode() == wanted else None


MISSING: set[str] = set()  # prims that this SciPy has no function for
for _prim, (_name, _parameters) in ROUTINES.items():
    _address = published(_name, _parameters)
    if _address is None:
        MISSING.add(_prim)
    else:
        llvm.add_symbol(f"minitorch_scipy_{_prim}", _address)


def _declared(prim: str) -> Callable[[Callable[..., Any]], Any]:
    def emit(builder: ir.IRBuilder, *values: ir.Value) -> ir.Value:
        element, double, flag = values[0].type, ir.DoubleType(), ir.IntType(32)
        signature = ir.FunctionType(double, [double] * len(values) + [flag])
        routine = cgutils.get_or_insert_function(builder.module, signature, f"minitorch_scipy_{prim}")
        wide = [value if element == double else builder.fpext(value, double) for value in values]
        result = builder.call(routine, [*wide, ir.Constant(flag, 0)])
        return result if element == double else builder.fptrunc(result, element)

    return instruction(same_type, emit)


@_declared("erfc")
def erfc(x):
    return special.erfc(x)


@_declared("erfcx")
def erfcx(x):
    return special.erfcx(x)


@_declared("erf_inv")
def erf_inv(x):
    return special.erfinv(x)


@_declared("ndtri")
def ndtri(x):
    return special.ndtri(x)


@_declared("lgamma")
def gammaln(x):
    return special.gammaln(x)


@inlined
def lgamma(x):
    """SciPy's is -inf at -inf; ours is infinite as at the other end."""
    return gammaln(select(x == -np.inf, -x, x))


@_declared("digamma")
def digamma(x):
    return special.psi(x)


@_declared("igamma")
def igamma(a, x):
    return special.gammainc(a, x)


@_declared("igammac")
def igammac(a, x):
    return special.gammaincc(a, x)


@_declared("bessel_j0")
def bessel_j0(x):
    return special.j0(x)


@_declared("bessel_j1")
def bessel_j1(x):
    return special.j1(x)


@_declared("bessel_y0")
def bessel_y0(x):
    return special.y0(x)


@_declared("bessel_y1")
def bessel_y1(x):
    return special.y1(x)


@_declared("bessel_i0e")
def bessel_i0e(x):
    return special.i0e(x)


@_declared("bessel_i1e")
def bessel_i1e(x):
    return special.i1e(x)


@_declared("bessel_k0e")
def bessel_k0e(x):
    return special.k0e(x)


@_declared("bessel_k1e")
def bessel_k1e(x):
    return special.k1e(x)
