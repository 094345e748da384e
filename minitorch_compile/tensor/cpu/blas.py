"""Matrix products by NumPy's BLAS, small ones on one thread.

OpenBLAS shares out a product among all cores from about 2**18 multiplications on, and its threads wait by spinning.
That gains little for a small product, and is a disaster when another program is running: on two busy cores, a training
step of a small MLP was seen to take 60 milliseconds instead of 1. So a product of less than SMALL multiplications is
computed by the calling thread alone.

After a product they spin on, for the next one: for 2**26 ticks of the processor's clock, 25 milliseconds, on cores that
compiled code wants, which has threads of its own. A step that is part eager and part compiled took twice as long on two
cores. 2**18 ticks, 100 microseconds, keep a series of products as fast (2**16 make one of 256x256 slower by a fifth).

>>> import numpy as np
>>> matmul(np.ones((2, 3)), np.ones((3, 1)))
array([[3.],
       [3.]])
"""

from __future__ import annotations

import ctypes
import os
import threading
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

SHARED_FROM = 1 << 18  # multiplications: OpenBLAS itself computes anything smaller on one thread
SMALL = 1 << 23  # a few tenths of a millisecond on one core
SPINNING = "OPENBLAS_THREAD_TIMEOUT"  # OpenBLAS's own variable: how long threads wait by spinning, as a power of two
FLOAT16 = np.dtype(np.float16)


def openblas(folder: str) -> Any:
    """The controller of the OpenBLAS that a package brings (`folder` is "numpy" or "scipy"), or None.

    A Python from conda has one library for both; another BLAS, such as MKL, looks after small products itself.
    """
    found = ThreadpoolController().select(internal_api="openblas").lib_controllers
    own = [library for library in found if f"{folder}.libs" in library.filepath]
    return (own or found or [None])[0]


_openblas = openblas("numpy")


def _spin_briefly() -> None:
    """Tells NumPy's OpenBLAS, and libraries that are loaded later, unless the user has told them already.

    OpenBLAS reads its variables when it is loaded, which has happened. It can be made to read them again, and to end
    its threads; they start with the next product. That mustn't happen beside a product: it isn't done if the program
    has threads that might be computing one.
    """
    if SPINNING in os.environ:
        return
    os.environ[SPINNING] = "18"
    may_compute = any(not each.daemon and each is not threading.main_thread() for each in threading.enumerate())
    if _openblas is not None and not may_compute:
        library = ctypes.CDLL(_openblas.filepath)
        if hasattr(library, "openblas_read_env") and hasattr(library, "blas_thread_shutdown_"):
            library.openblas_read_env()
            library.blas_thread_shutdown_()


_spin_briefly()


def thread_count() -> int | None:
    """How many threads OpenBLAS uses; None for another BLAS."""
    return None if _openblas is None else _openblas.get_num_threads()


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """np.matmul(a, b). Half floats are multiplied as float32 and rounded once: no BLAS has them, and NumPy's own loop,
    which adds in float32, too, takes a hundred times as long."""
    if a.dtype is FLOAT16:
        return matmul(a.astype(np.float32), b.astype(np.float32)).astype(FLOAT16)
    if _openblas is None or not SHARED_FROM <= a.shape[-2] * a.shape[-1] * b.shape[-1] < SMALL:
        return np.matmul(a, b)
    threads = _openblas.get_num_threads()
    if threads == 1:
        return np.matmul(a, b)
    _openblas.set_num_threads(1)
    try:
        return np.matmul(a, b)
    finally:
        _openblas.set_num_threads(threads)
