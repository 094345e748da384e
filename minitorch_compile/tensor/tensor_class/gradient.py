"""`.requires_grad` and `.grad`: whether a tensor takes part in differentiation, and where a leaf's gradients add up.

What is assigned to `grad` must look like the tensor; only leaves can be told not to take part.

>>> from minitorch_compile.tensor import ones
>>> x = ones(2)
>>> x.grad = ones(2)
>>> x.grad = ones(3)
Traceback (most recent call last):
RuntimeError: attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure ...
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.numerics.dtype import FLOATING
from minitorch_compile.tensor.tensor_base import TensorBase


class TensorGradient(TensorBase):
    """The part of Tensor that holds a gradient."""

    # Not in `__dict__`, so that a training step leaves a parameter's other attributes as they are, and compiled code
    # can see at a glance that it did (`dynamo/guards/structure.py`).
    __slots__ = ("_grad",)
    _grad: Any

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded, as they are for a view of what requires grad now."""
        base = self.base
        return self._requires_grad or (base is not None and (base._requires_grad or self.is_outdated))

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value and (self.dtype.category < FLOATING or (self.storage.version < 0 and not state.inference)):
            raise self._never_differentiated()
        if not value and self.grad_fn is not None:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a"
                " subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        self._requires_grad = bool(value)

    def _never_differentiated(self) -> Exception:
        """The error for a tensor that can't require grad."""
        if self.storage.is_inference:
            return RuntimeError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        return RuntimeError(f"only Tensors of floating point and complex dtype can require gradients, got {self.dtype}")

    @property
    def grad(self) -> Any:
        """The sum of the gradients so far, or None."""
        try:
            return self._grad
        except AttributeError:  # never assigned
            self._grad = None
            return None

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None and (
            not isinstance(value, TensorBase)
            or value.sizes != self.sizes
            or value.dtype is not self.dtype
            or value.device != self.device
            or value is self
        ):
            raise self._unlike(value)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self._grad = None

    @property
    def output_nr(self) -> int:
        """Which output of `grad_fn` this is."""
        return self.output_index

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
        if value.device != self.device:
            return RuntimeError(
                f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type"
                f" '{self.device.type}'. Please ensure that the gradient and the tensor are on the same device"
            )
        return RuntimeError(
            f"attempting to assign a gradient with dtype {value.dtype} to a tensor of dtype {self.dtype}. The gradient"
            " must match the tensor's dtype: convert it with .to(...)"
        )
