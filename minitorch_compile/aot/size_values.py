"""Graphs for unknown sizes take the sizes as arguments; this is how their values are found again at a call.

>>> from minitorch_compile.symbolic import ShapeEnv
>>> from minitorch_compile.tensor import empty_fake, ones
>>> n = ShapeEnv().create(4)
>>> sizes = SizeValues([empty_fake((n, 2)), n])
>>> values = sizes.at((ones(5, 2), 5))
>>> with_values((n * 2, 3, [n - 1]), values)
(10, 3, [4])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.symbolic import Symbol, SymInt

Values = Mapping[Symbol, int]


class SizeValues:
    """Which arguments of a graph are symbols. False if none is."""

    def __init__(self, example_inputs: Sequence[Any]) -> None:
        symbols = {i: x.expression.only_symbol for i, x in enumerate(example_inputs) if isinstance(x, SymInt)}
        self.positions = {i: symbol for i, symbol in symbols.items() if symbol is not None}

    def __bool__(self) -> bool:
        return bool(self.positions)

    def at(self, arguments: Sequence[Any]) -> Values:
        """The values of the symbols at a call."""
        return {symbol: arguments[i] for i, symbol in self.positions.items()}


def with_values(value: Any, values: Values) -> Any:
    """Any nesting with numbers in place of unknown sizes."""
    return map_aggregate(value, lambda x: x.expression.evaluate(values) if isinstance(x, SymInt) else x)
