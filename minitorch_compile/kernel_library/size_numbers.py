"""Numbers that depend on the sizes of a call: a product of sizes, or what is left of a size in whole units.

>>> twice, whole, parts = SizeNumber(2, (0, 1)), SizeNumber(1, (0,), 4, "down"), SizeNumber(1, (0,), 4, "up")
>>> [number.value((10, 3)) for number in (twice, whole, parts)]
[60, 8, 3]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple


class SizeNumber(NamedTuple):
    """`times` the product of the sizes at these positions; "down": less what doesn't fill a `unit`; "up": how many
    units it takes."""

    times: int
    sizes: tuple[int, ...]
    unit: int = 1
    rounded: Literal["", "down", "up"] = ""

    def value(self, sizes: Sequence[int]) -> int:
        number = self.times
        for position in self.sizes:
            number *= sizes[position]
        if self.rounded == "down":
            return number - number % self.unit
        return -(-number // self.unit) if self.rounded else number
