"""PyTorch's place for what distributions share.

>>> broadcast_all(0.0, 1)
(tensor(0.), tensor(1.))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.distributions.lkj_cholesky import tril_matrix_to_vec, vec_to_tril_matrix
from minitorch_compile.distributions.parameters import broadcast_all, clamp_probs, logits_to_probs, probs_to_logits
from minitorch_compile.tensor.grad_mode import enable_grad

__all__ = [
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]


class lazy_property:
    """An attribute that is computed when first asked for, and kept; with gradients, whatever the caller's mode is."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value
