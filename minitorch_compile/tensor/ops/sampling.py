"""Random tensors whose distribution is itself given by tensors: bernoulli, multinomial, normal, poisson, gamma.

Each draws uniform numbers from the stream and maps them by a pure function. So the compiler needs to know nothing of
them beyond the uniform draw, and the same seed gives the same sample.

>>> from minitorch_compile.tensor import manual_seed, tensor
>>> _ = manual_seed(0)
>>> bernoulli(tensor([0.0, 1.0])), multinomial(tensor([0.0, 1.0, 0.0]), 2, replacement=True)
(tensor([0., 1.]), tensor([1, 1]))
>>> sorted(multinomial(tensor([1.0, 2.0, 3.0]), 3).tolist())
[0, 1, 2]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from minitorch_compile.tensor.dispatch.declare import composite, kernel_op, pointwise
from minitorch_compile.tensor.dispatch.number_arguments import number
from minitorch_compile.tensor.dispatch.op import Array, Tensor
from minitorch_compile.tensor.dispatch.pointwise_op import INT_TO_FLOAT
from minitorch_compile.tensor.dispatch.tensor_options import making_on, with_options
from minitorch_compile.tensor.memory.strides import broadcast_sizes, contiguous_strides
from minitorch_compile.tensor.modes.fake_tensor_mode import drawing_like
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype, float32, float64, get_default_dtype, int64
from minitorch_compile.tensor.numerics.numeric_limits import finfo
from minitorch_compile.tensor.ops.checked_values import checked
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.creation import sizes_of
from minitorch_compile.tensor.ops.pytorch_stream import drawn_like, drawn_normals, drawn_one_by_one
from minitorch_compile.tensor.ops.random import normal_random, randn, uniform_random
from minitorch_compile.tensor.ops.reduction import all
from minitorch_compile.tensor.ops.reshaping import broadcast_tensors
from minitorch_compile.tensor.ops.view import detach
from minitorch_compile.tensor.random.generator import draws_as_pytorch
from minitorch_compile.tensor.tensor_base import TensorBase, empty_fake


def _check_floating(name: str, input: Any) -> None:
    if not isinstance(input, TensorBase):
        raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if input.dtype.category < FLOATING:
        raise NotImplementedError(f"{name}: expected input of a floating-point dtype, got {input.dtype}")


def _all_true(condition: Any) -> bool:
    """Whether the condition holds everywhere; while tracing, when there is no data to look at, it is taken to hold."""
    if condition.storage.block is not None:
        return bool(all(condition))
    return bool(condition.is_fake or condition.array.all())


# ---------------------------------------------------------------------------------------------------- bernoulli, normal


@composite(methods=True)
@drawing_like
def bernoulli(input: Tensor, p: float | None = None, *, generator: Any = None) -> Any:
    """1 with the probability that each element of `input` gives (or with probability `p`), else 0; no gradient passes.

    RuntimeError for what is not a probability.

    >>> torch.bernoulli(torch.tensor([0.0, 1.0]))
    tensor([0., 1.])
    """
    return trials("bernoulli", input, input if p is None else p, generator)


def trials(name: str, input: Any, p: Any, generator: Any) -> Any:
    """For each element of `input` 1 with probability p, a number or a tensor of the same sizes."""
    if isinstance(p, TensorBase):
        _check_floating(name, p)
        chances: Any = p
        if not _all_true((chances >= 0) & (chances <= 1)):
            raise RuntimeError(f"{name}: expected every element p_in to satisfy 0 <= p_in <= 1; pass probabilities")
        p = checked(chances, (chances >= 0) & (chances <= 1))
    elif not 0 <= p <= 1:
        raise RuntimeError(f"{name}: expected 0 <= p <= 1, but found p={p}")
    if draws_as_pytorch():
        numbers = drawn_like(input, float32 if _is_narrow(p) else float64, "uniform", generator=generator)
    else:
        numbers = uniform_random(tuple(input.sizes), _precision(input.dtype), generator)
    return to_copy(numbers < p, input.dtype)


def _precision(element: dtype) -> dtype:
    """The dtype to draw uniform numbers in: the element's, if it has bits enough."""
    return element if element.is_floating_point and element.itemsize >= 4 else get_default_dtype()


def _is_narrow(p: Any) -> bool:
    """Whether PyTorch's stream spends one word on a comparison with these probabilities."""
    return isinstance(p, TensorBase) and p.dtype is not float64


@composite()
def normal(
    mean: Any,
    std: Any = 1.0,
    size: Any = None,
    *,
    generator: Any = None,
    dtype: dtype | None = None,
    requires_grad: bool = False,
    **options: Any,
) -> Any:
    """Normal numbers of that `mean` and standard deviation, `std`, each a tensor or a number; two numbers need a
    `size`.

    No gradient passes to mean or std: write mean + std * randn_like(mean) for that. RuntimeError for a negative std.

    >>> torch.normal(torch.tensor([1.0, 2.0]), 0.0), torch.normal(0.0, 1.0, (2, 3)).shape
    (tensor([1., 2.]), torch.Size([2, 3]))
    """
    if size is not None:  # then mean and std are numbers
        mean, std = (number(v, "normal", "mean and std") if isinstance(v, TensorBase) else v for v in (mean, std))
    tensors: list[Any] = [v for v in (mean, std) if isinstance(v, TensorBase)]
    if not tensors:
        if size is None:
            raise TypeError("normal(): two numbers need a size: normal(mean, std, size)")
        _check_std("normal", std)
        if draws_as_pytorch():
            shape, element = sizes_of("normal", size), dtype or get_default_dtype()
            numbers = drawn_normals(shape, contiguous_strides(shape), element, mean, std, generator)
            drawn = with_options(numbers, **options)
        else:
            drawn = randn(size=size, generator=generator, dtype=dtype, **options) * std + mean
        if requires_grad:
            drawn.requires_grad = True
        return drawn
    for value in tensors:
        _check_floating("normal", value)
    center, spread = (detach(v) if isinstance(v, TensorBase) else v for v in (mean, std))
    spread = _check_std("normal", spread)
    element = tensors[0].dtype
    with making_on(tensors[0].device):
        drawn = normal_random(broadcast_sizes(*(v.sizes for v in tensors)), element, generator)
    return to_copy(drawn * spread + center, element) if len(tensors) == 2 else drawn * spread + center


def _check_std(name: str, std: Any) -> Any:
    fine: Any = std >= 0
    if not (_all_true(fine) if isinstance(fine, TensorBase) else fine):
        raise RuntimeError(f"{name} expects std >= 0.0, but found std {std}")
    return checked(std, fine) if isinstance(std, TensorBase) else std


# ------------------------------------------------------------------------------------------------------- multinomial


@composite(methods=True)
@drawing_like
def multinomial(input: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Indices drawn with probabilities proportional to the rows of `input`: int64, [..., `num_samples`], each at most
    once unless `replacement`.

    RuntimeError for weights that are negative, infinite or all 0, and for more samples than categories without
    replacement.

    >>> torch.multinomial(torch.tensor([0.0, 1.0, 0.0]), 4, replacement=True)
    tensor([1, 1, 1, 1])
    """
    if len(input.sizes) not in (1, 2):
        raise RuntimeError(f"multinomial: prob_dist must be 1 or 2 dim, got sizes {list(input.sizes)}")
    if input.dtype.category != FLOATING:
        raise RuntimeError(f"multinomial only supports floating-point dtypes for input, got: {input.dtype}")
    if num_samples <= 0:
        raise RuntimeError(f"multinomial: cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and num_samples > input.sizes[-1]:
        raise RuntimeError(
            f"multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, got {num_samples}"
            f" of {input.sizes[-1]}"
        )
    if draws_as_pytorch() and num_samples == 1:  # there, one sample is drawn by waiting times either way
        replacement = False
    draws = num_samples if replacement else input.sizes[-1]
    uniforms = uniform_random((*input.sizes[:-1], draws), float64, generator)
    # PyTorch sums and compares weights in their own dtype; float64 is closer to what they say.
    weights = input.detach() if draws_as_pytorch() else to_copy(input.detach(), float64)
    return multinomial_choice(weights, uniforms, num_samples, replacement)


@kernel_op("sampling", torch=False)
def multinomial_choice(input: Array, uniforms: Array, num_samples: int, replacement: bool) -> Array:
    """The indices that uniform numbers choose from rows of weights.

    With replacement, u falls into one of the intervals that the cumulative weights make. Without, each category waits
    for an exponential time at the rate of its weight, and the first ones win.

    Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006).
    """
    weights = input if input.dtype.itemsize >= 4 else input.astype(np.float32)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise RuntimeError("multinomial: probability tensor contains either `inf`, `nan` or element < 0")
    total = weights.sum(-1, keepdims=True)
    if (total <= 0).any():
        raise RuntimeError("multinomial: invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement:
        waits = np.maximum(-np.log1p(-uniforms), np.finfo(weights.dtype).tiny).astype(weights.dtype)
        return np.argsort(-(weights / waits), axis=-1, kind="stable")[..., :num_samples]
    cumulative = np.cumsum(weights, -1)
    edges = (cumulative / cumulative[..., -1:]).reshape(-1, weights.shape[-1])
    marks = uniforms.reshape(-1, num_samples)
    chosen = [np.searchsorted(row, u, side="right") for row, u in zip(edges, marks, strict=True)]
    return np.array(chosen, np.int64).reshape(uniforms.shape)


@multinomial_choice.shape_rule
def _multinomial_rule(input: TensorBase, uniforms: TensorBase, num_samples: int, replacement: bool) -> TensorBase:
    return empty_fake((*input.sizes[:-1], num_samples), None, int64)


# ------------------------------------------------------------------------- others, by the inverse of their distribution


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def poisson_quantile(rate: Array, u: Array) -> Array:
    """The smallest k with P(X <= k) >= u, for a Poisson variable X of that rate."""
    return _smallest_integer(lambda k: scipy.special.pdtr(k, rate), scipy.special.pdtrik(u, rate), u)


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def binomial_quantile(count: Array, prob: Array, u: Array) -> Array:
    """The smallest k with P(X <= k) >= u, for the number X of successes in `count` trials."""
    trials = np.asarray(count).astype(np.int64)
    found = _smallest_integer(lambda k: scipy.special.bdtr(k, trials, prob), scipy.special.bdtrik(u, count, prob), u)
    return np.where(prob <= 0, 0, np.where(prob >= 1, count, np.minimum(found, count)))


def _smallest_integer(distribution: Any, place: Array, u: Array) -> Array:
    """The inverse at integers: the ceiling of the inverse in between, or the integer below, if it was rounded up."""
    above = np.where(np.isnan(place), 0, np.ceil(place))
    below = np.maximum(above - 1, 0)
    return np.where(distribution(below) >= u, below, above)


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def gamma_quantile(concentration: Array, u: Array) -> Array:
    """The x with P(X <= x) = u, for a gamma variable X of that concentration and rate 1."""
    return scipy.special.gammaincinv(concentration, u)


@pointwise(INT_TO_FLOAT, torch=False, methods=False)
def gamma_quantile_slope(concentration: Array, x: Array) -> Array:
    """The derivative of a gamma variable by its concentration, at a fixed probability: -(dP/da) / p(x).

    P(a, x) is the regularised incomplete gamma function; dP/da by central differences in float64.
    """
    a, value = concentration.astype(np.float64), np.maximum(x.astype(np.float64), 1e-300)
    step = 1e-4 * np.maximum(a, 1e-3)
    by_concentration = (scipy.special.gammainc(a + step, value) - scipy.special.gammainc(a - step, value)) / (2 * step)
    density = np.exp(scipy.special.xlogy(a - 1, value) - value - scipy.special.gammaln(a))
    return (-by_concentration / density).astype(np.result_type(concentration, x))


@composite()
@drawing_like
def poisson(input: Tensor, generator: Any = None) -> Any:
    """Poisson counts of the rates in `input`; no gradient passes. RuntimeError for a negative rate."""
    _check_floating("poisson", input)
    if not _all_true(input >= 0):
        raise RuntimeError("poisson: invalid Poisson rate, expected rate to be non-negative")
    if draws_as_pytorch():
        return to_copy(drawn_one_by_one(input, "poisson", generator=generator), input.dtype)
    uniforms = uniform_random(tuple(input.sizes), float64, generator)
    rates = checked(input.detach(), input.detach() >= 0)
    return to_copy(poisson_quantile(to_copy(rates, float64), uniforms), input.dtype)


@composite()
def binomial(count: Tensor, prob: Tensor, generator: Any = None) -> Any:
    """The number of successes in `count` trials of probability `prob`; no gradient passes."""
    _check_floating("binomial", count)
    if draws_as_pytorch():
        trials, chances = broadcast_tensors(count, prob)
        return to_copy(drawn_one_by_one(trials, "binomial", other=chances, generator=generator), count.dtype)
    with making_on(count.device):
        uniforms = uniform_random(broadcast_sizes(count.sizes, prob.sizes), float64, generator)
    wide = [to_copy(x.detach(), float64) for x in (count, prob)]
    return to_copy(binomial_quantile(*wide, uniforms), count.dtype)


@composite()
@drawing_like
def _standard_gamma(input: Tensor, generator: Any = None) -> Any:
    """Gamma numbers of the concentrations in `input` and rate 1; differentiable by the concentration."""
    _check_floating("_standard_gamma", input)
    wide = to_copy(input, float64)
    if draws_as_pytorch():
        drawn = drawn_one_by_one(input, "gamma", generator=generator)
        if input.requires_grad:  # the number stays, and moves with the concentration
            drawn = drawn + gamma_quantile_slope(wide.detach(), drawn) * (wide - wide.detach())
    else:
        drawn = gamma_quantile(wide, uniform_random(tuple(input.sizes), float64, generator))
    return to_copy(drawn, input.dtype).clamp(min=finfo(input.dtype).tiny)


@composite()
@drawing_like
def _sample_dirichlet(input: Tensor, generator: Any = None) -> Any:
    """Points of the simplex: gamma numbers divided by their sum along the last dimension."""
    drawn = _standard_gamma(to_copy(input, float64), generator)
    return to_copy(drawn / drawn.sum(-1, keepdim=True), input.dtype)
