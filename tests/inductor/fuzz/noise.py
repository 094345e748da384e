"""Whether a line's results are well defined: what a normalisation or a factorization gives if its input trembles.

Rows that are all the same have no deviation, and matrices of low rank or with equal singular values no vectors that
are the only ones. There the results are made of rounding, so two right programs give different ones; both precisions of
the plain run may still agree, since they round alike. Numbers nearby give quite other results then, which shows it.

>>> from minitorch_compile.tensor.dispatch import mode
>>> x = torch.ones(1, 4)
>>> with mode(Noise()):
...     moved = torch.nn.functional.layer_norm(x, (4,)).abs().max().item(), (x + 1 - x).std().item()
>>> moved[0] > 1e-4, moved[1]
(True, 0.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor.op import Op

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
