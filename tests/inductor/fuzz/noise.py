"""Whether results are well defined: what the plain program gives if its numbers tremble.

First, what a normalisation or a factorization gives if its input does. Rows that are all the same have no deviation,
and matrices of low rank or with equal singular values no vectors that are the only ones. There the results are made of
rounding, so two right programs give different ones; both precisions of the plain run may still agree, since they round
alike. Numbers nearby give quite other results then, which shows it.

>>> from minitorch_compile.tensor.dispatch.dispatch import mode
>>> x = torch.ones(1, 4)
>>> with mode(Noise()):
...     moved = torch.nn.functional.layer_norm(x, (4,)).abs().max().item(), (x + 1 - x).std().item()
>>> moved[0] > 1e-4, moved[1]
(True, 0.0)

Second, what a whole program gives if each operation rounds in another way. Equal numbers are rounded alike, and whole
numbers and simple fractions, which are exact in every precision, stay as they are.

>>> import math
>>> with mode(Rounding(1e-6, seed=1)):
...     a, b, c = torch.tensor([0.1, 0.1, 3.0], dtype=torch.float64).exp().tolist()
>>> a == b, 0 < abs(a - math.exp(0.1)) < 1e-6, c == math.exp(3)
(True, True, True)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.pointwise_op import ALWAYS_BOOL

WORDS = ("norm", "svd", "eig", "qr", "pinv", "pinverse", "lstsq")  # lines with these words are looked at
FACTORIZATIONS = ("_linalg_svd", "_linalg_eigh", "_linalg_eig", "_linalg_qr", "_linalg_pinv")
SIZE = 1e-5  # of the noise, against the largest element: a hundred units of rounding


def is_delicate(line: str) -> bool:
    return any(word in line for word in WORDS)


class Noise:
    """A mode in which each normalisation and factorization gets its arguments with some noise."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind == "normalization" or op.name in FACTORIZATIONS:
            args = map_aggregate(args, self.moved)
        return op(*args, **kwargs)

    def moved(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not (x.is_floating_point() or x.is_complex()) or not x.numel():
            return x
        noise = self.random.normal(size=tuple(x.shape)) * SIZE
        return x + torch.from_numpy(np.asarray(noise)).to(x.dtype) * x.abs().max()


ROUNDS = ("pointwise", "reduction", "contraction", "linalg", "convolution", "fourier", "scan", "normalization")
EXACT = 1024.0  # multiples of 1 / EXACT are


class Rounding:
    """A mode in which operations that round get each number moved by up to `size` of itself."""

    def __init__(self, size: float, seed: int) -> None:
        self.size = size
        self.seed = seed

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind in ROUNDS and getattr(op, "promotion", None) != ALWAYS_BOOL:
            args = map_aggregate(args, self.moved)
        return op(*args, **kwargs)

    def moved(self, x: Any) -> Any:
        if not isinstance(x, torch.Tensor) or not x.is_floating_point():
            return x
        scaled = x.detach().double() * EXACT
        change = torch.where(scaled == scaled.round(), 0, self.size * torch.sin(scaled * 1e6 + self.seed))
        return x * (1 + change).to(x.dtype)
