"""Weight normalisation: a weight as its direction v and its length g (Salimans and Kingma 2016).

>>> from minitorch_compile import nn
>>> layer = weight_norm(nn.Linear(3, 2))
>>> [(name, tuple(p.shape)) for name, p in layer.named_parameters()]
[('bias', (2,)), ('weight_g', (2, 1)), ('weight_v', (2, 3))]
>>> [name for name, _ in remove_weight_norm(layer).named_parameters()]
['bias', 'weight']
"""

from __future__ import annotations

from typing import Any, TypeVar

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.user_warnings import warn_user

AnyModule = TypeVar("AnyModule", bound=Module)


def norm_except_dim(v: Tensor, dim: int | None = 0) -> Any:
    """The length along all dimensions but one, with size 1 for the others; the length of everything for None or -1."""
    if dim is None or dim == -1:
        return ops.sqrt(ops.sum(v * v))
    rest = [d for d in range(v.dim()) if d != dim % v.dim()]
    return ops.sqrt(ops.sum(v * v, rest, True)) if rest else ops.abs(v)


def compose_weight(v: Tensor, g: Tensor, dim: int | None = 0) -> Any:
    """The weight of direction v and length g."""
    return v * (g / norm_except_dim(v, dim))


class WeightNorm:
    """The hook that computes the weight before each call of the module."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = dim

    def compute_weight(self, module: Any) -> Any:
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return compose_weight(v, g, self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _find(module: Module, name: str) -> tuple[int, WeightNorm] | None:
    if module._module_hooks is not None:
        for key, hook in module._module_hooks.forward_pre.items():
            if isinstance(hook, WeightNorm) and hook.name == name:
                return key, hook
    return None


def weight_norm(module: AnyModule, name: str = "weight", dim: int | None = 0) -> AnyModule:
    """Replaces a parameter by its length `{name}_g` and its direction `{name}_v`. Returns the module.

    `dim`: each index of that dimension has its own length; None: there is one. `parametrizations.weight_norm` is the
    newer way. RuntimeError if the parameter is normalised already.
    """
    warn_user(
        "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if _find(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    del module._parameters[name]
    module.register_parameter(name + "_g", Parameter(norm_except_dim(weight.detach(), dim)))
    module.register_parameter(name + "_v", Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Makes the weight one parameter again. ValueError if it isn't normalised."""
    found = _find(module, name)
    if found is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    key, hook = found
    weight = hook.compute_weight(module).detach()
    for part in (name, name + "_g", name + "_v"):
        delattr(module, part)
    setattr(module, name, Parameter(weight))
    del module._forward_pre_hooks[key]
    return module
