"""swap_tensors: two tensors exchange all that they are, and stay the objects that others hold.

>>> from minitorch_compile import nn, ones
>>> weight, other = nn.Parameter(ones(1)), ones(2)
>>> swap_tensors(weight, other)
>>> weight, other.requires_grad
(tensor([1., 1.]), True)
"""

from __future__ import annotations

import weakref
from typing import Any, NoReturn

from minitorch_compile.tensor.tensor_base import kept_by

POISONED = (
    "Trying to execute AccumulateGrad node that was poisoned by swap_tensors this can happen when you try to run"
    " backward on a tensor that was swapped: swap before the forward pass, or after the backward pass."
)


def swap_tensors(t1: Any, t2: Any) -> None:
    """Exchanges values, dtypes, classes, gradients and attributes. RuntimeError if somebody holds a weak reference.

    A graph that led to one of them can't be walked back any more: that raises RuntimeError.
    """
    for name, t in (("t1", t1), ("t2", t2)):
        its_node = t.accumulator is not None  # which knows the leaf that it belongs to by a weak reference
        if weakref.getweakrefcount(t) > its_node:
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    for t in (t1, t2):
        if t.accumulator is not None:
            t.accumulator[0]._variable = _poisoned
            t.accumulator = None
    t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    first, second = dict(kept_by(t1)), dict(kept_by(t2))
    for t, kept in ((t1, second), (t2, first)):
        kept_by(t).clear()
        kept_by(t).update(kept)


def _poisoned() -> NoReturn:
    raise RuntimeError(POISONED)
