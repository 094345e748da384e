"""The special functions: no formula in the prims would be both short and exact, so they run as they are.

>>> from minitorch_compile.prims.decomposition_table import refusal_of
>>> from minitorch_compile.tensor import ops
>>> refusal_of(ops.lgamma)
'it is a series whose length depends on the argument; SciPy computes it'
"""

from __future__ import annotations

from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims.decomposition_table import refuses
from minitorch_compile.prims.elementwise import elementwise, number_like
from minitorch_compile.tensor import ops

Tensor = Any

SERIES = "it is a series whose length depends on the argument; SciPy computes it"

for _op in ops.table.values():
    if (
        _op.name.startswith("special_")
        and _op.kind == "pointwise"
        and _op.name not in ("special_xlog1py", "special_entr")
    ):
        refuses(_op, because=SERIES)
refuses(ops.erfc, because="1 - erf(x) would lose every digit for large x; SciPy computes it")
refuses(ops.erfinv, ops.lgamma, ops.digamma, ops.polygamma, ops.igamma, ops.igammac, ops.i0, because=SERIES)


@elementwise(ops.special_entr)
def _(x: Tensor) -> Tensor:
    """-x log(x), 0 at 0 and -inf below."""
    zero = number_like(x, 0)
    product = prims.neg(prims.mul(x, prims.log(x)))
    return prims.where(prims.lt(x, zero), number_like(x, -float("inf")), prims.where(prims.eq(x, zero), zero, product))
