"""Native functions that Python calls as it calls its own builtin functions, with nothing in between.

Numba's own way from Python into compiled code chooses by the types of the arguments. Before the first such call it
loads all that it knows about types: a tenth of the time that importing the package took, and for nothing where the
machine code is on disk.

>>> def add(nothing, arguments, count):
...     atomic_store(argument(arguments, 2), argument(arguments, 0) + argument(arguments, 1))
...     return returned_none(nothing)
>>> add, total = builtin_function(add), np.zeros(1, np.int64)
>>> add(3, 4, total.ctypes.data), total
(None, array([7]))
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np  # noqa: F401 (the example's)
from llvmlite import binding as llvm
from numba import njit, types

from minitorch_compile.cuda_runtime.native_code import METH_FASTCALL, MethodDefinition, builtin
from minitorch_compile.inductor.runtime.atomics import atomic_load, atomic_store  # noqa: F401 (the example's)
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction, native_function
from minitorch_compile.inductor.runtime.object_store import place_beside

_as_word = types.ExternalFunction("PyLong_AsLongLong", types.int64(types.int64))
_take_reference = types.ExternalFunction("Py_IncRef", types.void(types.int64))


_definitions: list[MethodDefinition] = []  # CPython keeps their addresses
BUILTINS: dict[str, NativeFunction] = {}  # by name, as native functions


@njit(forceinline=True)
def argument(arguments, position):
    """An argument, an int, as a word."""
    return _as_word(atomic_load(arguments + 8 * position))


@njit(forceinline=True)
def returned_none(nothing):
    """What such a function returns: the None that it belongs to, for the caller to own."""
    _take_reference(nothing)
    return nothing


def builtin_function(function: Callable[[int, int, int], int]) -> Any:
    """A function `(nothing, arguments, count)` for Numba, as a function of ints that returns None. It is compiled, or
    loaded, now; its machine code lies beside the bytecode.
    """
    for name in ("PyLong_AsLongLong", "Py_IncRef"):
        llvm.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    name = function.__name__
    native = native_function(name, types.int64(types.int64, types.int64, types.int64))(function)
    native.place = place_beside(function)
    BUILTINS[name] = native
    _definitions.append(MethodDefinition(name.encode(), native.address, METH_FASTCALL, None))
    return builtin(_definitions[-1])
