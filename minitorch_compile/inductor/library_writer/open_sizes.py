"""A kernel that was written for some sizes as one for all: the numbers that come from a size are parameters.

The generator writes for sizes that stand out: different primes, each one less than a multiple of 16. So what a number
in the text comes from can be read off it: 2 * 7919 is twice the columns, and 7916 what is left of the columns in whole
fours. That no number was overlooked is found by doing so twice, with other primes: the texts must be the same
(`write_library.py`).

>>> first = Markers({"rows": 1039, "columns": 7919}, {"eps": 3.0517e-05})
>>> print(first.opened("for i0 in range(lo, hi):\\n    t0 = in0[7919 * i0 + 4] + float32(3.0517e-05)").text)
for i0 in range(lo, hi):
    t0 = in0[n0 * i0 + 4] + float32(numbers[0])
>>> first.number(7916), first.number(1039 * 7919), first.number(5)
(SizeNumber(times=1, sizes=(1,), unit=4, rounded='down'), SizeNumber(times=1, sizes=(0, 1), unit=1, rounded=''), None)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from minitorch_compile.kernel_library.size_numbers import SizeNumber

COMMENT = re.compile(r"^\s*#.*\n", re.MULTILINE)
WHOLE = re.compile(r"(?<![\w.])(\d+)(\.0)?(?![\w.])")
MOST_TIMES = 64  # that a size may be counted in one number
UNITS = (2, 4, 8, 16)  # in which loops are unrolled


@dataclass
class OpenText:
    """The text, and what its parameters stand for, in their order."""

    text: str
    sizes: dict[str, SizeNumber] = field(default_factory=dict)


class Markers:
    """The sizes and the floats that stand for any."""

    def __init__(self, sizes: Mapping[str, int], numbers: Mapping[str, float]) -> None:
        self.sizes, self.numbers = dict(sizes), dict(numbers)

    def number(self, value: int) -> SizeNumber | None:
        """What a number comes from; None if from no size."""
        return self._product(value) or self._in_units(value)

    def _product(self, value: int) -> SizeNumber | None:
        positions, rest = [], value
        for position, size in enumerate(self.sizes.values()):
            while rest and rest % size == 0:
                positions.append(position)
                rest //= size
        return SizeNumber(rest, tuple(positions)) if positions and rest <= MOST_TIMES else None

    def _in_units(self, value: int) -> SizeNumber | None:
        for position, size in enumerate(self.sizes.values()):
            for unit in UNITS:
                if value == size - size % unit:
                    return SizeNumber(1, (position,), unit, "down")
        return None

    def extent(self, value: int) -> SizeNumber:
        """What the range of a kernel comes from. ValueError if from no size."""
        found = self._product(value) or next(self._stretches(value), None)
        if found is None:
            raise ValueError(f"a range of {value} comes from none of the sizes {self.sizes}")
        return found

    def _stretches(self, value: int) -> Iterator[SizeNumber]:
        """A size, or neighbours that are one axis, in stretches of so many elements."""
        sizes = list(self.sizes.values())
        for first, last in combinations(range(len(sizes) + 1), 2):
            for unit in (64, 128, 256, 512, 1024):
                if value == -(-math.prod(sizes[first:last]) // unit):
                    yield SizeNumber(1, tuple(range(first, last)), unit, "up")

    def opened(self, body: str) -> OpenText:
        """The text of a kernel, without its comments, with parameters for what comes from a size or a float."""
        result = OpenText("")
        names: dict[SizeNumber, str] = {}

        def parameter(found: re.Match[str]) -> str:
            number = self.number(int(found[1]))
            if number is None:
                return found[0]
            if number not in names:
                names[number] = f"n{len(names)}"
                result.sizes[names[number]] = number
            return names[number]

        text = COMMENT.sub("", body + "\n").rstrip("\n")
        for place, value in enumerate(self.numbers.values()):
            text = text.replace(f"({value!r})", f"(numbers[{place}])").replace(f"(-{value!r})", f"(-numbers[{place}])")
        result.text = WHOLE.sub(parameter, text)
        return result
