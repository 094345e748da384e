"""Embeddings: rows of a table chosen by integers, one by one or summed up in bags.

>>> from minitorch_compile import tensor
>>> table = tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
>>> embedding(tensor([2, 0]), table), one_hot(tensor([2, 0]), 3)
(tensor([[4., 5.],
        [0., 1.]]), tensor([[0, 0, 1],
        [1, 0, 0]]))
>>> embedding_bag(tensor([0, 1, 2]), table, tensor([0, 2]), mode="sum")
tensor([[2., 4.],
        [4., 5.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.functional import sparse_slot
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.declare import functional
from minitorch_compile.tensor.grad_mode import no_grad
from minitorch_compile.tensor.numerics.dtype import FLOATING, int32, int64
from minitorch_compile.tensor.ops.checked_values import checked
from minitorch_compile.tensor.ops.index_along import extremes


@functional()
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:
    """A row of `weight` for each integer. The row `padding_idx` gets no gradient. IndexError for one out of range.

    `max_norm`: the rows used are first scaled down, in place, to that `norm_type`-norm. `scale_grad_by_freq`: each
    row's gradient is divided by how often it was used, and dense. With `sparse` it is sparse otherwise.
    """
    if padding_idx is not None and not -weight.sizes[0] <= padding_idx < weight.sizes[0]:
        raise AssertionError(f"Padding_idx must be within num_embeddings, {weight.sizes[0]}, got {padding_idx}")
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and not scale_grad_by_freq:
        return sparse_slot.rows(input, weight, padding_idx)
    rows = ops.embedding(input, weight, padding_idx)
    return _divided_by_uses(rows, input, weight) if scale_grad_by_freq else rows


def _shorten_rows(weight: Any, input: Any, max_norm: float, norm_type: float) -> None:
    """Scales the rows that are used, in place, so that none is longer than max_norm."""
    with no_grad():
        rows = ops.index(weight, [ops.reshape(input, (-1,))])
        lengths = ops.linalg_vector_norm(rows, norm_type, -1, True)
        shortened = ops.where(lengths > max_norm, rows * (max_norm / (lengths + 1e-7)), rows)
        weight.index_put_([ops.reshape(input, (-1,))], shortened)


def _divided_by_uses(rows: Any, input: Any, weight: Any) -> Any:
    """The rows, with their gradient divided by how often each is used."""
    flat = ops.reshape(input, (-1,)).long()
    uses = ops.scatter_add(ops.zeros(weight.sizes[0], dtype=weight.dtype), 0, flat, _ones(flat, weight.dtype))
    share = 1 / ops.unsqueeze(ops.reshape(ops.gather(uses, 0, flat), tuple(input.sizes)), -1)
    return rows.detach() + (rows - rows.detach()) * share


def _ones(like: Any, dtype: Any) -> Any:
    return ops.ones(tuple(like.sizes), dtype=dtype)


@functional()
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """The sum, mean or max of the rows of each bag: bags are the rows of a 2-d `input`, or begin at `offsets` of a
    1-d one.

    An empty bag gives zeros. Entries equal to `padding_idx` count nothing. `per_sample_weights` scales rows before
    the sum. `include_last_offset`: the last offset is where the last bag ends. The gradient is dense, also with
    `sparse`.
    """
    _check_bags(input, weight, offsets, mode, per_sample_weights)
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ValueError("embedding_bag: max mode supports neither scaling the gradient by the frequency nor sparse")
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    rows = ops.embedding(input, weight, padding_idx)
    if scale_grad_by_freq:
        rows = _divided_by_uses(rows, input, weight)
    counted = None if padding_idx is None else ops.unsqueeze(input != padding_idx % weight.sizes[0], -1)
    if per_sample_weights is not None:
        rows = rows * ops.unsqueeze(per_sample_weights, -1)
    if offsets is None:
        return _reduce_rows(rows, counted, mode)
    out = _reduce_bags(rows, counted, mode, _bag_of_each(input, offsets, include_last_offset), offsets.sizes[0])
    return out[:-1] if include_last_offset else out


def embedding_bag_with_places(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Any, Any, Any, Any]:
    """`torch.embedding_bag`: what `nn.functional.embedding_bag` gives in the mode "sum" (0), "mean" (1) or "max" (2),
    and for the last two which bag each index is in, how many rows count in each bag, and of "max" which they are.

    ValueError for another mode, and what that function raises.
    """
    if mode not in (0, 1, 2):
        raise ValueError(f"embedding_bag: mode must be 0 (sum), 1 (mean) or 2 (max), but got {mode}")
    name = ("sum", "mean", "max")[mode]
    out = embedding_bag(indices, weight, offsets, None, 2.0, scale_grad_by_freq, name, sparse, per_sample_weights,
                        include_last_offset, padding_idx)  # fmt: skip
    bags = offsets.sizes[0]
    if mode == 0:
        nothing = ops.zeros(bags, dtype=indices.dtype)
        return out, ops.zeros(0, dtype=indices.dtype), nothing, ops.clone(nothing)
    bag = _bag_of_each(indices, offsets, include_last_offset)
    counts = _ones(bag, int64) if padding_idx is None else (indices != padding_idx % weight.sizes[0]).long()
    sizes = ops.scatter_add(ops.zeros(bags, dtype=int64), 0, bag, counts)
    return out, bag, sizes, ops.clone(sizes) if mode == 1 else _largest_rows(weight, indices, bag, counts, bags)


def _largest_rows(weight: Any, indices: Any, bag: Any, counts: Any, bags: int) -> Any:
    """For each bag and column the first index whose row has the greatest number there; 0 for an empty bag."""
    rows = ops.where(ops.unsqueeze(counts, 1) > 0, ops.embedding(indices, weight.detach()), float("-inf"))
    where_to = ops.expand(ops.unsqueeze(bag, 1), tuple(rows.sizes))
    least = ops.full((bags, rows.sizes[1]), float("-inf"), dtype=rows.dtype)
    largest = ops.scatter_reduce(least, 0, where_to, rows, "amax")
    entries = ops.expand(ops.unsqueeze(ops.arange(indices.sizes[0]), 1), tuple(rows.sizes))
    is_largest = (rows == largest[bag]) & (ops.unsqueeze(counts, 1) > 0)
    places = ops.where(is_largest, entries, indices.sizes[0])
    last = ops.full((bags, rows.sizes[1]), indices.sizes[0], dtype=int64)
    first = ops.scatter_reduce(last, 0, where_to, places, "amin")
    return ops.cat([indices.long(), ops.zeros(1, dtype=int64)])[first]


def _reduce_rows(rows: Any, counted: Any, mode: str) -> Any:
    """Bags of one size, (bags, size, width), reduced to (bags, width)."""
    if mode == "max":
        if not rows.sizes[1]:
            return ops.sum(rows, 1)
        if counted is None:
            return ops.max(rows, 1)[0]
        largest = ops.max(ops.where(counted, rows, float("-inf")), 1)[0]
        return ops.where(ops.any(counted, 1), largest, 0.0)
    total = ops.sum(rows if counted is None else ops.where(counted, rows, 0.0), 1)
    if mode == "sum":
        return total
    count = max(rows.sizes[1], 1) if counted is None else ops.clamp(ops.sum(counted, 1), min=1)
    return total / count


def _bag_of_each(input: Any, offsets: Any, include_last_offset: bool) -> Any:
    """Which bag each entry of a 1-d input is in; what comes after the last offset is a bag, too."""
    entries = input.sizes[0]
    _check_offsets(offsets, entries, include_last_offset)
    offsets = checked(offsets, (offsets == 0) | (ops.arange(offsets.sizes[0]) > 0))
    marks = ops.scatter_add(ops.zeros(entries + 1, dtype=int64), 0, offsets.long(), _ones(offsets, int64))
    return ops.cumsum(marks, 0)[:entries] - 1


def _reduce_bags(rows: Any, counted: Any, mode: str, bag: Any, bags: int) -> Any:
    nothing = ops.zeros(bags, rows.sizes[1], dtype=rows.dtype)
    if mode == "max":
        where_to = ops.expand(ops.unsqueeze(bag, 1), tuple(rows.sizes))
        visible = rows if counted is None else ops.where(counted, rows, float("-inf"))
        largest = ops.scatter_reduce(nothing, 0, where_to, visible, "amax", include_self=False)
        return ops.where(largest == float("-inf"), 0.0, largest)
    total = ops.index_add(nothing, 0, bag, rows if counted is None else ops.where(counted, rows, 0.0))
    if mode == "sum":
        return total
    each = _ones(bag, int64) if counted is None else ops.squeeze(counted, -1).long()
    count = ops.scatter_add(ops.zeros(bags, dtype=int64), 0, bag, each)
    return total / ops.unsqueeze(ops.clamp(count, min=1), 1)


def _check_bags(input: Any, weight: Any, offsets: Any, mode: str, per_sample_weights: Any) -> None:
    """ValueError, or what PyTorch raises, for arguments that don't fit together."""
    if per_sample_weights is not None and tuple(input.sizes) != tuple(per_sample_weights.sizes):
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.sizes}) is not None, then it must have the same"
            f" shape as the input ({input.sizes})"
        )
    if len(weight.sizes) != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {len(weight.sizes)}")
    if len(input.sizes) not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(input.sizes)}")
    if len(input.sizes) == 2 and offsets is not None:
        raise ValueError("embedding_bag: if input is 2D, its rows are the bags, and offsets has to be None")
    if len(input.sizes) == 1 and (offsets is None or len(offsets.sizes) != 1):
        raise ValueError(f"offsets has to be a 1D Tensor but got {None if offsets is None else list(offsets.sizes)}")
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, got {mode!r}")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag: per_sample_weights is only supported for mode='sum' (got mode={mode!r}); divide the sum"
            " yourself"
        )
    if input.dtype not in (int32, int64):
        raise RuntimeError(
            f"embedding_bag: Expected tensor for argument 'input' to have dtype Long or Int; but got {input.dtype}"
        )
    if not weight.is_floating_point():
        raise RuntimeError(
            f"embedding_bag: Expected tensor for argument 'weight' to have a floating dtype; but got {weight.dtype}"
        )


def _check_offsets(offsets: Any, entries: int, include_last_offset: bool) -> None:
    if offsets.dtype.category >= FLOATING:
        raise RuntimeError(
            f"embedding_bag: Expected tensor for argument 'offsets' to have dtype Long or Int; but got {offsets.dtype}"
        )
    if include_last_offset and not offsets.sizes[0]:
        raise RuntimeError("embedding_bag: include_last_offset: number of offsets should be at least 1")
    if offsets.is_fake or not offsets.sizes[0]:
        return
    if int(offsets.array[0]) != 0:
        raise RuntimeError(f"embedding_bag: offsets[0] has to be 0. However, got {int(offsets.array[0])}")
    if int(offsets.array[-1]) > entries:
        raise RuntimeError(
            f"embedding_bag: offsets[-1] can not be greater than input's length {entries} but got offsets[-1] of"
            f" {int(offsets.array[-1])}"
        )


@functional()
def one_hot(tensor: Tensor, num_classes: int = -1) -> Any:
    """For each integer a row with a 1 at its place, else 0; `num_classes` is the largest plus one, unless given.

    RuntimeError for another dtype than int64, and for numbers outside [0, num_classes).
    """
    if tensor.dtype is not int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not tensor.is_fake and 0 not in tensor.sizes:
        least, most = extremes(tensor)
        if least < 0:
            raise RuntimeError("Class values must be non-negative.")
        if num_classes != -1 and most >= num_classes:
            raise RuntimeError(f"Class values must be smaller than num_classes. Got {num_classes} classes.")
    elif num_classes != -1:
        tensor = checked(tensor, (tensor >= 0) & (tensor < num_classes))
    if num_classes == -1:
        if 0 in tensor.sizes:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(ops.amax(tensor).item()) + 1
    return (ops.unsqueeze(ops.contiguous(tensor), -1) == ops.arange(num_classes)).long()
