"""Writing a value into a tensor in place, for less than an operation costs.

An optimizer writes back every parameter and counter at every step. Under a tracer, or with gradients on, that is the
operation copy_ or fill_; otherwise there is nobody to tell but the version counter.

>>> from minitorch_compile.tensor import no_grad, zeros
>>> x = zeros(2)
>>> with no_grad():
...     overwrite(x, zeros(2) + 3)
>>> x, x._version
(tensor([3., 3.]), 1)
"""

from __future__ import annotations

from minitorch_compile.control import is_compiling
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.argument_devices import is_elsewhere
from minitorch_compile.tensor.dispatch.dispatch import contexts
from minitorch_compile.tensor.grad_mode import state


def overwrite(target: Tensor, value: Tensor | float) -> None:
    """target.copy_(value), or target.fill_(value) for a number."""
    if is_compiling() or contexts or state.enabled or is_elsewhere(target):
        if isinstance(value, Tensor):
            target.copy_(value)
        else:
            target.fill_(value)
        return
    if isinstance(value, Tensor):
        target.store(value.array)
    else:
        target.array.fill(value)
    target.storage.version += 1
