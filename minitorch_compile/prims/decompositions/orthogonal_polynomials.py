"""Chebyshev's, Hermite's, Laguerre's and Legendre's polynomials of a known degree, by their recurrences.

Each is computed in float64, whatever the dtype, as the kernels do: a recurrence of many steps adds up rounding errors.

>>> from minitorch_compile.prims.decomposed_call import decomposed
>>> from minitorch_compile.tensor import empty_fake, float64, ops
>>> graph = decomposed(ops.special_hermite_polynomial_he, empty_fake((2,), None, float64), 2)    # x^2 - 1
>>> print(graph.compact().replace(" sub(", "\\n  sub("))
x ->
  sub(mul(x, x), mul(full((2,), 1.0, torch.float64), full((2,), 1.0, torch.float64)))

Source: Abramowitz and Stegun, "Handbook of Mathematical Functions", table 22.7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.prims.decomposition_table import decomposes, refuses_if
from minitorch_compile.prims.elementwise import converted, number_like
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.numerics.dtype import float64
from minitorch_compile.tensor.tensor_base import TensorBase

Recurrence = Callable[[int, Tensor, Tensor, Tensor], Tensor]

LARGEST_DEGREE = 64


def _degree_is_data(bound: Sequence[Any]) -> str | None:
    x, n = bound
    if isinstance(n, TensorBase) or not isinstance(x, TensorBase):
        return "how many steps its recurrence takes depends on the data; pass the degree as a number"
    if not n <= LARGEST_DEGREE:
        return f"its recurrence would have more than {LARGEST_DEGREE} steps"
    return None


def _polynomial(name: str, first: Callable[[Tensor], Tensor], step: Recurrence, shifted: bool = False) -> None:
    """Declares a family by its polynomial of degree 1 and by `step(k, x, p_k, p_(k-1))`, which gives that of k + 1."""
    op: Any = ops.table[f"special_{name}"]

    def rule(x: Tensor, n: float) -> Tensor:
        wide = converted(x, float64)
        wide = wide * 2 - 1 if shifted else wide
        return converted(_of_degree(int(n), wide, first, step), op.result_dtype((x, n)))

    rule.__doc__ = "The recurrence that gives each polynomial from the two before it."
    refuses_if(op, _degree_is_data)
    decomposes(op)(rule)


def _of_degree(n: int, x: Tensor, first: Callable[[Tensor], Tensor], step: Recurrence) -> Tensor:
    if n < 1:
        return number_like(x, float(n == 0))
    before, now = number_like(x, 1.0), first(x)
    for k in range(1, n):
        before, now = now, step(k, x, now, before)
    return now


def _chebyshev(k: int, x: Tensor, now: Tensor, before: Tensor) -> Tensor:
    return x * 2 * now - before


for _prefix in ("", "shifted_"):
    _is_shifted = bool(_prefix)
    _polynomial(f"{_prefix}chebyshev_polynomial_t", lambda x: x, _chebyshev, _is_shifted)
    _polynomial(f"{_prefix}chebyshev_polynomial_u", lambda x: x * 2, _chebyshev, _is_shifted)
    _polynomial(f"{_prefix}chebyshev_polynomial_v", lambda x: x * 2 - 1, _chebyshev, _is_shifted)
    _polynomial(f"{_prefix}chebyshev_polynomial_w", lambda x: x * 2 + 1, _chebyshev, _is_shifted)
_polynomial("hermite_polynomial_h", lambda x: x * 2, lambda k, x, now, before: (x * now - before * k) * 2)
_polynomial("hermite_polynomial_he", lambda x: x, lambda k, x, now, before: x * now - before * k)
_polynomial(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, now, before: ((2 * k + 1 - x) * now - before * k) / (k + 1),
)
_polynomial(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, now, before: (x * now * (2 * k + 1) - before * k) / (k + 1),
)
