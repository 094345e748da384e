"""`.grad`: where the gradients of a leaf add up. What is assigned must look like the tensor.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> x.grad = ones(2)
>>> x.grad = ones(3)
Traceback (most recent call last):
RuntimeError: attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure ...
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.tensor_base import TensorBase


class TensorGradient(TensorBase):
    """The part of Tensor that holds a gradient."""

    _grad: Any = None

    @property
    def grad(self) -> Any:
        """The sum of the gradients so far, or None."""
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and (
            not isinstance(value, TensorBase)
            or value.sizes != self.sizes
            or value.dtype is not self.dtype
            or value is self
        ):
            raise self._unlike(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    def _unlike(self, value: Any) -> Exception:
        """The error for a gradient that can't be one of this tensor."""
        if not isinstance(value, TensorBase):
            return TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}"
            )
        if value is self:
            return RuntimeError("can't assign Variable as its own grad")
        if value.sizes != self.sizes:
            return RuntimeError(
                f"attempting to assign a gradient of size '{list(value.sizes)}' to a tensor of size"
                f" '{list(self.sizes)}'. Please ensure that the gradient and the tensor are the same size"
            )
        return RuntimeError(
            f"attempting to assign a gradient with dtype {value.dtype} to a tensor of dtype {self.dtype}. The gradient"
            " must match the tensor's dtype: convert it with .to(...)"
        )
