"""Indexing a batch: where the indices differ between the examples, the number of the example is one more index.

>>> import minitorch_compile as torch
>>> rows = torch.tensor([[10, 20, 30], [40, 50, 60]])
>>> torch.func.vmap(lambda row, place: row[place])(rows, torch.tensor([2, 0]))
tensor([30, 40])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.batching.pointwise import aligned
from minitorch_compile.func.batching.reductions import shifted
from minitorch_compile.func.batching.rules import batching_rule, one_by_one
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.numerics.dtype import bool_

# --- along one dimension ----------------------------------------------------------------------------------------------


def _at_least_1d(batch: Batch, x: Any) -> Any:
    """A number counts as a vector of one."""
    value = batch.spread(x)
    return ops.unsqueeze(value, 1) if x.dim() == 0 else value


@batching_rule("gather")
def gather(batch: Batch, op: Op, input: Any, dim: int, index: Any, sparse_grad: bool) -> Any:
    place = shifted(dim, max(input.dim(), 1))[0]
    result = op(_at_least_1d(batch, input), place, _at_least_1d(batch, index), sparse_grad)
    return ops.squeeze(result, 1) if index.dim() == 0 else result


@batching_rule("scatter_add", "scatter_src", "scatter_combine")
def scatter(batch: Batch, op: Op, input: Any, dim: int, index: Any, src: Any, *rest: Any) -> Any:
    place = shifted(dim, max(input.dim(), 1))[0]
    tensors = _at_least_1d(batch, input), place, _at_least_1d(batch, index), _at_least_1d(batch, src)
    result = op(*tensors, *rest)
    return ops.squeeze(result, 1) if input.dim() == 0 else result


@batching_rule("flip")
def flip(batch: Batch, op: Op, input: Any, dims: Any) -> Any:
    return op(input.value, shifted(dims, input.dim()) if len(dims) else ())


@batching_rule("resample")
def resample(batch: Batch, op: Op, input: Any, dim: int, *tables: Any) -> Any:
    if batch.holds(tables):
        return one_by_one(batch, op, input, dim, *tables)
    return op(input.value, shifted(dim, input.dim())[0], *tables)


# --- tensors as indices -----------------------------------------------------------------------------------------------


class Places:
    """Indices of an example as indices of the batch.

    `indices`: the example's number first, then the given ones, all as (batch, ...). Indexing with them gives the sizes
    (batch, common sizes of the indices, dimensions without index); `to_example_order` puts the indexed dimensions where
    they are for an example: in place of the dimensions that were indexed, if those stand side by side.
    """

    def __init__(self, batch: Batch, indices: Any) -> None:
        given = [place for place, index in enumerate(indices) if index is not None]
        if any(indices[place].dtype is bool_ for place in given):
            raise RuntimeError(
                "vmap: a mask as an index gives results whose size depends on the data; use torch.where instead"
            )
        self.ndim = max(indices[place].dim() for place in given)
        self.before = given[0] if given == list(range(given[0], given[0] + len(given))) else 0
        number = ops.reshape(ops.arange(batch.size), (batch.size, *[1] * self.ndim))
        self.indices = [number, *(None if index is None else aligned(batch, index, self.ndim) for index in indices)]

    def to_example_order(self, result: Any) -> Any:
        """(batch, indexed, before, after) -> (batch, before, indexed, after)"""
        return ops.movedim(result, self._indexed, self._in_place) if self.before and self.ndim else result

    def to_batch_order(self, result: Any) -> Any:
        """The inverse."""
        return ops.movedim(result, self._in_place, self._indexed) if self.before and self.ndim else result

    @property
    def _indexed(self) -> tuple[int, ...]:
        return tuple(range(1, 1 + self.ndim))

    @property
    def _in_place(self) -> tuple[int, ...]:
        return tuple(range(1 + self.before, 1 + self.before + self.ndim))


@batching_rule("index")
def index(batch: Batch, op: Op, input: Any, indices: Any) -> Any:
    if all(index is None for index in indices):
        return op(input.value, [None, *indices])
    places = Places(batch, indices)
    return places.to_example_order(op(batch.spread(input), places.indices))


@batching_rule("index_put")
def index_put(batch: Batch, op: Op, input: Any, indices: Any, values: Any, accumulate: bool) -> Any:
    """The values broadcast to what is indexed, in the example's order of dimensions."""
    places = Places(batch, indices)
    whole = batch.spread(input)
    indexed = places.to_example_order(ops.index(whole, places.indices))
    wanted = ops.expand(aligned(batch, values, indexed.dim() - 1), indexed.sizes)
    return op(whole, places.indices, places.to_batch_order(wanted), accumulate)


@batching_rule("embedding")
def embedding(batch: Batch, op: Op, input: Any, weight: Any, padding_idx: int | None) -> Any:
    """A table for each example: the tables are put one below the other, and the indices count on."""
    if not batch.holds(weight):
        return op(input.value, weight, padding_idx)
    tables, places = weight.value, batch.spread(input)
    rows, width = weight.sizes
    if padding_idx is not None:  # that row gets no gradient
        is_padding = ops.unsqueeze(ops.eq(ops.arange(rows), padding_idx % rows), 1)
        tables = ops.where(is_padding, ops.detach(tables), tables)
    first = ops.reshape(ops.arange(batch.size) * rows, (batch.size, *[1] * input.dim()))
    return op(ops.add(places, first), ops.reshape(tables, (batch.size * rows, width)))
