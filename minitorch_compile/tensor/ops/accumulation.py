"""Adding many values to few places: the kernels behind scatter_add, index_put and index_add.

NumPy's own tool, `np.add.at`, is quick for single numbers at flat positions and slow for everything else. Adding whole
rows is a product with a sparse matrix, which has a 1 in each column: SciPy's loop for it takes rows as they come.

>>> result = np.zeros((3, 2))
>>> add_rows(result, np.array([2, 0, 2]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
>>> result.tolist()
[[3.0, 4.0], [0.0, 0.0], [6.0, 8.0]]
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from minitorch_compile.tensor.dispatch.op import Array

BY_SCIPY = frozenset("fdbhilqBHILQ")  # type codes; its complex products make NaN of infinities
WORTH_SCIPY = 2**9  # elements: fewer are added before SciPy's sparse matrices are imported
GATHERED = 2**18  # bytes of rows that are put in order at a time: no second copy of all, and in the processor's cache


def add_rows(result: Array, index: Array, rows: Array) -> None:
    """result[index[i]] += rows[i] for every i, also where an index comes twice. No index is negative or too large: that
    was checked."""
    if not index.size or not rows.size:
        return
    if result.flags.c_contiguous:
        if rows[0].size == 1:
            np.add.at(result.reshape(-1), index, rows.reshape(-1))
            return
        if rows.size >= WORTH_SCIPY and result.dtype.char in BY_SCIPY and result.dtype.isnative:
            _add_by_scipy(result, index, rows)
            return
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    add = np.logical_or if result.dtype == np.bool_ else np.add
    for first, last, begin, end in _blocks(starts, index.size, max(1, GATHERED // rows[0].nbytes)):
        sums = add.reduceat(rows[order[begin:end]], starts[first:last] - begin, axis=0)
        places = ordered[starts[first:last]]
        result[places] = add(result[places], sums)


def _add_by_scipy(result: Array, index: Array, rows: Array) -> None:
    """The same for a C-contiguous result: a column of a matrix is added for each row, one after the other."""
    from scipy.sparse import _sparsetools  # its classes would take longer than a small sum, and make a new result

    count, height, width = index.size, result.shape[0], rows[0].size
    starts, heights = np.arange(count + 1, dtype=np.intp), np.ascontiguousarray(index, np.intp)
    entries, flat = np.ones(count, result.dtype), np.ascontiguousarray(rows, result.dtype).reshape(-1)
    _sparsetools.csc_matvecs(height, count, width, starts, heights, entries, flat, result.reshape(-1))


def _blocks(starts: Array, count: int, at_a_time: int) -> list[tuple[int, int, int, int]]:
    """Groups of rows that begin at `starts`, cut into blocks of about so many rows of `count`: the first group and the
    one after the last, and the same of rows.

    >>> _blocks(np.array([0, 3, 4, 9]), 10, 4)
    [(0, 2, 0, 4), (2, 3, 4, 9), (3, 4, 9, 10)]
    """
    if count <= at_a_time:
        return [(0, len(starts), 0, count)]
    groups = [*np.unique(np.searchsorted(starts, np.arange(0, count, at_a_time))).tolist(), len(starts)]
    bounds = [*starts.tolist(), count]
    return [(first, last, bounds[first], bounds[last]) for first, last in pairwise(groups) if first < last]


def add_elements(result: Array, places: tuple[Array, ...], values: Array) -> None:
    """result[places] += values, also where a place comes twice. `places` has an index array for each dimension."""
    flat = np.ravel_multi_index(places, result.shape) if result.ndim else np.zeros(values.shape, np.intp)
    np.add.at(result.reshape(-1), np.broadcast_to(flat, values.shape).reshape(-1), values.reshape(-1))


def add_at(result: Array, indices: tuple[Array | None, ...], values: Array) -> None:
    """result[indices] += values; None stands for a whole dimension, `values` broadcasts to result[indices]."""
    if not result.size:
        return
    if len(indices) == 1 and indices[0] is not None and result.flags.c_contiguous:  # rows, as embeddings have them
        rows = indices[0].reshape(-1)
        if values.shape == (*indices[0].shape, *result.shape[1:]) and (not rows.size or rows.min() >= 0):
            add_rows(result, rows, values.reshape(rows.size, *result.shape[1:]))
            return
    used = [dim for dim, i in enumerate(indices) if i is not None]
    rest = [dim for dim in range(result.ndim) if dim not in used]
    index = np.broadcast_arrays(
        *(np.where(i < 0, i + result.shape[d], i) for d, i in enumerate(indices) if i is not None)
    )
    common = index[0].shape
    adjacent = used == list(range(used[0], used[-1] + 1))
    lead = used[0] if adjacent else 0
    sizes = [result.shape[d] for d in rest]
    values = np.broadcast_to(values, (*sizes[:lead], *common, *sizes[lead:]))
    values = np.moveaxis(values, range(lead, lead + len(common)), range(len(common)))
    rows = result.transpose(*used, *rest)  # a view: what is added to it arrives in result
    flat = np.ravel_multi_index(tuple(index), rows.shape[: len(used)]).reshape(-1)
    values = values.reshape(flat.size, *sizes)
    if used == list(range(len(used))) and result.flags.c_contiguous:
        add_rows(result.reshape(-1, *sizes), flat, values)
    else:
        merged = np.ascontiguousarray(rows).reshape(-1, *sizes)
        add_rows(merged, flat, values)
        rows[...] = merged.reshape(rows.shape)
