"""torch.signal.windows: weights that fade a signal out at both ends, for Fourier transforms of pieces of it.

`sym=True` gives a window that is the same from both ends, for filters; `sym=False` one that continues periodically.

>>> hamming(4, sym=False)
tensor([0.0800, 0.5400, 1.0000, 0.5400])
>>> gaussian(3, std=1.0)
tensor([0.6065, 1.0000, 0.6065])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.memory.memory_format import layout, strided
from minitorch_compile.tensor.numerics.dtype import dtype as Dtype
from minitorch_compile.tensor.numerics.dtype import get_default_dtype
from minitorch_compile.tensor.ops.construct import tensor


def _window(
    name: str, M: int, values: Callable[[np.ndarray, int], np.ndarray], sym: bool, asked: dict[str, Any]
) -> Tensor:
    """The window of M points; `values` gets their positions, and the distance from the first to the last."""
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if asked["layout"] is not strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {asked['layout']}")
    wanted: Dtype = asked["dtype"] or get_default_dtype()
    if not wanted.is_floating_point:
        raise ValueError(f"{name} expects floating point dtypes, got: {wanted}")
    last = M - 1 if sym else M
    points = np.ones(M) if M <= 1 else values(np.arange(M, dtype=np.float64), last)
    made = ops.to(tensor(points), wanted)
    return ops.to(made, asked["device"]).requires_grad_(asked["requires_grad"])


def _sum_of_cosines(weights: Iterable[float]) -> Callable[[np.ndarray, int], np.ndarray]:
    """weights[0] - weights[1] cos(x) + weights[2] cos(2x) - ..., where x goes once around."""
    listed = [*weights]
    return lambda n, last: sum(
        ((-1) ** i * weight * np.cos(2 * np.pi * i * n / last) for i, weight in enumerate(listed)), np.zeros(len(n))
    )


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("bartlett", M, lambda n, last: 1 - np.abs(2 * n / last - 1), sym, asked)


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A sum of cosines, with the weights `a` and signs in turns."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    weights = [*a]
    if not weights:
        raise ValueError("general_cosine: a must not be empty")
    return _window("general_cosine", M, _sum_of_cosines(weights), sym, asked)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """alpha - (1 - alpha) cos(x)."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("general_hamming", M, _sum_of_cosines([alpha, 1 - alpha]), sym, asked)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Hamming's: 0.54 - 0.46 cos(x)."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("hamming", M, _sum_of_cosines([0.54, 0.46]), sym, asked)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Von Hann's: 0.5 - 0.5 cos(x)."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("hann", M, _sum_of_cosines([0.5, 0.5]), sym, asked)


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Blackman's: three cosines."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("blackman", M, _sum_of_cosines([0.42, 0.5, 0.08]), sym, asked)


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Nuttall's: four cosines."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("nuttall", M, _sum_of_cosines([0.3635819, 0.4891775, 0.1365995, 0.0106411]), sym, asked)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a wave of a sine, which ends half a step outside."""
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("cosine", M, lambda n, last: np.sin(np.pi * (n + 0.5) / (last + 1)), sym, asked)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|distance from the centre| / tau). ValueError for a `center` of a symmetric window, or tau <= 0."""
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}

    def values(n: np.ndarray, last: int) -> np.ndarray:
        return np.exp(-np.abs(n - (last / 2 if center is None else center)) / tau)

    return _window("exponential", M, values, sym, asked)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-(distance from the centre)² / 2 std²). ValueError for std <= 0."""
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("gaussian", M, lambda n, last: np.exp(-(((n - last / 2) / std) ** 2) / 2), sym, asked)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Dtype | None = None,
    layout: layout = strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Kaiser's, from a Bessel function; a larger beta makes it narrower. ValueError for beta < 0."""
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    asked = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}

    def values(n: np.ndarray, last: int) -> np.ndarray:
        return np.i0(beta * np.sqrt(1 - (2 * n / last - 1) ** 2)) / np.i0(beta)

    return _window("kaiser", M, values, sym, asked)
