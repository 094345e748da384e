"""Kernels: Numba functions with a C signature, which the wrapper of a graph calls by symbol.

A kernel takes a range `[lo, hi)` of its outermost loop, then one pointer a buffer. It is compiled on its own and
registered under a symbol, so the wrapper compiles in milliseconds whatever its kernels contain, and equal kernels are
compiled once.

>>> from minitorch_compile.inductor.raw_memory import pointer
>>> @kernel("doctest_double", types.float32, types.float32)
... def double(lo, hi, x, out):
...     for i in range(lo, hi):
...         out[i] = x[i] + x[i]
>>> @njit
... def call(x, out):
...     double(0, 3, pointer(x), pointer(out))
>>> x = np.arange(3, dtype=np.float32); out = np.empty(3, np.float32)
>>> call(x, out); out
array([0., 2., 4.], dtype=float32)
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba import config, njit, types
from numba.core.sigutils import normalize_signature
from numba.np.numpy_support import from_dtype

# Numba's `cfunc`, opened up: the class that compiles one is private.
ccallback: Any = importlib.import_module("numba.core.ccallback")

# Division by zero gives inf or NaN instead of an exception; arithmetic is never reordered (see native.accumulate_sum).
OPTIONS = {"nopython": True, "error_model": "numpy"}

_compiled: dict[str, Any] = {}  # by symbol: keeps the machine code alive, and equal kernels are compiled once


class _KernelCompiler(ccallback._CFuncCompiler):
    """Tells LLVM that no two pointers of a kernel overlap: the memory plan passes a buffer that is reused once."""

    def _customize_flags(self, flags: Any) -> Any:
        flags = super()._customize_flags(flags)
        flags.noalias = True
        return flags


def kernel(symbol: str, *elements: Any, sizes: int = 0) -> Callable[[Callable[..., None]], Any]:
    """Compiles a function (lo, hi, size, ..., pointer, ...) and names it `symbol`.

    `elements` are the types behind its pointers, `sizes` says how many sizes stand before them.
    """
    arguments = [types.int64] * (2 + sizes) + [types.CPointer(element) for element in elements]
    return native_function(symbol, types.void(*arguments))


def graph_function(*elements: str) -> Callable[[Callable[..., None]], Any]:
    """Compiles the function that runs a whole graph: it takes flat arrays of these dtypes."""

    def decorate(function: Callable[..., None]) -> Any:
        arrays = [types.Array(from_dtype(np.dtype(element)), 1, "C") for element in elements]
        return njit(types.void(*arrays), error_model="numpy", cache=is_in_file(function))(function)

    return decorate


def is_in_file(function: Callable[..., Any]) -> bool:
    """Whether the function's text is in a file, beside which Numba can keep the machine code."""
    return os.path.isfile(function.__code__.co_filename)


def native_function(symbol: str, signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compiles a function of C types under a symbol; what comes back can be called from njit code by that symbol."""

    def decorate(function: Callable[..., Any]) -> Any:
        if config.DISABLE_JIT:
            return function
        if symbol not in _compiled:
            compiled = ccallback.CFunc(function, normalize_signature(signature), {}, OPTIONS)
            compiled._compiler = _KernelCompiler(
                function, compiled._targetdescr, OPTIONS, {}, pipeline_class=compiled._compiler.pipeline_class
            )
            if is_in_file(function):
                compiled.enable_caching()
            compiled.compile()
            llvm.add_symbol(symbol, compiled.address)
            _compiled[symbol] = compiled
        return types.ExternalFunction(symbol, signature)

    return decorate


def assembly(symbol: str) -> str:
    """The machine code of a compiled kernel, as text."""
    return _compiled[symbol]._library.get_asm_str()
