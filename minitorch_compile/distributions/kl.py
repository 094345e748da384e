"""The Kullback-Leibler divergence: how much one distribution p is missed by another, q.

>>> from minitorch_compile.distributions import Normal
>>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
tensor(0.5000)

Closed forms are registered by pairs of classes; a subclass may use those of its base.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.distributions.bernoulli import Bernoulli
from minitorch_compile.distributions.beta import Beta
from minitorch_compile.distributions.binomial import Binomial
from minitorch_compile.distributions.categorical import Categorical
from minitorch_compile.distributions.dirichlet import Dirichlet
from minitorch_compile.distributions.distribution import Distribution
from minitorch_compile.distributions.exponential import Exponential
from minitorch_compile.distributions.gamma import Gamma
from minitorch_compile.distributions.geometric import Geometric
from minitorch_compile.distributions.gumbel import EULER, Gumbel
from minitorch_compile.distributions.half_normal import HalfNormal
from minitorch_compile.distributions.independent import Independent, sum_rightmost
from minitorch_compile.distributions.laplace import Laplace
from minitorch_compile.distributions.multivariate_normal import MultivariateNormal, half_log_det
from minitorch_compile.distributions.normal import Normal
from minitorch_compile.distributions.one_hot_categorical import OneHotCategorical
from minitorch_compile.distributions.poisson import Poisson
from minitorch_compile.distributions.transformed_distribution import TransformedDistribution
from minitorch_compile.distributions.uniform import Uniform
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import ops

Divergence = Callable[[Any, Any], Any]
_table: dict[tuple[type, type], Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Declares the decorated function to be the divergence for these two classes and their subclasses."""
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # other libraries have distributions of their own
            raise TypeError(f"Expected {name} to be a class of distributions but got {given}")

    def register(function: Divergence) -> Divergence:
        _table[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Any:
    """The expectation of log `p` - log `q` under p, for each of the batch. NotImplementedError without a closed form.

    >>> Normal = torch.distributions.Normal
    >>> torch.distributions.kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
    tensor(0.5000)
    """
    pairs = ((a, b) for a in type(p).__mro__ for b in type(q).__mro__)
    for pair in pairs:
        if pair in _table:
            return _table[pair](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}; average"
        " p.log_prob(x) - q.log_prob(x) over samples of p, or register_kl a closed form"
    )


def _infinite_where(condition: Any, value: Any) -> Any:
    return ops.where(condition, math.inf, value)


@register_kl(Normal, Normal)
def _(p: Normal, q: Normal) -> Any:
    ratio = (p.scale / q.scale) ** 2
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale) ** 2 - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _(p: HalfNormal, q: HalfNormal) -> Any:
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Bernoulli, Bernoulli)
def _(p: Bernoulli, q: Bernoulli) -> Any:
    positive = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    negative = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    positive = _infinite_where((q.probs == 0) & (p.probs != 0), positive)
    negative = _infinite_where((q.probs == 1) & (p.probs != 1), negative)
    return ops.where(p.probs == 0, 0.0, positive) + ops.where(p.probs == 1, 0.0, negative)


@register_kl(Binomial, Binomial)
def _(p: Binomial, q: Binomial) -> Any:
    one = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return _infinite_where(p.total_count > q.total_count, p.total_count * one)


@register_kl(Geometric, Geometric)
def _(p: Geometric, q: Geometric) -> Any:
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Categorical, Categorical)
def _(p: Categorical, q: Categorical) -> Any:
    terms = p.probs * (p.logits - q.logits)
    terms = ops.where(p.probs == 0, 0.0, _infinite_where((q.probs == 0).expand(terms.shape), terms))
    return terms.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p: OneHotCategorical, q: OneHotCategorical) -> Any:
    return kl_divergence(p._categorical, q._categorical)


@register_kl(Gamma, Gamma)
def _(p: Gamma, q: Gamma) -> Any:
    a, b = p.concentration, q.concentration
    return (
        b * (p.rate / q.rate).log()
        + ops.lgamma(b)
        - ops.lgamma(a)
        + (a - b) * ops.digamma(a)
        + (q.rate - p.rate) * (a / p.rate)
    )


@register_kl(Exponential, Exponential)
def _(p: Exponential, q: Exponential) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(Dirichlet, Dirichlet)
def _(p: Dirichlet, q: Dirichlet) -> Any:
    a, b = p.concentration, q.concentration
    total_a, total_b = a.sum(-1), b.sum(-1)
    normalisers = ops.lgamma(total_a) - ops.lgamma(total_b) - (ops.lgamma(a) - ops.lgamma(b)).sum(-1)
    return normalisers + ((a - b) * (ops.digamma(a) - ops.digamma(total_a).unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _(p: Beta, q: Beta) -> Any:
    return kl_divergence(p._dirichlet, q._dirichlet)


@register_kl(Laplace, Laplace)
def _(p: Laplace, q: Laplace) -> Any:
    distance = (p.loc - q.loc).abs()
    ratio = p.scale / q.scale
    return -ratio.log() + distance / q.scale + ratio * (-distance / p.scale).exp() - 1


@register_kl(Gumbel, Gumbel)
def _(p: Gumbel, q: Gumbel) -> Any:
    ratio, offset = p.scale / q.scale, q.loc / q.scale
    shift = p.loc / q.scale - offset
    return -ratio.log() - shift + ratio * EULER + (ops.lgamma(1 + ratio) - shift).exp() - (1 + EULER) + 2 * shift


@register_kl(Poisson, Poisson)
def _(p: Poisson, q: Poisson) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _(p: Uniform, q: Uniform) -> Any:
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return _infinite_where((q.low > p.low) | (q.high < p.high), result)


@register_kl(Uniform, Normal)
def _(p: Uniform, q: Normal) -> Any:
    width = p.high - p.low
    spread = (width / math.sqrt(12) / q.scale) ** 2 / 2 + ((p.high + p.low - 2 * q.loc) / 2 / q.scale) ** 2 / 2
    return (math.sqrt(2 * math.pi) * q.scale / width).log() + spread


@register_kl(MultivariateNormal, MultivariateNormal)
def _(p: MultivariateNormal, q: MultivariateNormal) -> Any:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed:"
            f" {p.event_shape} and {q.event_shape}"
        )
    own, other = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    mixed = ops.linalg_solve_triangular(other, own, upper=False)
    offset = ops.linalg_solve_triangular(other, (q.loc - p.loc).unsqueeze(-1), upper=False).squeeze(-1)
    distances = (mixed**2).sum((-2, -1)) + (offset**2).sum(-1)
    return half_log_det(other) - half_log_det(own) + 0.5 * (distances - p.event_shape[0])


@register_kl(Independent, Independent)
def _(p: Independent, q: Independent) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: both Independents must take the same number of dimensions as events")
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p: TransformedDistribution, q: TransformedDistribution) -> Any:
    """The same transforms on both sides change nothing."""
    kinds = [[(type(t), t.__dict__.get("loc"), t.__dict__.get("scale")) for t in d.transforms] for d in (p, q)]
    if [kind for kind, *_ in kinds[0]] != [kind for kind, *_ in kinds[1]] or any(
        loc is not None for kind in kinds for _, loc, _ in kind
    ):
        raise NotImplementedError("kl_divergence: the transforms differ, or have parameters; average over samples")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: the event shapes of the transformed distributions differ")
    return kl_divergence(p.base_dist, q.base_dist)
