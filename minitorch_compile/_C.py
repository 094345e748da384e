"""torch._C: the names of PyTorch's compiled part that programs reach for.

>>> from minitorch_compile.tensor import Tensor, ones
>>> class Own(Tensor):
...     "Results are of this class, too."
>>> x = ones(2).as_subclass(Own)
>>> with DisableTorchFunctionSubclass():
...     type(x + 1).__name__
'Tensor'
"""

from typing import Any

from minitorch_compile.tensor.dispatch.overrides import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,
)

_nn: Any  # where PyTorch has the built-in functions of nn.functional; the package puts that module here

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "_disabled_torch_function_impl"]
