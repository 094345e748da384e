"""Floor 3: the tape that records operations, and the engine that walks it backwards.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from minitorch_compile.autograd import derivatives, function, hooks, tape  # fills the table; installs the tape
from minitorch_compile.autograd.engine import backward, grad
from minitorch_compile.autograd.function import Function
from minitorch_compile.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from minitorch_compile.tensor.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "hooks",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
