"""einops' layers as our modules: what einops.layers.torch is for PyTorch.

(Under `as_torch`, a program's own `from einops.layers.torch import Rearrange` gives modules of ours as well.)

>>> from minitorch_compile import nn, zeros
>>> nn.Sequential(Rearrange("b c (h p) -> b h (p c)", p=2), nn.Linear(6, 1))(zeros(1, 3, 8)).shape
torch.Size([1, 4, 1])
"""

from __future__ import annotations

from typing import Any

from einops.layers import RearrangeMixin, ReduceMixin
from einops.layers._einmix import _EinmixMixin

from minitorch_compile.nn import Module, Parameter
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.ops import einsum


class Rearrange(RearrangeMixin, Module):
    """einops.rearrange as a layer."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class Reduce(ReduceMixin, Module):
    """einops.reduce as a layer."""

    def forward(self, input: Tensor) -> Tensor:
        return self._apply_recipe(input)


class EinMix(_EinmixMixin, Module):
    """A linear layer whose weight is named by its axes."""

    def _create_parameters(self, weight_shape: Any, weight_bound: float, bias_shape: Any, bias_bound: float) -> None:
        self.weight = Parameter(ops.zeros(weight_shape).uniform_(-weight_bound, weight_bound))
        self.bias = Parameter(ops.zeros(bias_shape).uniform_(-bias_bound, bias_bound)) if bias_shape else None

    def _create_rearrange_layers(
        self,
        pre_reshape_pattern: str | None,
        pre_reshape_lengths: dict[str, int] | None,
        post_reshape_pattern: str | None,
        post_reshape_lengths: dict[str, int] | None,
    ) -> None:
        self.pre_rearrange = (
            Rearrange(pre_reshape_pattern, **pre_reshape_lengths or {}) if pre_reshape_pattern else None
        )
        self.post_rearrange = (
            Rearrange(post_reshape_pattern, **post_reshape_lengths or {}) if post_reshape_pattern else None
        )

    def forward(self, input: Tensor) -> Tensor:
        before = input if self.pre_rearrange is None else self.pre_rearrange(input)
        result = einsum(self.einsum_pattern, before, self.weight)
        result = result if self.bias is None else result + self.bias
        return result if self.post_rearrange is None else self.post_rearrange(result)
