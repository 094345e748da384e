"""wrap_numpy(function): a function of NumPy's arrays as one of tensors.

>>> import numpy as np
>>> import minitorch_compile as torch
>>> torch.compiler.wrap_numpy(lambda a, by: np.sin(a) * by)(torch.zeros(2), by=2)
tensor([0., 0.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.pytree import tree_map
from minitorch_compile.tensor import as_tensor
from minitorch_compile.tensor.tensor_base import TensorBase


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Gives `fn` the arrays of the tensors among its arguments, and returns the tensors of its arrays. No gradients."""

    @functools.wraps(fn)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        given, named = tree_map(lambda x: x.numpy() if isinstance(x, TensorBase) else x, (args, kwargs))  # type: ignore[attr-defined]
        return tree_map(lambda x: as_tensor(x) if isinstance(x, (np.ndarray, np.generic)) else x, fn(*given, **named))

    return of_tensors
