"""Discrete Fourier transforms: the kernels, by SciPy's pocketfft, and everything of torch.fft in terms of them.

`norm` says where the factor 1/n goes: "backward" (the default) into the inverse transform, "forward" into the forward
one, "ortho" its root into both.

>>> from minitorch_compile.tensor import tensor
>>> fft_fft(tensor([1.0, 0.0, 0.0, 0.0])), fft_irfft(tensor([4.0, 0.0, 0.0]))
(tensor([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j]), tensor([1., 1., 1., 1.]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy

from minitorch_compile.symbolic import WHOLE
from minitorch_compile.tensor.dispatch.declare import composite, kernel_op
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.memory.dimensions import wrap_dim, wrap_dims
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype, get_default_dtype
from minitorch_compile.tensor.ops.complex_numbers import conj, conj_physical
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import arange, full
from minitorch_compile.tensor.ops.joining import cat
from minitorch_compile.tensor.ops.splitting import narrow
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake

Ints = tuple[int, ...]
Axes = int | Sequence[int] | None
OTHER_WAY = {"forward": "backward", "backward": "forward", "ortho": "ortho"}

# ---------------------------------------------------------------------------------------------------------- the kernels


@kernel_op("fourier", torch=False)
def _fft_c2c(input: Array, dim: Ints, norm: str, forward: bool) -> Array:
    """Complex numbers to complex numbers, over some dimensions."""
    return (scipy.fft.fftn if forward else scipy.fft.ifftn)(input, axes=dim, norm=norm)


@_fft_c2c.shape_rule
def _c2c_rule(input: TensorBase, dim: Ints, norm: str, forward: bool) -> TensorBase:
    return _transformed(input, input.sizes, dim, input.dtype)


@kernel_op("fourier", torch=False)
def _fft_r2c(input: Array, dim: Ints, norm: str) -> Array:
    """Real numbers to the half of their spectrum, along the last of `dim`, that says all: n // 2 + 1 numbers."""
    return scipy.fft.rfftn(input, axes=dim, norm=norm)


@_fft_r2c.shape_rule
def _r2c_rule(input: TensorBase, dim: Ints, norm: str) -> TensorBase:
    sizes = list(input.sizes)
    sizes[dim[-1]] = sizes[dim[-1]] // 2 + 1
    return _transformed(input, sizes, dim, input.dtype.to_complex())


@kernel_op("fourier", torch=False)
def _fft_c2r(input: Array, dim: Ints, norm: str, size: int) -> Array:
    """Back from half a spectrum to real numbers, `size` of them along the last of `dim`."""
    sizes = [input.shape[d] for d in dim[:-1]] + [size]
    return scipy.fft.irfftn(input, sizes, axes=dim, norm=norm)


@_fft_c2r.shape_rule
def _c2r_rule(input: TensorBase, dim: Ints, norm: str, size: int) -> TensorBase:
    sizes = list(input.sizes)
    sizes[dim[-1]] = size
    return _transformed(input, sizes, dim, input.dtype.to_real())


def _transformed(input: TensorBase, sizes: Sequence[int], dim: Ints, element: dtype) -> TensorBase:
    """A fake result. In memory the transformed dimensions run fastest, as PyTorch leaves them."""
    others = sorted((d for d in range(len(sizes)) if d not in dim), key=lambda d: -input.strides[d])
    strides, step = [0] * len(sizes), 1
    for d in reversed([*others, *dim]):
        strides[d] = step
        step *= max(sizes[d], 1)
    return empty_fake(tuple(sizes), tuple(strides), element)


# ------------------------------------------------------------------------------------------------------- the arguments


def _checked_norm(name: str, norm: str | None) -> str:
    if norm is None:
        return "backward"
    if norm not in OTHER_WAY:
        raise RuntimeError(f"fft_{name}: Invalid normalization mode: {norm!r}; choose 'forward', 'backward' or 'ortho'")
    return norm


def _floating(name: str, x: Any, to_complex: bool) -> Any:
    """The input in a dtype that can be transformed."""
    if x.dtype.is_floating_point and x.dtype.itemsize < 4:
        raise RuntimeError(f"fft_{name}: Unsupported dtype {x.dtype}; convert with .float()")
    element = x.dtype if x.dtype.category >= FLOATING else get_default_dtype()
    target = element.to_complex() if to_complex else element
    return x if x.dtype is target else to_copy(x, target)


def _real_only(name: str, x: Any) -> Any:
    if x.dtype.is_complex:
        raise RuntimeError(f"fft_{name} expects a floating point input tensor, but got {x.dtype}")
    return _floating(name, x, False)


def _dims_and_sizes(name: str, x: Any, s: Any, dim: Axes) -> tuple[Ints, list[int | None]]:
    """The dimensions to transform and what each is to be padded or cut to; None is as it is."""
    if isinstance(s, WHOLE):
        s = (s,)
    if dim is None:
        count = len(x.sizes) if s is None else len(s)
        if count > len(x.sizes):
            raise RuntimeError(f"fft_{name}: Got shape with {count} values but input tensor only has {len(x.sizes)}")
        dims: Ints = tuple(range(len(x.sizes) - count, len(x.sizes)))
    else:
        dims = tuple(wrap_dim(d, len(x.sizes)) for d in ((dim,) if isinstance(dim, WHOLE) else dim))
    if len(set(dims)) < len(dims):
        raise RuntimeError(f"fft_{name}: FFT dims must be unique, got {dim}")
    sizes = [None if s is None or s[i] == -1 else int(s[i]) for i in range(len(dims))]
    if s is not None and len(s) != len(dims):
        raise RuntimeError(f"fft_{name}: When given, dim and shape arguments must have the same length, got {dim}, {s}")
    for d, n in zip(dims, sizes):
        if (x.sizes[d] if n is None else n) < 1:
            raise RuntimeError(
                f"fft_{name}: Invalid number of data points ({x.sizes[d] if n is None else n}) specified"
            )
    return dims, sizes


def _resized(x: Any, dims: Ints, sizes: Sequence[int | None]) -> Any:
    """Each dimension cut, or padded with zeros, to its size."""
    for d, n in zip(dims, sizes):
        have = x.sizes[d]
        if n is None or n == have:
            continue
        if n < have:
            x = narrow(x, d, 0, n)
        else:
            missing = tuple(n - have if i == d else m for i, m in enumerate(x.sizes))
            x = cat([x, full(missing, 0, x.dtype)], d)
    return x


# ------------------------------------------------------------------------------------------------- over many dimensions


def _c2c(name: str, x: Any, s: Any, dim: Axes, norm: str | None, forward: bool) -> Any:
    x = _floating(name, x, True)
    dims, sizes = _dims_and_sizes(name, x, s, dim)
    x = _resized(x, dims, sizes)
    return _fft_c2c(x, dims, _checked_norm(name, norm), forward) if dims else x.clone()


def _r2c(name: str, x: Any, s: Any, dim: Axes, norm: str | None) -> Any:
    x = _real_only(name, x)
    dims, sizes = _dims_and_sizes(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"fft_{name}: must transform at least one axis")
    return _fft_r2c(_resized(x, dims, sizes), dims, _checked_norm(name, norm))


def _c2r(name: str, x: Any, s: Any, dim: Axes, norm: str | None) -> Any:
    x = _floating(name, x, True)
    dims, sizes = _dims_and_sizes(name, x, s, dim)
    if not dims:
        raise RuntimeError(f"fft_{name}: must transform at least one axis")
    last = 2 * (x.sizes[dims[-1]] - 1) if sizes[-1] is None else sizes[-1]
    if last < 1:
        raise RuntimeError(f"fft_{name}: Invalid number of data points ({last}) specified")
    x = _resized(x, dims, [*sizes[:-1], last // 2 + 1])
    return _fft_c2r(x, dims, _checked_norm(name, norm), last)


@composite(torch=False)
def fft_fftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """The transform over `dim`, or all dimensions, each cut or padded to its size in `s` first."""
    return _c2c("fftn", input, s, dim, norm, True)


@composite(torch=False)
def fft_ifftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """The inverse of fftn."""
    return _c2c("ifftn", input, s, dim, norm, False)


@composite(torch=False)
def fft_rfftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """fftn of real numbers: half of the last dimension, since the rest are conjugates."""
    return _r2c("rfftn", input, s, dim, norm)


@composite(torch=False)
def fft_irfftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """The inverse of rfftn; the last size is 2 (m - 1) unless `s` says it."""
    return _c2r("irfftn", input, s, dim, norm)


@composite(torch=False)
def fft_hfftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """fftn of numbers that are Hermitian in the last dimension, of which half is given: real."""
    return _c2r("hfftn", conj(input), s, dim, OTHER_WAY[_checked_norm("hfftn", norm)])


@composite(torch=False)
def fft_ihfftn(input: Tensor, s: Any = None, dim: Axes = None, norm: str | None = None) -> Any:
    """The inverse of hfftn."""
    return conj_physical(_r2c("ihfftn", input, s, dim, OTHER_WAY[_checked_norm("ihfftn", norm)]))


# ------------------------------------------------------------------------------------------------ over one and over two


@composite(torch=False)
def fft_fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform along one dimension, cut or padded to `n` first."""
    return _c2c("fft", input, n, dim, norm, True)


@composite(torch=False)
def fft_ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of fft."""
    return _c2c("ifft", input, n, dim, norm, False)


@composite(torch=False)
def fft_rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """fft of real numbers: the first n // 2 + 1 results, since the rest are conjugates."""
    return _r2c("rfft", input, n, dim, norm)


@composite(torch=False)
def fft_irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of rfft; n is 2 (m - 1) unless given."""
    return _c2r("irfft", input, n, dim, norm)


@composite(torch=False)
def fft_hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """fft of a Hermitian signal, of which half is given: real."""
    return _c2r("hfft", conj(input), n, dim, OTHER_WAY[_checked_norm("hfft", norm)])


@composite(torch=False)
def fft_ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The inverse of hfft."""
    return conj(_r2c("ihfft", input, n, dim, OTHER_WAY[_checked_norm("ihfft", norm)]))


@composite(torch=False)
def fft_fft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """fftn over the last two dimensions."""
    return fft_fftn(input, s, dim, norm)


@composite(torch=False)
def fft_ifft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """ifftn over the last two dimensions."""
    return fft_ifftn(input, s, dim, norm)


@composite(torch=False)
def fft_rfft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """rfftn over the last two dimensions."""
    return fft_rfftn(input, s, dim, norm)


@composite(torch=False)
def fft_irfft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """irfftn over the last two dimensions."""
    return fft_irfftn(input, s, dim, norm)


@composite(torch=False)
def fft_hfft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """hfftn over the last two dimensions."""
    return fft_hfftn(input, s, dim, norm)


@composite(torch=False)
def fft_ihfft2(input: Tensor, s: Any = None, dim: Axes = (-2, -1), norm: str | None = None) -> Any:
    """ihfftn over the last two dimensions."""
    return fft_ihfftn(input, s, dim, norm)


# ----------------------------------------------------------------------------------------------- frequencies and shifts


@composite(torch=False)
def fft_fftfreq(n: int, d: float = 1.0, *, dtype: dtype | None = None, **options: Any) -> Any:
    """The frequency of each result of fft, for samples at distance d: 0, 1, ..., -2, -1 over n d."""
    positive = arange((n + 1) // 2, dtype=dtype or get_default_dtype(), **options)
    negative = arange(-(n // 2), 0, dtype=dtype or get_default_dtype(), **options)
    return cat([positive, negative]) * (1.0 / (n * d))


@composite(torch=False)
def fft_rfftfreq(n: int, d: float = 1.0, *, dtype: dtype | None = None, **options: Any) -> Any:
    """The frequency of each result of rfft: 0, 1, ..., n // 2 over n d."""
    return arange(n // 2 + 1, dtype=dtype or get_default_dtype(), **options) * (1.0 / (n * d))


@composite(torch=False)
def fft_fftshift(input: Tensor, dim: Axes = None) -> Any:
    """Frequency 0 moved from the first place to the middle."""
    return _turned(input, dim, lambda n: (n + 1) // 2)


@composite(torch=False)
def fft_ifftshift(input: Tensor, dim: Axes = None) -> Any:
    """The inverse of fftshift."""
    return _turned(input, dim, lambda n: n // 2)


def _turned(x: Any, dim: Axes, first: Any) -> Any:
    """Each dimension begun with its element `first(n)`; those before it come last."""
    for d in wrap_dims(dim, len(x.sizes)):
        n = x.sizes[d]
        x = cat([narrow(x, d, first(n), n - first(n)), narrow(x, d, 0, first(n))], d)
    return x
