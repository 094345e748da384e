"""Tensors of PyTorch and of this package over the same memory, if PyTorch is installed.

    model.load_state_dict(from_torch(their_model.state_dict()))      # weights, without a copy until they are loaded
    their_loss(to_torch(x.detach()), target)

>>> from_torch({"epochs": [1, 2]})      # containers are walked; there is no tensor of PyTorch's in this one
{'epochs': [1, 2]}
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.numerics.dtype import FROM_NAME
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.tensor.tensor_class.exchange import from_dlpack


def from_torch(value: Any) -> Any:
    """Our tensor over the memory of PyTorch's, also inside lists, tuples and dictionaries; it requires no grad.

    RuntimeError for a tensor on a GPU: call .cpu() on it first.
    """
    return _convert(value, _is_theirs, _from_theirs)


def to_torch(value: Any) -> Any:
    """PyTorch's tensor over the memory of ours, also inside lists, tuples and dictionaries; it requires no grad.

    ModuleNotFoundError if PyTorch isn't installed.
    """
    torch = importlib.import_module("torch")
    if issubclass(torch.Tensor, TensorBase):
        raise ModuleNotFoundError("to_torch: PyTorch isn't there: `torch` is this package (as_torch is installed)")
    return _convert(value, lambda item: isinstance(item, TensorBase), lambda item: _to_theirs(item, torch))


def _is_theirs(item: Any) -> bool:
    """Whether this is a tensor of PyTorch's, without importing it. Ours may have the name of theirs (as_torch)."""
    names = (f"{kind.__module__}.{kind.__qualname__}" for kind in type(item).__mro__)
    return "torch.Tensor" in names and not isinstance(item, TensorBase)


def _from_theirs(theirs: Any) -> Tensor:
    theirs = theirs.detach()
    if str(theirs.dtype) == "torch.bfloat16":  # NumPy's DLPack has no word for it; the bits pass as integers
        bits = importlib.import_module("torch").int16
        return from_dlpack(theirs.view(bits)).view(FROM_NAME["bfloat16"])
    return from_dlpack(theirs)


def _to_theirs(ours: Any, torch: Any) -> Any:
    ours = ours.detach()
    if ours.dtype.name == "bfloat16":
        return torch.from_dlpack(ours.view(FROM_NAME["int16"])).view(torch.bfloat16)
    return torch.from_dlpack(ours)


def _convert(value: Any, wanted: Callable[[Any], bool], convert: Callable[[Any], Any]) -> Any:
    """The value with every wanted item in it converted."""
    if wanted(value):
        return convert(value)
    if isinstance(value, Mapping):
        return type(value)((key, _convert(item, wanted, convert)) for key, item in value.items())  # type: ignore[call-arg]
    if type(value) in (list, tuple):
        return type(value)(_convert(item, wanted, convert) for item in value)
    return value
