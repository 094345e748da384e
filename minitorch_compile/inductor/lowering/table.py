"""The table of lowerings: for each prim, a function from boxes to a box.

    @lowering(prims.neg)
    def _(graph, x):
        return TensorBox(x.sizes, x.dtype, lambda ops, at: ops.apply("neg", x.load(ops, at)), inputs=[x], operations=1)

The first parameter is the graph being built, which a rule needs only to put something in memory; the others are the
prim's own, with a `TensorBox` for each tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.prims import Prim

Rule = Callable[..., Any]

table: dict[str, Rule] = {}


def lowering(*prims: Prim) -> Callable[[Rule], Rule]:
    """Declares how these prims become loops."""

    def declare(rule: Rule) -> Rule:
        for prim in prims:
            if prim.name in table:
                raise ValueError(f"lowering: {prim} is declared twice")
            table[prim.name] = rule
        return rule

    return declare
