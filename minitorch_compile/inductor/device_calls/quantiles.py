"""Quantiles on a GPU: each thread looks for the number below which a variable lies with the probability it is given,
by halving what is left. So Poisson, binomial and gamma numbers are drawn there, from the uniform numbers of the CPU.
64 halvings are enough: whole numbers above 2**53 have neighbours further apart than 1, between which it would not end.

The counts are the CPU's, unless a probability is one in all its digits but the last three, or the last six of means
around 1e5; gamma numbers are within 1e-12 of the CPU's, relative to them.

>>> print(TEXTS["poisson_quantile"].splitlines()[0])
def poisson_quantile(rate, u, out, n):
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.inductor.device_calls.data_sized import made_of_ops
from minitorch_compile.inductor.device_calls.launcher import SIZE
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.memory.strides import broadcast_sizes, numel
from minitorch_compile.tensor.numerics.dtype import float64

if TYPE_CHECKING:
    from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

TEXTS = {
    "poisson_quantile": """\
def poisson_quantile(rate, u, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        mean = rate[i]
        low, high = 0.0, 0.0
        if mean == mean:
            high = device_functions.floor(mean + 40.0 * math.sqrt(mean) + 64.0)
        turn = 0
        while low < high and turn < 64:
            turn += 1
            half = device_functions.floor((low + high) / 2.0)
            if series.igammac(half + 1.0, mean) >= u[i]:
                high = half
            else:
                low = half + 1.0
        out[i] = low
""",
    "binomial_quantile": """\
def binomial_quantile(count, prob, u, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        trials, chance = count[i], prob[i]
        low, high = 0.0, trials
        if chance <= 0.0:
            high = 0.0
        if chance >= 1.0:
            low = high
        turn = 0
        while low < high and turn < 64:
            turn += 1
            half = device_functions.floor((low + high) / 2.0)
            if series.beta_share(trials - half, half + 1.0, 1.0 - chance) >= u[i]:
                high = half
            else:
                low = half + 1.0
        out[i] = low
""",
    "gamma_quantile": """\
def gamma_quantile(shape, u, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        a, share = shape[i], u[i]
        low, high = -746.0, math.log(a + 40.0 * math.sqrt(a) + 800.0)
        for turn in range(64):
            half = (low + high) / 2.0
            x = math.exp(half)
            if share < 0.5:
                reached = series.igamma(a, x) >= share
            else:
                reached = series.igammac(a, x) <= 1.0 - share
            if reached:
                high = half
            else:
                low = half
        out[i] = math.exp(high)
""",
    "gamma_quantile_slope": """\
def gamma_quantile_slope(shape, x, out, n):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        a, value = shape[i], max(x[i], 1e-300)
        step = 1e-4 * max(a, 1e-3)
        change = (series.igamma(a + step, value) - series.igamma(a - step, value)) / (2.0 * step)
        density = math.exp((a - 1.0) * math.log(value) - value - math.lgamma(a))
        out[i] = -change / density
""",
}


def _run(kernels: DeviceKernels, name: str, *given: Any) -> Any:
    sizes = broadcast_sizes(*(x.sizes for x in given))
    rows = [ops.contiguous(ops.expand(ops.to_copy(x, float64), sizes)) for x in given]
    out = ops.full(sizes, 0.0, float64)
    if count := numel(sizes):
        kinds = ["float64"] * (len(rows) + 1) + [SIZE]
        kernels.launch(TEXTS[name], name, kinds, [*rows, out], [count], count)
    natural = ops.table[name].meta(*given).dtype
    return out if natural is float64 else ops.to_copy(out, natural)


@made_of_ops(ops.poisson_quantile)
def _(kernels: DeviceKernels, rate: Any, u: Any) -> Any:
    return _run(kernels, "poisson_quantile", rate, u)


@made_of_ops(ops.binomial_quantile)
def _(kernels: DeviceKernels, count: Any, prob: Any, u: Any) -> Any:
    return _run(kernels, "binomial_quantile", count, prob, u)


@made_of_ops(ops.gamma_quantile)
def _(kernels: DeviceKernels, concentration: Any, u: Any) -> Any:
    return _run(kernels, "gamma_quantile", concentration, u)


@made_of_ops(ops.gamma_quantile_slope)
def _(kernels: DeviceKernels, concentration: Any, x: Any) -> Any:
    return _run(kernels, "gamma_quantile_slope", concentration, x)
