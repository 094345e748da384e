"""Quasi-random numbers: Sobol' sequences, whose points fill the unit cube more evenly than random ones.

The direction numbers are those of Joe and Kuo (2008), which SciPy brings along, and the points are PyTorch's.

>>> SobolEngine(dimension=2).draw(3)
tensor([[0.0000, 0.0000],
        [0.5000, 0.5000],
        [0.7500, 0.2500]])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor import Generator, Tensor, get_default_dtype, ops
from minitorch_compile.tensor.numerics.dtype import dtype as DType
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.tensor_base import wrap

__all__ = ["SobolEngine"]


class SobolEngine:
    """Draws the points of a Sobol' sequence, one after the other.

    dimension: up to 21,201; ValueError beyond. scramble: shifted and mixed at random (Owen's way, by Matousek), from
    `seed` or the default generator, which keeps the evenness.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        self.sobolstate = wrap(direction_numbers(dimension, self.MAXBIT))
        self.shift = ops.zeros(dimension, dtype=int64)
        if scramble:
            self._scramble()
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**self.MAXBIT).reshape(1, -1)  # in the default dtype, as PyTorch has it
        self.num_generated = 0

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DType | None = None) -> Any:
        """The next `n` points: n rows of `dimension` numbers in [0, 1)."""
        dtype = dtype or get_default_dtype()
        steps = n if self.num_generated else n - 1
        points = self._next(steps).to(dtype) * 2.0**-self.MAXBIT
        result = points if self.num_generated else ops.cat([self._first_point.to(dtype), points], -2)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DType | None = None) -> Any:
        """The next 2**m points. ValueError unless there are a power of 2 then, which balances them."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2."
                f" {self.num_generated} points have been previously generated, then: n={self.num_generated}+2**{m}="
                f"{total}. If you still want to do this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> SobolEngine:
        """Goes back to the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> SobolEngine:
        """Leaves out `n` points."""
        start = max(self.num_generated - 1, 0)
        end = self.num_generated + n - 1
        changed = (start ^ start >> 1) ^ (end ^ end >> 1)  # the Gray codes of both points differ in these bits
        for bit in range(self.MAXBIT):
            if changed >> bit & 1:
                self.quasi.bitwise_xor_(self.sobolstate[:, bit])
        self.num_generated += n
        return self

    def _next(self, n: int) -> Any:
        """The next `n` points as integers. Each differs from the one before by the direction number of the lowest bit
        that is 0 in the number of that."""
        numbers = max(self.num_generated - 1, 0) + np.arange(n, dtype=np.int64)
        lowest_zero = ~numbers & (numbers + 1)
        changes = self.sobolstate.array.T[np.log2(lowest_zero).astype(np.int64)]
        points = np.bitwise_xor.accumulate(np.concatenate([self.quasi.array[None], changes]), axis=0)
        self.quasi = wrap(points[-1].copy())
        return wrap(points[1:].copy())

    def _scramble(self) -> None:
        """Another start, and direction numbers whose bits are mixed with the higher ones."""
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits, size = self.MAXBIT, self.dimension
        powers = 2 ** np.arange(bits)
        self.shift = wrap(ops.randint(2, (size, bits), generator=generator).array @ powers)
        mixing = np.tril(ops.randint(2, (size, bits, bits), generator=generator).array)
        mixing[:, np.arange(bits), np.arange(bits)] = 1
        digits = self.sobolstate.array[:, :, None] // powers[::-1] & 1  # the highest first
        mixed = np.einsum("dpk,djk->djp", mixing, digits) & 1
        self.sobolstate = wrap(np.ascontiguousarray(mixed @ powers[::-1]))

    def __repr__(self) -> str:
        options = [f"dimension={self.dimension}"]
        options += ["scramble=True"] if self.scramble else []
        options += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(options)})"


def direction_numbers(dimension: int, bits: int) -> np.ndarray:
    """A row of `bits` integers for each dimension, as SciPy's engine has them."""
    from scipy.stats import qmc  # not before somebody asks: it takes long to import

    return np.ascontiguousarray(qmc.Sobol(dimension, scramble=False, bits=bits)._sv, dtype=np.int64)
