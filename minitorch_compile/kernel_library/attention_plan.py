"""What the kernels of attention are told: sizes, how the tensors lie, and where parts lie in scratch memory.

>>> shape = shape_of((1, 2, 100, 8), (1, 2, 100, 8), (1, 2, 100, 8), None, (True, 0.5, 0.0, False))
>>> shape.rows, shape.columns, shape.query_blocks           # of a block of scores, and how many of them a head has
(64, 100, 2)
>>> parts, elements = parts_of_forward(shape)
>>> parts.queries - parts.turned, elements
(512, 7680)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

NO_MASK, BOOL_MASK, ADDED_MASK = range(3)
LANE = 16  # arrays in scratch memory begin at multiples of this many elements: what the widest vector holds
MOST_ROWS, MOST_COLUMNS = 64, 128  # a block of scores: 32 kB of float32, the size of a first-level cache
SMALL_PRODUCT = 1_000_000  # multiplications; for larger ones OpenBLAS copies both factors first


class Shape(NamedTuple):
    """One call: `batches` times `heads` matrices of queries, of which heads / groups share keys and values.

    `rows` and `columns` are the sizes of a block of scores, `mask` is the kind of the mask.
    """

    batches: int = 0
    heads: int = 0
    groups: int = 0
    queries: int = 0
    keys: int = 0
    width: int = 0
    value_width: int = 0
    rows: int = 0
    columns: int = 0
    mask: int = 0
    is_causal: int = 0
    zero_rows: int = 0
    scale: float = 0.0
    fill: float = 0.0

    @property
    def scores(self) -> int:
        """How many are computed; half of them, if causal."""
        whole = self.batches * self.heads * self.queries * self.keys
        return whole // 2 if self.is_causal and self.queries > self.rows else whole

    @property
    def query_blocks(self) -> int:
        return -(-self.queries // self.rows)


class Strides(NamedTuple):
    """How (N, H, rows, elements) lies."""

    n: int = 0
    h: int = 0
    row: int = 0
    element: int = 0


class Matrices(NamedTuple):
    """How (N, H, rows, columns) lies whose matrices BLAS reads: rows, or columns if `by_columns`, are `step` apart."""

    n: int = 0
    h: int = 0
    by_columns: int = 0
    step: int = 0


class ForwardParts(NamedTuple):
    """Where the arrays of a block of queries begin: as places in scratch memory, or as pointers (`pointers_of`)."""

    turned: Any = 0
    queries: Any = 0
    scores: Any = 0
    tops: Any = 0
    sums: Any = 0
    before: Any = 0
    finite: Any = 0


class BackwardParts(NamedTuple):
    """The same for gradients."""

    turned: Any = 0
    queries: Any = 0
    turned_grads: Any = 0
    grads: Any = 0
    by_queries: Any = 0
    tops: Any = 0
    logarithms: Any = 0
    deltas: Any = 0
    weights: Any = 0
    by_scores: Any = 0


class AttentionPlan(NamedTuple):
    """What the kernel takes."""

    shape: Shape = Shape()
    query: Strides = Strides()
    key: Matrices = Matrices()
    value: Matrices = Matrices()
    mask: Strides = Strides()
    out: Strides = Strides()
    parts: ForwardParts = ForwardParts()


class AttentionBackwardPlan(NamedTuple):
    """What the kernel of the gradients takes."""

    shape: Shape = Shape()
    query: Strides = Strides()
    key: Matrices = Matrices()
    value: Matrices = Matrices()
    mask: Strides = Strides()
    grad: Strides = Strides()
    out: Strides = Strides()
    grad_query: Strides = Strides()
    grad_key: Strides = Strides()
    grad_value: Strides = Strides()
    parts: BackwardParts = BackwardParts()


# ------------------------------------------------------------------------------------------ from the tensors


def strides_of(strides: Sequence[int]) -> Strides:
    n, h, row, element = strides
    return Strides(n, h, row, element)


def shape_of(query: Sequence[int], key: Sequence[int], value: Sequence[int], mask: Any, how: Sequence[Any]) -> Shape:
    """The shape of a call with tensors of these sizes; how: (is_causal, scale, fill, zero_rows)."""
    is_causal, scale, fill, zero_rows = how
    kind = NO_MASK if mask is None else BOOL_MASK if mask.dtype.name == "bool" else ADDED_MASK
    rows, columns = block_sizes(query[2], key[2], max(query[3], value[3]))
    (batches, heads, queries, width), (_, groups, keys, _) = query, key
    return Shape(
        batches, heads, groups, queries, keys, width, value[3], rows, columns, kind,
        int(is_causal), int(zero_rows), float(scale), float(fill),
    )  # fmt: skip


def block_sizes(queries: int, keys: int, width: int) -> tuple[int, int]:
    """How many queries and keys make a block of scores.

    >>> block_sizes(512, 512, 64), block_sizes(512, 512, 256), block_sizes(5, 7, 64)
    ((64, 128), (64, 48), (5, 7))
    """
    columns = SMALL_PRODUCT // (MOST_ROWS * width) // LANE * LANE
    return min(MOST_ROWS, queries), min(max(LANE, min(MOST_COLUMNS, columns)), keys)


# ------------------------------------------------------------------------------------------ scratch memory


def parts_of_forward(shape: Shape) -> tuple[ForwardParts, int]:
    """Where the arrays of a block lie in scratch memory, and how many elements it needs."""
    lanes = aligned(shape.rows)
    *places, end = in_scratch(
        lanes * shape.width, shape.rows * shape.width, lanes * shape.columns, lanes, lanes, lanes, lanes
    )
    return ForwardParts(*places), end


def parts_of_backward(shape: Shape) -> tuple[BackwardParts, int]:
    """The same for gradients."""
    rows, lanes, width, value_width = shape.rows, aligned(shape.rows), shape.width, shape.value_width
    block = lanes * shape.columns
    of_rows = lanes * width, rows * width, lanes * value_width, rows * value_width, rows * width
    *places, end = in_scratch(*of_rows, lanes, lanes, lanes, block, block)
    return BackwardParts(*places), end


def aligned(elements: int) -> int:
    return -(-elements // LANE) * LANE


def in_scratch(*lengths: int) -> tuple[int, ...]:
    """Where arrays of these lengths begin, one after the other, and where the last one ends.

    >>> in_scratch(10, 16, 1)
    (0, 16, 32, 48)
    """
    places = [0]
    for length in lengths:
        places.append(places[-1] + aligned(length))
    return tuple(places)
