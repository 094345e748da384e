"""Spectral normalisation: a weight divided by its largest singular value (Miyato et al. 2018).

The singular vectors are approximated by a few steps of the power method each time the module is called in training,
starting from those of the call before.

>>> from minitorch_compile import linalg, nn, ones
>>> layer = spectral_norm(nn.Linear(3, 2), n_power_iterations=50)
>>> _ = layer(ones(1, 3))
>>> round(linalg.svdvals(layer.weight.detach())[0].item(), 3)
1.0
"""

from __future__ import annotations

from typing import Any, TypeVar

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, no_grad, ops

AnyModule = TypeVar("AnyModule", bound=Module)


def as_matrix(weight: Tensor, dim: int) -> Any:
    """One dimension as the rows, all others as the columns."""
    if dim:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.reshape(weight.size(0), -1)


def unit(x: Any, eps: float) -> Any:
    """A vector at length 1."""
    return x / ops.clamp(ops.sqrt(ops.sum(x * x)), min=eps)


def output_dim(module: Module) -> int:
    """Which dimension of the weight counts the outputs."""
    return 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0


def check_iterations(count: int) -> None:
    if count <= 0:
        raise ValueError(f"Expected n_power_iterations to be positive, but got n_power_iterations={count}")


@no_grad()
def power_method(matrix: Any, u: Any, v: Any, count: int, eps: float) -> None:
    """Moves u and v, in place, towards the singular vectors of the largest singular value."""
    for _ in range(count):
        u.copy_(unit(ops.matmul(matrix, v), eps))
        v.copy_(unit(ops.matmul(matrix.t(), u), eps))


def largest_singular_value(matrix: Any, u: Any, v: Any) -> Any:
    return ops.sum(u * ops.matmul(matrix, v))


class SpectralNorm:
    """The hook that computes the weight before each call of the module."""

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        check_iterations(n_power_iterations)
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(unit(ops.matmul(matrix.t(), u), self.eps))
                    u.copy_(unit(ops.matmul(matrix, v), self.eps))
            u, v = u.clone(), v.clone()  # the next call writes into the buffers, backward still needs these
        return weight / largest_singular_value(matrix, u, v)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def _find(module: Module, name: str) -> tuple[int, SpectralNorm] | None:
    if module._module_hooks is not None:
        for key, hook in module._module_hooks.forward_pre.items():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                return key, hook
    return None


def spectral_norm(
    module: AnyModule, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> AnyModule:
    """Makes `name` a parameter `{name}_orig` divided by its largest singular value. Returns the module.

    `dim` counts the outputs: 1 for transposed convolutions, else 0. The vectors are the buffers `{name}_u` and
    `{name}_v`. RuntimeError if the parameter is normalised already.
    """
    if _find(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, output_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with no_grad():
        rows, columns = as_matrix(weight, hook.dim).shape
        u = unit(ops.randn(rows, dtype=weight.dtype), eps)
        v = unit(ops.randn(columns, dtype=weight.dtype), eps)
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(hook)
    return module


def remove_spectral_norm(module: AnyModule, name: str = "weight") -> AnyModule:
    """Makes the weight one parameter again. ValueError if it isn't normalised."""
    found = _find(module, name)
    if found is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    key, hook = found
    with no_grad():
        weight = hook.compute_weight(module, do_power_iteration=False).detach()
    for part in (name, name + "_u", name + "_v", name + "_orig"):
        delattr(module, part)
    module.register_parameter(name, Parameter(weight))
    del module._forward_pre_hooks[key]
    return module
