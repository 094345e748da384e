"""The tensors that the call sheets speak of, made in the same way for either library.

A sheet says `f(2, 3)` for a float tensor of those sizes. Which numbers it holds follows from its sizes and from how
many tensors the line made before it, so two libraries that evaluate it work on the same numbers. The layout decides how
the elements lie in memory, the element type which dtype `f` gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Library = Any  # torch, or a package with its names

LAYOUTS = ("contiguous", "transposed", "every second", "offset", "expanded")
ELEMENTS = ("float32", "float64", "int64", "uint8", "bool", "float16")
ALL_ELEMENTS = (*ELEMENTS, "bfloat16", "int32", "int16", "int8", "complex64", "complex128")


@dataclass
class Arguments:
    """The vocabulary of a line: what `f`, `i`, `b`, ... make. `made` has the tensors that may require grad."""

    library: Library
    layout: str = "contiguous"
    element: str = "float32"
    requires_grad: bool = False
    make: Callable[[Any], Any] | None = None
    made: list[Any] = field(default_factory=list)
    count: int = 0

    def vocabulary(self) -> dict[str, Any]:
        """The names that a line may use."""
        names = ("f", "pos", "unit", "distinct", "special", "i", "b", "c", "square", "definite")
        return {"torch": self.library, "F": self.library.nn.functional, "inf": float("inf"), "nan": float("nan")} | {
            name: getattr(self, name) for name in names
        }

    # ------------------------------------------------------------------------------------------ the words of a sheet

    def f(self, *sizes: int) -> Any:
        """Normal numbers with deviation 2, or the like in the element type asked for."""
        return self._variable(self._random(sizes).normal(size=sizes) * 2)

    def pos(self, *sizes: int) -> Any:
        """Numbers in [0.5, 3]: for logarithms and divisors."""
        return self._variable(self._random(sizes).uniform(0.5, 3.0, sizes), smallest=1)

    def unit(self, *sizes: int) -> Any:
        """Numbers in [0.05, 0.95]: probabilities."""
        return self._variable(self._random(sizes).uniform(0.05, 0.95, sizes))

    def distinct(self, *sizes: int) -> Any:
        """Numbers no two of which are equal or near: for sorting, maxima and medians."""
        count = int(np.prod(sizes, dtype=int))
        return self._variable((self._random(sizes).permutation(count) - count // 2).reshape(sizes) * 0.5)

    def special(self) -> Any:
        """Signed zeros, infinities, NaN and a few ordinary numbers. Never requires grad."""
        values = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, 3.5]
        element = self._dtype()
        return self._tensor(np.asarray(values).astype(element if element.kind in "fc" else np.float32))

    def square(self, n: int, *batch: int) -> Any:
        """Well-conditioned matrices."""
        return self._variable(self._random((*batch, n, n)).normal(size=(*batch, n, n)) + 3 * np.eye(n))

    def definite(self, n: int, *batch: int) -> Any:
        """Symmetric positive definite matrices with distinct eigenvalues."""
        a = self._random((*batch, n, n)).normal(size=(*batch, n, n))
        return self._variable(a @ np.swapaxes(a, -1, -2) + np.diag(np.arange(1.0, n + 1)))

    def i(self, *sizes: int, high: int = 3, low: int = 0) -> Any:
        """int64 numbers in [low, high)."""
        return self._tensor(self._random(sizes).integers(low, high, sizes))

    def b(self, *sizes: int) -> Any:
        """Bools."""
        return self._tensor(self._random(sizes).random(sizes) < 0.5)

    def c(self, *sizes: int) -> Any:
        """complex64 numbers."""
        random = self._random(sizes)
        values = (random.normal(size=sizes) + 1j * random.normal(size=sizes)).astype(np.complex64)
        return self._tensor(np.asarray(values), grad=self.requires_grad)

    # ------------------------------------------------------------------------------------------ how they are made

    def _random(self, sizes: tuple[int, ...]) -> np.random.Generator:
        self.count += 1
        return np.random.default_rng([self.count, *sizes])

    def _dtype(self) -> np.dtype[Any]:
        """What the numbers are made in; those of bfloat16, which NumPy hasn't, in float32."""
        return np.dtype("float32" if self.element == "bfloat16" else self.element)

    def _variable(self, values: Any, smallest: int | None = None) -> Any:
        element, values = self._dtype(), np.asarray(values)
        if element.kind in "iu":
            values = np.abs(np.rint(values)) if element.kind == "u" else np.rint(values)
            values = values if smallest is None else np.maximum(values, smallest)
        if element.kind == "b":
            values = values > 0.3
        if element.kind == "c":
            values = values + 1j * np.flip(values)
        return self._tensor(values.astype(element), grad=self.requires_grad)

    def _tensor(self, values: np.ndarray, grad: bool = False) -> Any:
        tensor = self._laid_out(np.asarray(values))
        if self.make is not None:
            tensor = self.make(tensor)
        if grad and tensor.dtype.is_floating_point | tensor.dtype.is_complex:
            tensor.requires_grad_(True)
            self.made.append(tensor)
        return tensor

    def _laid_out(self, values: np.ndarray) -> Any:
        """A tensor with these values, whose elements lie in memory as the layout says."""
        of = self._of
        if self.layout == "transposed" and values.ndim >= 2:
            order = tuple(range(values.ndim))[::-1]
            return of(np.ascontiguousarray(values.transpose(order))).permute(order)
        if self.layout == "every second" and values.ndim >= 1:
            return of(np.repeat(values, 2, axis=-1))[..., ::2]
        if self.layout == "offset" and values.ndim >= 1 and values.shape[0]:
            return of(np.concatenate([values[:1], values]))[1:]
        if self.layout == "expanded" and values.ndim >= 2 and values.size:
            row = of(np.ascontiguousarray(values[:1]))
            return row.expand(values.shape)
        return of(np.array(values, order="C"))

    def _of(self, values: np.ndarray) -> Any:
        """NumPy's elements as a tensor's, of bfloat16 if that is the element type."""
        if self.element == "bfloat16" and values.dtype == np.float32:
            bits = values.view(np.uint32)
            nearest = np.where(np.isnan(values), 0x7FC0, (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)  # ties to even
            return self.library.from_numpy(nearest.astype(np.uint16).view(np.int16)).view(self.library.bfloat16)
        return self.library.from_numpy(values)
