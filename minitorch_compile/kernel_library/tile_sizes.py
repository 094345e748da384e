"""How large the tiles are that fill the vector registers of a machine, as numbers alone.

`inductor/kernels/vector_tiles.py` knows them of the machine that is compiled for; the library keeps those of its
machine. Plans are made from them.

>>> TileSizes(lanes=16, filters=8, vectors=3, rows=4, columns=6).most_places
64
"""

from __future__ import annotations

from typing import NamedTuple

VECTORS_OF_ONE, COLUMNS_OF_ONE = 4, 9  # of a single filter, or a single row


class TileSizes(NamedTuple):
    """`lanes`: the smallest elements, of four bytes, that a vector holds. Outer products have tiles of so many
    `filters`, by `vectors` of places; inner products of `rows` by `columns`."""

    lanes: int
    filters: int
    vectors: int
    rows: int
    columns: int

    @property
    def most_places(self) -> int:
        """The most places that are computed at once."""
        return self.lanes * max(self.vectors, VECTORS_OF_ONE)

    @property
    def filters_together(self) -> int:
        """Filters for whose weights' gradients the planes of the output's gradient lie in memory together."""
        return 4 * self.rows

    def padded_to_block(self, filters: int) -> int:
        """How many filters there are when the last block is filled up."""
        return -(-filters // self.filters) * self.filters if 2 * filters >= self.filters else filters
