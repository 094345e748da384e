"""Transforms of parts: one for each piece of a dimension, or for each slice of it.

>>> from minitorch_compile.tensor import tensor
>>> from minitorch_compile.distributions.transforms import ExpTransform, identity_transform
>>> t = CatTransform([ExpTransform(), identity_transform], lengths=[1, 2])
>>> t(tensor([0.0, 5.0, 6.0]))
tensor([1., 5., 6.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.independent import sum_rightmost
from minitorch_compile.distributions.transforms import Transform
from minitorch_compile.tensor import Tensor, ops


class CatTransform(Transform):
    """The i-th transform for the i-th of consecutive pieces of dimension `dim`, which have `lengths`; 1 each if none
    are given.

    AssertionError for what is no transform or a tensor of another length, as in PyTorch.
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        _check_all_are_transforms(tseq)
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"CatTransform: got {len(self.lengths)} lengths for {len(self.transforms)} transforms")
        self.dim = dim
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.cat([t.domain for t in self.transforms], dim, self.lengths)
        self.codomain = constraints.cat([t.codomain for t in self.transforms], dim, self.lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """Of the whole dimension."""
        return sum(self.lengths)

    def _pieces(self, x: Tensor) -> Any:
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != self.length:
            raise AssertionError(
                f"CatTransform: expected {self.length} elements along dimension {self.dim}, got sizes {list(x.shape)}"
            )
        return ops.split_with_sizes(x, self.lengths, self.dim)

    def _call(self, x: Tensor) -> Any:
        return ops.cat([t(piece) for t, piece in zip(self.transforms, self._pieces(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Any:
        return ops.cat(
            [t._inv_call(piece) for t, piece in zip(self.transforms, self._pieces(y), strict=True)], self.dim
        )

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        found = []
        for t, xs, ys in zip(self.transforms, self._pieces(x), self._pieces(y), strict=True):
            found.append(sum_rightmost(t.log_abs_det_jacobian(xs, ys), self.event_dim - t.event_dim))
        dim = self.dim - x.ndim if self.dim >= 0 else self.dim
        dim += self.event_dim
        return ops.cat(found, dim) if dim < 0 else sum(found)


class StackTransform(Transform):
    """The i-th transform for the i-th slice of dimension `dim`."""

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        _check_all_are_transforms(tseq)
        super().__init__(cache_size)
        self.transforms = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.dim = dim
        self.bijective = all(t.bijective for t in self.transforms)
        self.domain = constraints.stack([t.domain for t in self.transforms], dim)
        self.codomain = constraints.stack([t.codomain for t in self.transforms], dim)

    def _slices(self, x: Tensor) -> Any:
        if not -x.ndim <= self.dim < x.ndim or x.shape[self.dim] != len(self.transforms):
            raise AssertionError(
                f"StackTransform: expected {len(self.transforms)} slices along dimension {self.dim}, got sizes"
                f" {list(x.shape)}"
            )
        return ops.unbind(x, self.dim)

    def _call(self, x: Tensor) -> Any:
        return ops.stack([t(part) for t, part in zip(self.transforms, self._slices(x), strict=True)], self.dim)

    def _inverse(self, y: Tensor) -> Any:
        return ops.stack(
            [t._inv_call(part) for t, part in zip(self.transforms, self._slices(y), strict=True)], self.dim
        )

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        parts = zip(self.transforms, self._slices(x), self._slices(y), strict=True)
        return ops.stack([t.log_abs_det_jacobian(xs, ys) for t, xs, ys in parts], self.dim)


def _check_all_are_transforms(tseq: Sequence[Any]) -> None:
    strange = next((t for t in tseq if not isinstance(t, Transform)), None)
    if strange is not None:
        raise AssertionError(f"tseq: all must be Transforms, got {type(strange).__name__}")


class CumulativeDistributionTransform(Transform):
    """A number to the probability that a draw is at most that: the cdf of a distribution of numbers."""

    bijective = True
    codomain = constraints.unit_interval

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        return self.distribution.support

    @property
    def sign(self) -> int:
        return 1

    def _call(self, x: Tensor) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return self.distribution.log_prob(x)
