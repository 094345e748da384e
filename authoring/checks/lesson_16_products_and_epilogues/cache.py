"""A cache to count with: 32 lines of 8 numbers, of which the one that was not used for longest is given up.

>>> cache = Cache()
>>> for address in (0, 1, 7, 8, 0):
...     cache.touch("a", address)
>>> cache.fetched
2
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable

LINES, LINE = 32, 8


class Cache:
    """`by_array` counts the lines that were fetched, for each array."""

    def __init__(self) -> None:
        self.lines: OrderedDict[tuple[str, int], None] = OrderedDict()
        self.by_array: Counter[str] = Counter()

    def touch(self, array: str, address: int) -> None:
        line = (array, address // LINE)
        if line in self.lines:
            self.lines.move_to_end(line)
            return
        self.by_array[array] += 1
        self.lines[line] = None
        if len(self.lines) > LINES:
            self.lines.popitem(last=False)

    @property
    def fetched(self) -> int:
        return self.by_array.total()


def lines_fetched(order: Iterable[tuple[int, int, int]], n: int) -> int:
    """The lines that c[i, j] += a[i, k] * b[k, j] fetches, for each (i, j, k) in this order."""
    width = -(-n // LINE) * LINE  # each row begins a line
    cache = Cache()
    for i, j, k in order:
        cache.touch("a", width * i + k)
        cache.touch("b", width * k + j)
        cache.touch("c", width * i + j)
    return cache.fetched
