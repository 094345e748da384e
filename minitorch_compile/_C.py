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

from minitorch_compile.amp.dispatch_keys import DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.overrides import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,
)

_TensorMeta = type(Tensor)
_nn: Any  # where PyTorch has the built-in functions of nn.functional; the package puts that module here
_get_tracing_state: Any  # jit.is_tracing, which the package puts here as well

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_ExcludeDispatchKeyGuard",
    "_disabled_torch_function_impl",
    "_log_api_usage_once",
]


def _log_api_usage_once(event: str) -> None:
    """Nothing: PyTorch tells a logger of the program's operator, if there is one, that the program uses this."""
