"""Parametrizations that are used often: weights of length g, of spectral norm 1, orthogonal ones.

>>> from minitorch_compile import nn
>>> layer = weight_norm(nn.Linear(3, 2))
>>> list(layer.state_dict())
['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.utils.orthogonal import orthogonal
from minitorch_compile.nn.utils.parametrize import register_parametrization
from minitorch_compile.nn.utils.spectral_norm import (
    as_matrix,
    check_iterations,
    largest_singular_value,
    output_dim,
    power_method,
    unit,
)
from minitorch_compile.nn.utils.weight_norm import compose_weight, norm_except_dim
from minitorch_compile.tensor import Tensor, no_grad, ops


def _tensor_of(module: Module, name: str) -> Tensor:
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return tensor


# ---------------------------------------------------------------------------------------- weight norm


class _WeightNorm(Module):
    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Any:
        return compose_weight(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Any, Any]:
        return norm_except_dim(weight, self.dim), weight


class _OldNames:
    """Lets a module load the `weight_g` and `weight_v` that nn.utils.weight_norm saves."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        old = [f"{prefix}{self.name}_g", f"{prefix}{self.name}_v"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{self.name}.original{i}"] = state_dict.pop(key)


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """The weight as a direction, `original1`, and a length, `original0`, for each index of `dim` (Salimans and Kingma
    2016). Returns the module."""
    _tensor_of(module, name)
    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(_OldNames(name))
    return module


# ---------------------------------------------------------------------------------------- spectral norm


class _SpectralNorm(Module):
    """A weight over its largest singular value, whose vectors are the buffers _u and _v."""

    _u: Any
    _v: Any

    def __init__(self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, {weight.dim() - 1}] but got"
                f" {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % weight.dim()
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.dim() > 1:
            with no_grad():
                matrix = as_matrix(weight, self.dim)
                rows, columns = matrix.shape
                self.register_buffer("_u", unit(ops.randn(rows, dtype=weight.dtype), eps))
                self.register_buffer("_v", unit(ops.randn(columns, dtype=weight.dtype), eps))
                power_method(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Any:
        if weight.dim() == 1:
            return unit(weight, self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_method(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        # Copies: the next call writes into the buffers, and backward still needs these.
        return weight / largest_singular_value(matrix, self._u.clone(), self._v.clone())

    def right_inverse(self, value: Tensor) -> Tensor:
        return value  # of all weights with this quotient, the quotient itself


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """The weight divided by its largest singular value (Miyato et al. 2018). Returns the module.

    `dim` counts the outputs: 1 for transposed convolutions, else 0.
    """
    weight = _tensor_of(module, name)
    at = output_dim(module) if dim is None else dim
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, at, eps))


__all__ = ["orthogonal", "spectral_norm", "weight_norm"]
