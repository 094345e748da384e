"""Layers that learn the size of their input from the first input they see, and become ordinary layers then.

>>> from minitorch_compile import nn, ones
>>> layer = LazyLinear(4)
>>> layer, layer.weight
(LazyLinear(in_features=0, out_features=4, bias=True), <UninitializedParameter>)
>>> _ = layer(ones(2, 3))
>>> layer
Linear(in_features=3, out_features=4, bias=True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, NormBase
from minitorch_compile.nn.modules.conv import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from minitorch_compile.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from minitorch_compile.nn.modules.linear import Linear
from minitorch_compile.nn.uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy
from minitorch_compile.tensor import Tensor, no_grad


class LazyModuleMixin(Module):
    """A module that initializes its parameters in its first call: `initialize_parameters(*args)` gives them sizes.

    Afterwards it is of the class `cls_to_become`, if there is one.
    """

    cls_to_become: type[Any] | None = None

    def has_uninitialized_params(self) -> bool:
        """Whether sizes are still missing."""
        return any(is_lazy(x) for x in (*self._parameters.values(), *self._buffers.values()))

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Gives the parameters sizes that fit these arguments of forward."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}: define it, to give the parameters"
            " sizes by the arguments of forward"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            self.initialize_parameters(*args, **kwargs)
        if self.cls_to_become is None:
            return super().__call__(*args, **kwargs)
        self.__class__ = self.cls_to_become
        return self(*args, **kwargs)


class _LazyLayer(LazyModuleMixin):
    """A layer of which only the size of the input is missing."""

    def _input_is_known(self) -> bool:
        raise NotImplementedError

    def reset_parameters(self) -> None:
        """Fills the parameters, once they have sizes."""
        if not self.has_uninitialized_params() and self._input_is_known():
            super().reset_parameters()  # type: ignore[misc]  # the layer's own

    def _give_sizes(self, sizes: dict[str, tuple[int, ...]]) -> None:
        """Sizes for those that have none, which are then filled. What a loaded state filled stays."""
        fresh = self.has_uninitialized_params()
        for name, size in sizes.items():
            x: Any = getattr(self, name)
            if is_lazy(x):
                x.materialize(size)
        if fresh:
            self.reset_parameters()


class LazyLinear(_LazyLayer, Linear):
    """Linear, without in_features."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.weight = UninitializedParameter(dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(dtype=dtype)

    def _input_is_known(self) -> bool:
        return self.in_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """in_features is the last size of the input."""
        self.in_features = input.shape[-1]
        self._give_sizes({"weight": (self.out_features, self.in_features), "bias": (self.out_features,)})


# ---------------------------------------------------------------------------------------- convolutions


class _LazyConv(_LazyLayer):
    """A convolution without in_channels; its other arguments are the convolution's."""

    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, device, dtype)
        self._expect_weights(out_channels, bias, dtype)

    def _expect_weights(self, out_channels: int, bias: bool, dtype: Any) -> None:
        self.weight = UninitializedParameter(dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(dtype=dtype)

    def _input_is_known(self) -> bool:
        return self.in_channels != 0

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """in_channels is the size of the input's dimension of channels."""
        window = self.kernel_size
        if input.dim() not in (len(window) + 1, len(window) + 2):
            raise RuntimeError(
                f"Expected {len(window) + 1}D (unbatched) or {len(window) + 2}D (batched) input to"
                f" {type(self).__name__}, but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[-len(window) - 1]
        if self.in_channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        outer, inner = self.out_channels, self.in_channels // self.groups
        if self.transposed:
            outer, inner = self.in_channels, self.out_channels // self.groups
        self._give_sizes({"weight": (outer, inner, *window), "bias": (self.out_channels,)})


class LazyConv1d(_LazyConv, Conv1d):
    """Conv1d, without in_channels."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """Conv2d, without in_channels."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """Conv3d, without in_channels."""

    cls_to_become = Conv3d


class _LazyConvTranspose(_LazyConv):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = (kernel_size, stride, padding, output_padding)
        super(_LazyConv, self).__init__(0, 0, *window, groups, False, dilation, padding_mode, device, dtype)
        self._expect_weights(out_channels, bias, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """ConvTranspose1d, without in_channels."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """ConvTranspose2d, without in_channels."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """ConvTranspose3d, without in_channels."""

    cls_to_become = ConvTranspose3d


# ---------------------------------------------------------------------------------------- norms


class _LazyNorm(_LazyLayer, NormBase):
    """A batch or instance norm without num_features; its other arguments are the norm's."""

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        for registered, made in (
            (self._parameters, UninitializedParameter),
            (self._buffers, UninitializedBuffer),
        ):
            for name, value in registered.items():
                if value is not None and name != "num_batches_tracked":
                    registered[name] = made(dtype=dtype)

    def _input_is_known(self) -> bool:
        return self.num_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """num_features is the size of dimension 1."""
        self.num_features = input.shape[1]
        self._give_sizes(dict.fromkeys((*self._parameters, *self._buffers), (self.num_features,)))


class LazyBatchNorm1d(_LazyNorm, BatchNorm1d):
    """BatchNorm1d, without num_features."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, BatchNorm2d):
    """BatchNorm2d, without num_features."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, BatchNorm3d):
    """BatchNorm3d, without num_features."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, InstanceNorm1d):
    """InstanceNorm1d, without num_features."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, InstanceNorm2d):
    """InstanceNorm2d, without num_features."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, InstanceNorm3d):
    """InstanceNorm3d, without num_features."""

    cls_to_become = InstanceNorm3d
