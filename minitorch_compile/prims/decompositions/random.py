"""Random tensors, as functions of their place in the stream.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, float32, int64, ops
>>> place = empty_fake((), dtype=int64)
>>> print(decomposed(ops.philox_uniform, (3,), place, place, float32).compact())
seed, offset -> philox_uniform((3,), seed, offset, torch.float32)
"""

from __future__ import annotations

import math

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import decomposes, refuses
from minitorch_compile.prims.elementwise import converted, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import dtype, float64, int64

Ints = tuple[int, ...]


@decomposes(ops.philox_uniform)
def _(size: Ints, seed: Tensor, offset: Tensor, dtype: dtype) -> Tensor:
    """The prim."""
    return prims.philox_uniform(tuple(size), seed, offset, dtype)


@decomposes(ops.philox_normal)
def _(size: Ints, seed: Tensor, offset: Tensor, dtype: dtype) -> Tensor:
    """sqrt(-2 log(1 - u)) cos(2 pi v), where u and v are neighbours in the stream (Box and Muller)."""
    pairs = prims.philox_uniform((*size, 2), seed, offset, float64)
    u, v = ops.select(pairs, -1, 0), ops.select(pairs, -1, 1)
    radius = prims.sqrt(prims.mul(number_like(u, -2.0), prims.log1p(prims.neg(u))))
    return converted(prims.mul(radius, prims.cos(prims.mul(number_like(v, 2 * math.pi), v))), dtype)


@decomposes(ops.philox_randint)
def _(low: int, high: int, size: Ints, seed: Tensor, offset: Tensor, dtype: dtype) -> Tensor:
    """low + floor(u * (high - low))."""
    u = prims.philox_uniform(tuple(size), seed, offset, float64)
    steps = prims.floor(prims.mul(u, number_like(u, high - low)))
    steps = converted(steps, int64)  # where low is exact, however large
    return converted(prims.add(number_like(steps, low), steps), dtype)


refuses(
    ops.uniform_random,
    ops.normal_random,
    ops.randint_random,
    because="it draws from the generator, which a graph can't; functionalize gives it seed and offset (ops.philox_...)",
)

refuses(
    ops.mt19937_random,
    ops.mt19937_rejected,
    because="its numbers depend on all that were drawn before, so a graph that draws them is broken there",
)

refuses(
    ops.multinomial_choice,
    ops.poisson_quantile,
    ops.binomial_quantile,
    ops.gamma_quantile,
    ops.gamma_quantile_slope,
    because="it is a search whose length depends on the data, or an error that does; PyTorch keeps such draws whole",
)
