"""The arrays of tensors that hold nothing else: what reads or writes many at once needs no operation for each.

>>> from minitorch_compile.tensor import ones
>>> arrays_of(ones(2)), unseen_arrays([ones(1), ones(1)])
([array([1., 1.], dtype=float32)], [array([1.], dtype=float32), array([1.], dtype=float32)])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch.argument_devices import is_elsewhere
from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.dispatch.overrides import PLAIN
from minitorch_compile.tensor.dispatch.overrides import state as overrides


def arrays_of(*tensors: Any) -> list[np.ndarray] | None:
    """The arrays of these tensors; None if one is of another class, sparse, or somewhere else."""
    arrays = []
    for tensor in tensors:
        if type(tensor) not in PLAIN or tensor.is_sparse_layout or (tensor._array is None and is_elsewhere(tensor)):
            return None
        arrays.append(tensor.array)
    return arrays


def unseen_arrays(tensors: Sequence[Any]) -> list[np.ndarray] | None:
    """The same where no transform or mode is to see what is done with them; None where one is. What a tracer may come
    by asks `control.is_compiling` before. Who writes to an array counts the version of its storage up."""
    return None if contexts or overrides.modes else arrays_of(*tensors)
