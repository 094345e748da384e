"""Invertible functions of samples, with the logarithm of how much they stretch space.

>>> from minitorch_compile.tensor import tensor
>>> t = ComposeTransform([AffineTransform(1.0, 2.0), ExpTransform()])
>>> x = tensor(0.5)
>>> y = t(x)
>>> y, t.inv(y), t.log_abs_det_jacobian(x, y)
(tensor(7.3891), tensor(0.5000), tensor(2.6931))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from minitorch_compile.distributions import constraints
from minitorch_compile.distributions.constraints import Constraint
from minitorch_compile.distributions.independent import sum_rightmost
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import Size, Tensor, ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.numeric_limits import finfo


class Transform:
    """A function y = t(x) with `t.inv`. A subclass defines _call, _inverse and log_abs_det_jacobian.

    `bijective`: whether every y has one x. `domain` and `codomain` are constraints on x and y. With `cache_size`=1 the
    last pair is remembered, so that t.inv(t(x)) is x itself.

    >>> exp = torch.distributions.transforms.ExpTransform()
    >>> exp(torch.tensor(0.0)), exp.inv(torch.tensor(1.0)), exp.bijective
    (tensor(1.), tensor(0.), True)
    """

    bijective = False
    domain: Constraint = constraints.real
    codomain: Constraint = constraints.real

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError(f"cache_size must be 0 or 1, got {cache_size}")
        self._cache_size = cache_size
        self._cached_x_y: tuple[Any, Any] = (None, None)
        super().__init__()  # a transform may be a Module as well

    @property
    def event_dim(self) -> int:
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse transform."""
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 where the transform rises, -1 where it falls."""
        raise NotImplementedError(f"{type(self).__name__}: is neither rising nor falling everywhere")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another cache_size."""
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        new._cache_size, new._cached_x_y = cache_size, (None, None)
        return new

    def __call__(self, x: Tensor) -> Any:
        if self._cache_size and x is self._cached_x_y[0]:
            return self._cached_x_y[1]
        y = self._call(x)
        self._cached_x_y = (x, y) if self._cache_size else self._cached_x_y
        return y

    def _inv_call(self, y: Tensor) -> Any:
        if self._cache_size and y is self._cached_x_y[1]:
            return self._cached_x_y[0]
        x = self._inverse(y)
        self._cached_x_y = (x, y) if self._cache_size else self._cached_x_y
        return x

    def _call(self, x: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: a transform must define _call(x)")

    def _inverse(self, y: Tensor) -> Any:
        raise NotImplementedError(f"{type(self).__name__}: can't be inverted")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        """log |dy/dx|."""
        raise NotImplementedError(f"{type(self).__name__}: a transform must define log_abs_det_jacobian(x, y)")

    def forward_shape(self, shape: Any) -> Any:
        """The shape of y for an x of this shape."""
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of x for a y of this shape."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """A transform the other way round."""

    def __init__(self, transform: Transform) -> None:
        super().__init__()
        self._of = transform
        self.bijective = transform.bijective
        self.domain, self.codomain = transform.codomain, transform.domain

    @property
    def inv(self) -> Transform:
        return self._of

    @property
    def sign(self) -> Any:
        return self._of.sign

    def __call__(self, x: Tensor) -> Any:
        return self._of._inv_call(x)

    def _inv_call(self, y: Tensor) -> Any:
        return self._of(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Any:
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._of.forward_shape(shape)

    def __repr__(self) -> str:
        return f"_InverseTransform({self._of!r})"


class ComposeTransform(Transform):
    """One transform after the other."""

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)
        self.bijective = all(part.bijective for part in self.parts)
        if self.parts:
            self.domain, self.codomain = self.parts[0].domain, self.parts[-1].codomain

    @property
    def event_dim(self) -> int:
        return max((part.event_dim for part in self.parts), default=0)

    @property
    def inv(self) -> Transform:
        return ComposeTransform([part.inv for part in reversed(self.parts)])

    @property
    def sign(self) -> Any:
        return math.prod(part.sign for part in self.parts)

    def forward_shape(self, shape: Any) -> Any:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def _call(self, x: Tensor) -> Any:
        for part in self.parts:
            x = part(x)
        return x

    def _inverse(self, y: Tensor) -> Any:
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        if not self.parts:
            return ops.zeros_like(x)
        total: Any = 0
        for part in self.parts:
            after = part(x)
            term = part.log_abs_det_jacobian(x, after)
            total = total + sum_rightmost(term, self.event_dim - part.event_dim)
            x = after
        return total

    def __repr__(self) -> str:
        return "ComposeTransform(" + ", ".join(map(repr, self.parts)) + ")"


identity_transform = ComposeTransform([])


def _broadcast(shape: Any, *parameters: Any) -> Any:
    """The shape of what is computed of a tensor of this shape and some parameters."""
    return broadcast_sizes(shape, *(p.shape for p in parameters if isinstance(p, Tensor)))


class ExpTransform(Transform):
    """e^x."""

    bijective = True
    sign = 1
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Any:
        return x.exp()

    def _inverse(self, y: Tensor) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return x


class PowerTransform(Transform):
    """x^exponent, for positive numbers."""

    bijective = True
    domain = codomain = constraints.positive

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.exponent = exponent

    @property
    def sign(self) -> Any:
        return self.exponent.sign() if isinstance(self.exponent, Tensor) else math.copysign(1, self.exponent)

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.exponent)

    def _call(self, x: Tensor) -> Any:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Any:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return (self.exponent * y / x).abs().log()


class SigmoidTransform(Transform):
    """1 / (1 + e^-x)."""

    bijective = True
    sign = 1
    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Any:
        limits = finfo(x.dtype)
        return ops.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)

    def _inverse(self, y: Tensor) -> Any:
        limits = finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(Transform):
    """log(1 + e^x)."""

    bijective = True
    sign = 1
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Tensor) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return -F.softplus(-x)


class TanhTransform(Transform):
    """tanh x: what squashes the actions of actor-critic policies."""

    bijective = True
    sign = 1
    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Any:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Any:
        return ops.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        # log(1 - tanh(x)^2) without the cancellation
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Transform):
    """|x|; the inverse is the positive one."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Any:
        return x.abs()

    def _inverse(self, y: Tensor) -> Any:
        return y


class AffineTransform(Transform):
    """loc + scale x."""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim
        if event_dim:
            self.domain = self.codomain = constraints.independent(constraints.real, event_dim)

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @property
    def sign(self) -> Any:
        return self.scale.sign() if isinstance(self.scale, Tensor) else math.copysign(1, self.scale)

    def forward_shape(self, shape: Any) -> Any:
        return _broadcast(shape, self.loc, self.scale)

    def _call(self, x: Tensor) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        scale = (
            self.scale if isinstance(self.scale, Tensor) else ops.full((), float(self.scale), x.dtype, device=x.device)
        )
        return sum_rightmost(scale.abs().log().expand(x.shape), self._event_dim)


class SoftmaxTransform(Transform):
    """Vectors to probabilities. Not bijective: adding a number to x changes nothing."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Any:
        return ops.softmax(x, -1)

    def _inverse(self, y: Tensor) -> Any:
        return y.log()


class IndependentTransform(Transform):
    """A transform of numbers, taken as one of vectors."""

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.base_transform, self.reinterpreted_batch_ndims = base_transform, reinterpreted_batch_ndims
        self.bijective = base_transform.bijective
        self.domain = constraints.independent(base_transform.domain, reinterpreted_batch_ndims)
        self.codomain = constraints.independent(base_transform.codomain, reinterpreted_batch_ndims)

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Any:
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Any:
        return self.base_transform._inv_call(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)


class StickBreakingTransform(Transform):
    """n numbers to n + 1 probabilities: each number says which share of the rest of a stick is broken off."""

    bijective = True
    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Tensor) -> Any:
        share = ops.sigmoid(x - self._offsets(x))
        rest = (1 - share).cumprod(-1)
        one = ops.ones_like(share[..., :1])
        return ops.cat([share, one], -1) * ops.cat([one, rest], -1)

    def _offsets(self, x: Tensor) -> Any:
        """So that x = 0 gives equal probabilities."""
        return ops.arange(x.shape[-1], 0, -1, device=x.device).to(x.dtype).log()

    def _inverse(self, y: Tensor) -> Any:
        broken = y[..., :-1]
        rest = (1 - broken.cumsum(-1)).clamp(min=finfo(y.dtype).tiny)
        return broken.log() - rest.log() + self._offsets(broken)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        x = x - self._offsets(x)
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*shape[:-1], shape[-1] - 1))


class ReshapeTransform(Transform):
    """Events of one shape to events of another."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size)
        self.domain = constraints.independent(constraints.real, len(self.in_shape))
        self.codomain = constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Any:
        return x.reshape((*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Tensor) -> Any:
        return y.reshape((*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Any:
        return ops.zeros(tuple(x.shape[: x.ndim - len(self.in_shape)]), dtype=x.dtype, device=x.device)

    def forward_shape(self, shape: Any) -> Any:
        return Size((*shape[: len(shape) - len(self.in_shape)], *self.out_shape))

    def inverse_shape(self, shape: Any) -> Any:
        return Size((*shape[: len(shape) - len(self.out_shape)], *self.in_shape))


class LowerCholeskyTransform(Transform):
    """Square matrices to lower triangular ones with a positive diagonal."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Any:
        return x.tril(-1) + ops.diag_embed(ops.linalg_diagonal(x).exp())

    def _inverse(self, y: Tensor) -> Any:
        return y.tril(-1) + ops.diag_embed(ops.linalg_diagonal(y).log())


class PositiveDefiniteTransform(Transform):
    """Square matrices to positive-definite ones, by way of their Cholesky factors."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Any:
        return LowerCholeskyTransform().inv(ops.linalg_cholesky(y))
