"""Instance normalisation: each channel of each sample by itself.

>>> from minitorch_compile import nn, tensor
>>> nn.InstanceNorm1d(1)(tensor([[[1.0, 3.0]]])), list(nn.InstanceNorm2d(4, affine=True).state_dict())
(tensor([[[-1.0000,  1.0000]]]), ['weight', 'bias'])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn.modules.batchnorm import NormBase
from minitorch_compile.tensor import Tensor
from minitorch_compile.user_warnings import warn_user


class _InstanceNorm(NormBase):
    """Each channel of each sample shifted to mean 0 and scaled to variance 1.

    With `track_running_stats`, evaluation goes by the running statistics.
    """

    batched_dims = 0  # the number of dimensions of a batch; one less is a single sample

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        self._check_input(input)
        if input.dim() == self.batched_dims:
            return self._normalized(input)
        return self._normalized(input.unsqueeze(0)).squeeze(0)

    def _normalized(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _check_input(self, input: Tensor) -> None:
        batched = self.batched_dims
        if input.dim() not in (batched, batched - 1):
            raise ValueError(f"expected {batched - 1}D or {batched}D input (got {input.dim()}D input)")
        dim = 1 if input.dim() == batched else 0
        if input.size(dim) == self.num_features:
            return
        message = f"input's size at dim={dim} does not match num_features ({self.num_features}): {input.size(dim)}"
        if self.affine:
            raise ValueError(f"expected {message}")
        warn_user(f"{message}; num_features is not used because affine=False")


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    batched_dims = 3


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of images, (N, C, H, W) or (C, H, W)."""

    batched_dims = 4


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of volumes, (N, C, D, H, W) or (C, D, H, W)."""

    batched_dims = 5
