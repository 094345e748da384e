"""Where tuples and arrays keep what native code reads of them: Python and NumPy promise nothing, so we look.

>>> check_layout()
"""

from __future__ import annotations

import ctypes

import numpy as np

from minitorch_compile.inductor.runtime.native_loop import ARRAY_DATA, TUPLE_ITEMS


def check_layout() -> None:
    """RuntimeError if an array's data isn't where `execute` looks for it."""
    word_at = lambda address: ctypes.c_int64.from_address(address).value
    arrays = (np.zeros(1), np.zeros(3, np.int64))
    for number, array in enumerate(arrays):
        item = word_at(id(arrays) + TUPLE_ITEMS + 8 * number)
        if item != id(array) or word_at(item + ARRAY_DATA) != array.ctypes.data:
            raise RuntimeError(
                "inductor: this Python or NumPy lays out its objects in an unknown way;"
                " use backend='loops' or 'aot_eager'"
            )
