"""torch._C: the names of PyTorch's compiled part that programs reach for.

>>> from minitorch_compile.tensor import Tensor, ones
>>> class Own(Tensor):
...     "Results are of this class, too."
>>> x = ones(2).as_subclass(Own)
>>> with DisableTorchFunctionSubclass():
...     type(x + 1).__name__
'Tensor'
"""

from types import SimpleNamespace
from typing import Any

from minitorch_compile.amp.dispatch_keys import DispatchKey, DispatchKeySet, _ExcludeDispatchKeyGuard
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.dispatch.overrides import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,
)
from minitorch_compile.tensor.functions.settings import get_default_device
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.ops.matrix_kernels import LinAlgError as _LinAlgError

_TensorMeta = type(Tensor)
_functorch = SimpleNamespace(is_legacy_batchedtensor=lambda tensor: False)  # vmap's tensors look like all others
_nn: Any  # where PyTorch has the built-in functions of nn.functional; the package puts that module here
_get_tracing_state: Any  # jit.is_tracing, which the package puts here as well

__all__ = [
    "DispatchKey",
    "DispatchKeySet",
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_ExcludeDispatchKeyGuard",
    "_disabled_torch_function_impl",
    "TensorType",
    "_LinAlgError",
    "_are_functorch_transforms_active",
    "_functorch",
    "_get_accelerator",
    "_get_default_device",
    "_get_privateuse1_backend_name",
    "_log_api_usage_once",
]


def _log_api_usage_once(event: str) -> None:
    """Nothing: PyTorch tells a logger of the program's operator, if there is one, that the program uses this."""


class TensorType:
    """TorchScript's type of tensors, which programs write in annotations."""

    @classmethod
    def get(cls) -> "TensorType":
        """The type."""
        return cls()

    def __repr__(self) -> str:
        return "Tensor"


def _are_functorch_transforms_active() -> bool:
    """Whether this runs within vmap, grad or another transform."""
    return bool(stacks.transforms)


def _get_accelerator(check: bool | None = None) -> device:
    """The device that tensors are computed on where there is no accelerator."""
    return device("cpu")


def _get_default_device() -> str:
    """Where new tensors go, as text."""
    return str(get_default_device())


def _get_privateuse1_backend_name() -> str:
    """The name of a device that another library would add."""
    return "privateuseone"


# TorchScript's fusers, of which there are none: what is switched off stays off.


def _jit_can_fuse_on_cpu() -> bool:
    """Whether TorchScript fuses operations: never."""
    return False


_jit_can_fuse_on_gpu = _jit_can_fuse_on_cpu


def _jit_override_can_fuse_on_cpu(override: bool) -> None:
    """Nothing: there is nothing to switch."""


def _jit_set_profiling_mode(profiling_flag: bool) -> bool:
    """Nothing, likewise; it was off."""
    return False


_jit_override_can_fuse_on_gpu = _jit_set_texpr_fuser_enabled = _jit_override_can_fuse_on_cpu
_jit_set_profiling_executor = _jit_set_nvfuser_enabled = _jit_set_profiling_mode
