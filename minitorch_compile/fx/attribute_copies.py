"""Attributes that are copied from module to module, for classes that are nearly a GraphModule. The names are PyTorch's.

>>> from minitorch_compile import nn
>>> root, copied = nn.Sequential(nn.Linear(1, 2), nn.ReLU()), nn.Module()
>>> _copy_attr(root, copied, "0.weight")
>>> list(copied.state_dict())
['0.weight']
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor


class _CodeOnlyModule(Module):
    """A module made of the attributes of another."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        vars(self).update(body)


def _copy_attr(from_module: Module, to_module: Module, target: str) -> None:
    """Enters an attribute of one module, of a dotted name, in another, with the modules that it is in."""
    *path, last = target.split(".")
    for name in path:
        inner = getattr(from_module, name)
        if getattr(to_module, name, None) is None:
            setattr(to_module, name, Module())
        elif getattr(to_module, name) is inner:
            return  # the whole module was entered before
        from_module, to_module = inner, getattr(to_module, name)
    value: Any = getattr(from_module, last)
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        to_module.register_buffer(last, value)
    else:
        setattr(to_module, last, value)
