"""Variable: what a tensor was called before tensors could require grad. Old programs still wrap theirs in it.

>>> from minitorch_compile.tensor import ones
>>> x = Variable(ones(2), requires_grad=True)
>>> isinstance(x, Variable), x.requires_grad
(True, True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.grad_mode import no_grad


class _IsATensor(type):
    """Every tensor is a Variable."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor)


class Variable(metaclass=_IsATensor):
    """`Variable(data)` is the same values as a leaf, sharing storage. `volatile` is gone: use no_grad."""

    def __new__(cls, data: Any = None, requires_grad: bool = False) -> Any:
        if not requires_grad:
            return data.detach()
        with no_grad():
            return data.detach().requires_grad_(True)
