"""Batch normalisation.

>>> from minitorch_compile import nn, tensor
>>> layer = nn.BatchNorm1d(1)
>>> layer(tensor([[1.0], [3.0]])).detach(), layer.running_mean, layer.num_batches_tracked
(tensor([[-1.0000],
        [ 1.0000]]), tensor([0.2000]), tensor(1))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn import functional as F
from minitorch_compile.nn import init
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty, int64, ones, tensor, zeros


class NormBase(Module):
    """What batch and instance normalisation hold: a weight and a bias for each channel, and running statistics."""

    _version = 2  # since version 2 the number of batches is saved too

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        made: Any = {"device": device, "dtype": dtype}
        self.register_parameter("weight", Parameter(empty(num_features, **made)) if affine else None)
        self.register_parameter("bias", Parameter(empty(num_features, **made)) if affine and bias else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **made) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **made) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64, device=device) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches seen."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Weight 1, bias 0, and the running statistics reset."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: dict[str, Any], *rest: Any) -> None:
        """A state of version 1, or of unknown version, may lack the number of batches: the present one stays."""
        key, version = prefix + "num_batches_tracked", local_metadata.get("version")
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            counted = self.num_batches_tracked is not None
            state_dict[key] = self.num_batches_tracked if counted else tensor(0, dtype=int64)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine},"
            f" bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


_NormBase = NormBase  # PyTorch's name, which programs import


class _BatchNorm(NormBase):
    """Each channel (dimension 1) shifted to mean 0 and scaled to variance 1.

    In training over the batch, which also moves the running statistics by `momentum` (None: their plain average); in
    evaluation by the running statistics.
    """

    dims: tuple[int, ...] = ()  # how many dimensions an input may have

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        use_batch = self.training or self.running_mean is None
        tracks = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracks else None,
            self.running_var if tracks else None,
            self.weight,
            self.bias,
            use_batch,
            momentum,
            self.eps,
        )

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.dims:
            expected = " or ".join(f"{n}D" for n in self.dims)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L): each of the C = `num_features` channels is shifted to mean 0 and
    scaled to variance 1, as measured over the batch.

    `eps` is added to the variance. With `track_running_stats`, running averages of both, moved by `momentum` (None:
    plain averages), are used after eval(). `affine`: a weight, and with `bias` a bias, for each channel follow.

    >>> torch.nn.BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])).detach()
    tensor([[-1.0000],
            [ 1.0000]])
    """

    dims = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of images (N, C, H, W): each of the C = `num_features` channels is shifted to mean 0 and
    scaled to variance 1, as measured over the batch and its pixels.

    `eps` is added to the variance. With `track_running_stats`, running averages of both, moved by `momentum` (None:
    plain averages), are used after eval(). `affine`: a weight, and with `bias` a bias, for each channel follow.

    >>> layer = torch.nn.BatchNorm2d(3)
    >>> layer(torch.randn(2, 3, 4, 4)).shape, layer.weight.shape
    (torch.Size([2, 3, 4, 4]), torch.Size([3]))
    """

    dims = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of volumes (N, C, D, H, W)."""

    dims = (5,)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes. With one process, as here, it is batch normalisation.

    >>> from minitorch_compile import nn
    >>> nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))[0].num_features
    3
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """The module, each batch normalisation in it replaced by one of this class with the same parameters."""
        if isinstance(module, _BatchNorm):
            converted = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats)
            converted.__dict__.update(module.__dict__, process_group=process_group)
            return converted
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        return module
