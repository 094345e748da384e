"""Where SciPy's BLAS lies in memory, for machine code that multiplies matrices.

>>> address_of_routine("sgemm") != address_of_routine("dgemm")
True
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from minitorch_compile.tensor.cpu.blas import openblas

CALLING_BLAS = frozenset(("flash_attention", "flash_attention_backward"))  # of the library's kernels
ROUTINES = {"minitorch_sgemm": "sgemm", "minitorch_dgemm": "dgemm"}  # by the names that machine code calls


def address_of_routine(name: str) -> int:
    """The address of a BLAS routine, out of the capsule in which SciPy publishes it."""
    from scipy.linalg import cython_blas  # comes late: SciPy's linear algebra takes longer to import than all of ours

    capsule = cython_blas.__pyx_capi__[name]
    get_name = ctypes.pythonapi.PyCapsule_GetName
    get_name.restype, get_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
    get_pointer.restype, get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address: int = get_pointer(capsule, get_name(capsule))
    return address


@cache
def provide_routines() -> None:
    """Makes them known to LLVM."""
    from llvmlite import binding as llvm  # comes late: who compiles nothing doesn't wait for LLVM

    for symbol, routine in ROUTINES.items():
        llvm.add_symbol(symbol, address_of_routine(routine))


@cache
def _own_blas() -> Any:
    return openblas("scipy")


@contextmanager
def on_one_thread() -> Iterator[None]:
    """Within, SciPy's BLAS leaves it to others to share out the work."""
    library = _own_blas()
    threads = 1 if library is None else library.get_num_threads()
    if threads == 1:
        yield
        return
    library.set_num_threads(1)
    try:
        yield
    finally:
        library.set_num_threads(threads)
