"""What the operations mean, in NumPy with float64: the words in which the oracle's half of a program is written.

Where NumPy has an operation under another name or not at all, its definition is here. Nothing comes from the package.
"""

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy import special

Array = np.ndarray


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1 + special.erf(x / np.sqrt(2)))


def gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x: Array, dim: int) -> Array:
    e = np.exp(x - x.max(dim, keepdims=True))
    return e / e.sum(dim, keepdims=True)


def logsumexp(x: Array, dim: int, keepdims: bool = False) -> Array:
    return special.logsumexp(x, dim, keepdims=keepdims)


def log_softmax(x: Array, dim: int) -> Array:
    return x - special.logsumexp(x, dim, keepdims=True)


def squeeze(x: Array, dim: int) -> Array:
    return np.squeeze(x, dim) if x.shape[dim] == 1 else x


def narrow(x: Array, dim: int, start: int, length: int) -> Array:
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, start + length),)]


def flatten(x: Array, start: int, end: int) -> Array:
    start, end = start % x.ndim, end % x.ndim
    return x.reshape(x.shape[:start] + (int(np.prod(x.shape[start : end + 1])),) + x.shape[end + 1 :])


def repeat(x: Array, times: tuple[int, ...]) -> Array:
    return np.tile(x, times)


def scatter_add(x: Array, dim: int, index: Array, src: Array) -> Array:
    result = x.copy()
    places = list(np.indices(index.shape))
    places[dim] = index
    np.add.at(result, tuple(places), src[tuple(map(slice, index.shape))])
    return result


def index_add(x: Array, index: Array, values: Array) -> Array:
    """x.index_put((index,), values, accumulate=True)"""
    result = x.copy()
    np.add.at(result, index, values)
    return result


def linear(x: Array, weight: Array, bias: Array | float = 0.0) -> Array:
    return x @ weight.T + bias


def layer_norm(x: Array, weight: Array | float = 1.0, bias: Array | float = 0.0, eps: float = 1e-5) -> Array:
    """Over the last dimension."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


def cross_entropy(logits: Array, target: Array) -> Array:
    return -np.take_along_axis(log_softmax(logits, 1), target[:, None], 1).mean()


def attention(q: Array, k: Array, v: Array) -> Array:
    scores = q @ np.swapaxes(k, -2, -1) / np.sqrt(q.shape[-1])
    return softmax(scores, -1) @ v


def conv2d(x: Array, weight: Array, bias: Any, stride: int, padding: int) -> Array:
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(padded, weight.shape[2:], axis=(2, 3))[:, :, ::stride, ::stride]
    return np.einsum("nchwij,ocij->nohw", windows, weight) + bias[:, None, None]


def max_pool2d(x: Array, kernel: int, stride: int) -> Array:
    return sliding_window_view(x, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride].max((-2, -1))


def distance_to_zero(x: Array) -> float:
    """How far the values keep from the kink of relu or the jump of a comparison."""
    return float(np.abs(x).min(initial=np.inf))


def distance_between_largest(x: Array, dim: int | None) -> float:
    """The smallest gap between the two largest values, along which max and its gradient would jump."""
    ordered = np.sort(x.reshape(-1) if dim is None else x, axis=-1 if dim is None else dim)
    ordered = ordered if dim is None else np.moveaxis(ordered, dim, -1)
    return float((ordered[..., -1:] - ordered[..., :-1]).min(initial=np.inf))
