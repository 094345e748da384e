"""Which dimensions of a tensor the numbers in a call name: -1 is the last one.

>>> wrap_dim(-1, 3), wrap_dims((-1, 0), 3), wrap_dims(None, 3)
(2, (0, 2), (0, 1, 2))
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index

from minitorch_compile.symbolic import WHOLE

Ints = tuple[int, ...]


def wrap_dim(dim: int, ndim: int) -> int:
    """A dimension counted from the front. IndexError, in PyTorch's words, if there is no such dimension.

    A 0-d tensor accepts 0 and -1, as in PyTorch. TypeError for what is no integer.
    """
    if type(dim) is not int:
        dim = index(dim)
    limit = max(ndim, 1)
    if not -limit <= dim < limit:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-limit}, {limit - 1}], but got {dim})")
    return dim + limit if dim < 0 else dim


def wrap_dims(dim: int | Sequence[int] | None, ndim: int) -> Ints:
    """The dimensions that a reduction's `dim` names, sorted; None and an empty sequence mean all of them."""
    if dim is None:
        return tuple(range(ndim))
    dims = (dim,) if isinstance(dim, WHOLE) else (index(dim),) if hasattr(dim, "__index__") else tuple(dim)
    if not dims:
        return tuple(range(ndim))
    wrapped = [wrap_dim(d, ndim) for d in dims]
    if len(set(wrapped)) != len(wrapped):
        raise RuntimeError(f"dim: each dimension may appear once, got {dims}")
    return tuple(sorted(wrapped)) if ndim else ()
