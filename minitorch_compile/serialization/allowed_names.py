"""The names that a pickle may use: those of which PyTorch's files of tensors are made, and what the user adds.

A pickle is a little program that says which functions to call, on what. Ours may call only these, so reading a file
can't do anything but make tensors and containers.

>>> find("collections", "OrderedDict")
<class 'collections.OrderedDict'>
>>> find("os", "system")
Traceback (most recent call last):
_pickle.UnpicklingError: load: the file wants to call os.system, ...
"""

from __future__ import annotations

import pickle
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

from minitorch_compile.nn import Parameter
from minitorch_compile.tensor import Size, Tensor, device
from minitorch_compile.tensor.dtype import FROM_NAME, FROM_NUMPY, dtype
from minitorch_compile.tensor.tensor_base import from_parts

_added: list[Any] = []


class StoredDtype:
    """Stands for torch.FloatStorage and its kin, which in a file tell the dtype of a storage's bytes."""

    def __init__(self, element: dtype | None) -> None:
        self.dtype = element


def rebuild_tensor(
    storage: Any,
    offset: int,
    sizes: Any,
    strides: Any,
    requires_grad: bool = False,
    hooks: Any = None,
    metadata: Any = None,
) -> Tensor:
    """A tensor over a storage that was read. The file's sizes and strides are checked against what there is."""
    result = from_parts(storage, offset, Size(sizes), tuple(strides), storage.dtype, device("cpu"))
    last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    if 0 not in result.sizes and not 0 <= last < len(storage) or offset < 0 or any(s < 0 for s in strides):
        raise pickle.UnpicklingError(f"load: a tensor of sizes {list(sizes)} reaches outside its storage")
    return result.requires_grad_() if requires_grad else result


def rebuild_parameter(data: Tensor, requires_grad: bool = True, hooks: Any = None, state: Any = None) -> Parameter:
    """nn.Parameter as PyTorch pickles it."""
    return Parameter(data, requires_grad)


_STORAGES = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
}

ALLOWED: dict[tuple[str, str], Any] = {
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "defaultdict"): defaultdict,
    ("collections", "Counter"): Counter,
    ("builtins", "set"): set,
    ("builtins", "complex"): complex,
    ("builtins", "bytearray"): bytearray,
    ("__builtin__", "set"): set,
    ("torch", "Size"): Size,
    ("torch", "device"): device,
    ("torch._utils", "_rebuild_tensor"): rebuild_tensor,
    ("torch._utils", "_rebuild_tensor_v2"): rebuild_tensor,
    ("torch._utils", "_rebuild_parameter"): rebuild_parameter,
    ("torch.nn.parameter", "Parameter"): Parameter,
    ("torch.storage", "UntypedStorage"): StoredDtype(None),
    **{("torch", name): StoredDtype(FROM_NAME.get(element)) for name, element in _STORAGES.items()},
    **{("torch", element.name): element for element in FROM_NUMPY.values()},
}


def find(module: str, name: str) -> Any:
    """What a pickle means by a name. pickle.UnpicklingError for one that is not allowed."""
    if (module, name) in ALLOWED:
        return ALLOWED[module, name]
    for added in _added:
        if (added.__module__, added.__qualname__) == (module, name):
            return added
    raise pickle.UnpicklingError(
        f"load: the file wants to call {module}.{name}, which may be any code, so it is not read; a file that holds"
        " state_dict() needs no such thing. If you trust the file and have the class: add_safe_globals([...])"
    )


def add_safe_globals(safe_globals: list[Callable[..., Any]]) -> None:
    """Allows classes and functions, found by module and name, in the pickles that load() reads from now on."""
    _added.extend(safe_globals)


def get_safe_globals() -> list[Any]:
    """What add_safe_globals() allowed."""
    return list(_added)


def clear_safe_globals() -> None:
    """Forgets what add_safe_globals() allowed."""
    _added.clear()
