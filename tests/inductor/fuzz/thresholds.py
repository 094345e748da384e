"""Small programs as large ones: for as long as they are compiled, the sizes from which a GPU's kernels are written
otherwise are lower, so that a few thousand elements go through what is meant for millions.

>>> from minitorch_compile.inductor.device_calls import lifted_kernel
>>> with thresholds("large"):
...     lifted_kernel.FEW
0
>>> lifted_kernel.FEW
65536
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from minitorch_compile.inductor.codegen.cuda.strategies import held_rows
from minitorch_compile.inductor.device_calls import columns_beside_rows, lifted_kernel, split_for_device

Change = tuple[Any, str, int]

# Every kernel has a strategy of its own.
LARGE: list[Change] = [(lifted_kernel, "FEW", 0)]
# And rows are long: few are a warp's, and what a thread has of one doesn't fit its registers.
LONG_ROWS: list[Change] = [*LARGE, (held_rows, "LONGEST_OF_WARP", 64), (held_rows, "MOST_OF_THREAD", 4)]
# And what is reduced is cut in pieces first.
IN_PIECES: list[Change] = [
    *LARGE,
    *((split_for_device, name, 64) for name in ("MANY", "LONG_ROW", "ROWS", "THREADS")),
    *((split_for_device, name, 4) for name in ("SHORTEST_ROW", "SHORTEST_COLUMN", "AGAIN")),
    *((split_for_device, name, 8) for name in ("MOST_AT_ONCE", "BESIDE", "SHORT_LINE")),
    (columns_beside_rows, "FEWEST_PIECES", 2),
]
CHANGES: dict[str, list[Change]] = {
    "as they are": [],
    "large": LARGE,
    "in long rows": LONG_ROWS,
    "in pieces": IN_PIECES,
}


@contextmanager
def thresholds(sizes_are: str) -> Iterator[None]:
    """One of `CHANGES`, within the block."""
    with ExitStack() as changed:
        for module, name, value in CHANGES[sizes_are]:
            changed.enter_context(mock.patch.object(module, name, value))
        yield
