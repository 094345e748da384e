"""Dropout: in training, elements are zeroed at random, and the others scaled so that the expectation stays.

>>> from minitorch_compile.tensor import manual_seed, ones
>>> sorted(set((manual_seed(0), dropout(ones(100), 0.5, True))[1].tolist())), dropout(ones(2), 0.5, False)
([0.0, 2.0], tensor([1., 1.]))
"""

from __future__ import annotations

import math
from typing import Any

from minitorch_compile.tensor.dispatch.declare import composite
from minitorch_compile.tensor.dispatch.op import Tensor
from minitorch_compile.tensor.modes.fake_tensor_mode import drawing_like
from minitorch_compile.tensor.ops.creation import empty
from minitorch_compile.tensor.ops.random import rand_like
from minitorch_compile.tensor.ops.sampling import trials
from minitorch_compile.tensor.random.generator import draws_as_pytorch

# What selu tends to far below 0: alpha_dropout puts it where it drops (Klambauer et al. 2017).
LOWEST_SELU = 1.7580993408473766


@composite()
@drawing_like
def dropout(input: Tensor, p: float, train: bool) -> Any:
    """Each element is 0 with probability p, else divided by 1 - p. Only in training. RuntimeError unless 0 <= p <=
    1."""
    _check(p)
    if not train or p == 0:
        return input
    if draws_as_pytorch() and p < 1:
        return input * (trials("dropout", input, 1 - p, None) / (1 - p))
    return input * 0 if p == 1 else input * (rand_like(input) >= p) / (1 - p)


@composite()
@drawing_like
def feature_dropout(input: Tensor, p: float, train: bool) -> Any:
    """dropout of whole channels: input (N, C, ...)."""
    _check(p)
    if not train or p == 0:
        return input
    if draws_as_pytorch() and p < 1:
        return input * (trials("feature_dropout", _for_features(input), 1 - p, None) / (1 - p))
    return input * 0 if p == 1 else input * (rand_like(_for_features(input)) >= p) / (1 - p)


@composite()
@drawing_like
def alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """The dropout for selu: mean and variance stay what they are."""
    _check(p)
    if not train or p == 0:
        return input
    return input * 0 if p == 1 else _alpha(input, input, p)


@composite()
@drawing_like
def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Any:
    """alpha_dropout of whole channels: input (N, C, ...)."""
    _check(p)
    if not train or p == 0:
        return input
    return input * 0 if p == 1 else _alpha(input, _for_features(input), p)


def _alpha(input: Any, places: Any, p: float) -> Any:
    """What is dropped (drawn for each of the places) becomes the lowest value of selu; then all is scaled and moved
    back to mean 0 and variance 1."""
    keep = trials("alpha_dropout", places, 1 - p, None) if draws_as_pytorch() else rand_like(places) >= p
    scale = 1 / math.sqrt((LOWEST_SELU**2 * p + 1) * (1 - p))
    kept = keep.to(input.dtype)  # else floats of two bytes would become float32
    return input * (kept * scale) + ((kept - 1) * (LOWEST_SELU * scale) + LOWEST_SELU * scale * p)


def _for_features(input: Any) -> Any:
    """An element for each channel of each sample."""
    if len(input.sizes) < 2:
        raise RuntimeError(
            f"Feature dropout requires at least 2 dimensions in the input, got sizes {list(input.sizes)}"
        )
    return empty((*input.sizes[:2], *[1] * (len(input.sizes) - 2)), dtype=input.dtype)


def _check(p: float) -> None:
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
