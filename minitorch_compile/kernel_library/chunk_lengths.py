"""Into how many pieces a kernel's range is cut, so that threads can share it out.

The pieces depend on the kernel alone, not on how many threads there are: so results don't, either. Their length is a
multiple of what vectorised loops take at once, so that each element is computed by the same instructions as in one run.

>>> chunk_length(extent=1 << 20, nanoseconds=200_000)
52480
>>> chunk_length(extent=4096, nanoseconds=2_000)            # done before another thread would have woken up
0
"""

from __future__ import annotations

WORTHWHILE = 30_000  # nanoseconds that a kernel must take to be cut
SHORTEST = 10_000.0  # nanoseconds that a piece takes at least
MOST_CHUNKS = 64
AT_ONCE = 256  # no vectorised loop of floats takes more elements in one round
FEW = 1024  # a shorter range is one of rows; a longer one may be one of elements


def chunk_length(extent: int, nanoseconds: float, shortest: float = SHORTEST) -> int:
    """How much of [0, extent) makes a piece; 0 for a kernel that is not worth cutting. `shortest`: what a piece should
    take at least, where each does something anew."""
    if nanoseconds < WORTHWHILE or extent <= 1:
        return 0
    chunks = min(MOST_CHUNKS, max(2, int(nanoseconds / shortest)))
    length = -(-extent // chunks)
    return -(-length // AT_ONCE) * AT_ONCE if extent > FEW else length


def chunks_text(extent: int, nanoseconds: float, shortest: float = SHORTEST) -> str:
    """The range of a kernel as source: as two numbers, or in chunks if it is worth cutting.

    >>> chunks_text(8, 1e6), chunks_text(8, 10)
    ('Chunks(8, 1)', '0, 8')
    """
    length = chunk_length(extent, nanoseconds, shortest)
    return f"Chunks({extent}, {length})" if length else f"0, {extent}"
