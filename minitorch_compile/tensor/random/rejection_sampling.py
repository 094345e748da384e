"""Numbers of PyTorch's stream that take as many draws as they happen to take: Poisson, binomial and gamma variables.

>>> from minitorch_compile.tensor.random.mt19937 import Mt19937
>>> engine = Mt19937(0)
>>> [poisson(engine, rate) for rate in (0.0, 3.0, 40.0)]                # torch.poisson(torch.tensor([0., 3, 40]))
[0.0, 6.0, 37.0]
"""

from __future__ import annotations

import math

import numpy as np

from minitorch_compile.tensor.random.mt19937 import Mt19937

THIRD = float(np.float32(1) / np.float32(3))  # PyTorch's has the bits of a float32
LARGE = 10  # from this expectation on, numbers are guessed and rejected


def poisson(engine: Mt19937, rate: float) -> float:
    """A Poisson count: small rates by counting factors, large ones by transformed rejection (Hoermann 1993)."""
    if rate >= LARGE:
        return _large_poisson(engine, rate)
    count, product = 0.0, 1.0
    while rate > 0:
        product *= engine.fraction()
        if product <= math.exp(-rate):
            break
        count += 1
    return count


def _large_poisson(engine: Mt19937, rate: float) -> float:
    root = math.sqrt(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    while True:
        u, v = engine.fraction() - 0.5, engine.fraction()
        edge = 0.5 - abs(u)
        count = math.floor((2 * a / edge + b) * u + rate + 0.43)
        if edge >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return float(count)
        if count < 0 or (edge < 0.013 and v > edge):
            continue
        height = math.log(v) + math.log(1.1239 + 1.1328 / (b - 3.4)) - math.log(a / (edge * edge) + b)
        if height <= -rate + count * math.log(rate) - math.lgamma(count + 1.0):
            return float(count)


def gamma(engine: Mt19937, concentration: float) -> float:
    """A gamma variable of rate 1, from a cubed normal (Marsaglia and Tsang 2000)."""
    if concentration == 0:
        return 0.0
    scale = 1.0
    if concentration < 1:
        scale, concentration = (1 - engine.fraction()) ** (1 / concentration), concentration + 1
    d = concentration - THIRD
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = engine.normal()
        while 1.0 + c * x <= 0:
            x = engine.normal()
        v = (1.0 + c * x) ** 3
        u = 1 - engine.fraction()
        if u < 1.0 - 0.0331 * x**4 or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
            return scale * d * v


def binomial(engine: Mt19937, trials: float, probability: float) -> float:
    """How many trials succeed. The rarer outcome is counted: by the waits for it, or by transformed rejection."""
    if trials <= 0 or probability <= 0:
        return 0.0
    if probability >= 1:
        return trials
    rare = min(probability, 1 - probability)
    count = _guessed(engine, trials, rare) if trials * rare >= LARGE else _waited_for(engine, trials, rare)
    return count if probability <= 0.5 else trials - count


def _waited_for(engine: Mt19937, trials: float, probability: float) -> float:
    passed, count = 0.0, 0.0
    while True:
        passed += math.ceil(math.log(engine.fraction()) / math.log1p(-probability))
        if passed > trials:
            return count
        count += 1


def _guessed(engine: Mt19937, n: float, p: float) -> float:
    """Source: Hoermann, "The generation of binomial random variates" (1993), algorithm BTRS."""
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    odds, alpha, mode = p / (1 - p), (2.83 + 5.1 / b) * spread, math.floor((n + 1) * p)
    while True:
        u, v = engine.fraction() - 0.5, engine.fraction()
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + n * p + 0.5)
        if edge >= 0.07 and v <= 0.92 - 4.2 / b:
            return float(k)
        if 0 <= k <= n:
            ways = (math.lgamma(i + 1) + math.lgamma(n - i + 1) for i in (mode, k))
            bound = next(ways) - next(ways) + (k - mode) * math.log(odds)
            if math.log(v * alpha / (a / (edge * edge) + b)) <= bound:
                return float(k)


def slope(engine: Mt19937, value: float, lower: float, upper: float) -> float:
    """By what rrelu multiplies a value: numbers are drawn for those that are not above 0, alone."""
    return 1.0 if value > 0 else engine.fraction() * (upper - lower) + lower
