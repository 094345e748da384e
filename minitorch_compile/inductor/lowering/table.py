"""The table of lowerings: for each prim, a function from boxes to a box.

    @lowering(prims.neg)
    def _(graph, x):
        return TensorBox(x.sizes, x.dtype, lambda ops, at: ops.apply("neg", x.load(ops, at)), inputs=[x], operations=1)

The first parameter is the graph being built, which a rule needs only to put something in memory; the others are the
prim's own, with a `TensorBox` for each tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile import prims
from minitorch_compile.prims import Prim
from minitorch_compile.tensor.numerics.dtype import dtype

Rule = Callable[..., Any]

table: dict[str, Rule] = {}

# For dtypes with which loops don't compute as they are: what makes another rule of the prim's, given its name, the rule
# and the dtypes of the results (half_precision.py).
ADAPTERS: dict[dtype, Callable[[str, Rule, Sequence[dtype]], Rule]] = {}

# The prims that no loop computes: they run as they are, with NumPy, between what is compiled (compiler/fallback.py).
WITHOUT_A_KERNEL: dict[str, str] = {}


def runs_as_it_is(*names: Prim, because: str) -> None:
    """Declares that no kernel is generated from these prims."""
    WITHOUT_A_KERNEL.update({prim.name: because for prim in names})


runs_as_it_is(
    prims.airy_ai,
    prims.zeta,
    because="a series whose length depends on the argument; SciPy has no function of it for compiled code",
)
runs_as_it_is(
    prims.complex,
    prims.real,
    prims.imag,
    prims.fft_c2c,
    prims.fft_r2c,
    prims.fft_c2r,
    because="kernels compute with real numbers",
)
runs_as_it_is(
    prims.cholesky,
    prims.eig,
    prims.eigh,
    prims.lu_factor,
    prims.matrix_exp,
    prims.permutation_of_pivots,
    prims.qr,
    prims.solve,
    prims.solve_triangular,
    prims.svd,
    because="an algorithm of LAPACK, which works on whole matrices step by step",
)
runs_as_it_is(prims.nextafter, prims.view_element_type, because="kernels do not look at the bits of numbers")
runs_as_it_is(prims.sort, because="what it compares depends on the data")


def lowering(*prims: Prim) -> Callable[[Rule], Rule]:
    """Declares how these prims become loops."""

    def declare(rule: Rule) -> Rule:
        for prim in prims:
            if prim.name in table:
                raise ValueError(f"lowering: {prim} is declared twice")
            table[prim.name] = rule
        return rule

    return declare
