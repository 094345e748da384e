"""Sequences of different lengths in one batch: padded to the longest, or packed without padding.

Packed, all first elements lie together, then all second ones, ..., the longest sequence first; `batch_sizes` counts the
sequences that reach each step. So a recurrent network does no work on padding.

>>> from minitorch_compile import tensor
>>> batch = pad_sequence([tensor([1, 2, 3]), tensor([4])], batch_first=True)
>>> batch
tensor([[1, 2, 3],
        [4, 0, 0]])
>>> packed = pack_padded_sequence(batch, [3, 1], batch_first=True)
>>> packed.data, packed.batch_sizes
(tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
>>> pad_packed_sequence(packed, batch_first=True)[1]
tensor([3, 1])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from minitorch_compile.tensor import Tensor, int64, ops, tensor
from minitorch_compile.tensor.numerics.dtype import float16, float32, float64, int8, int16, int32, uint8


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Packed):
    """A batch of sequences without padding. Made by `pack_padded_sequence` and `pack_sequence`.

    `data`: the elements, (sum of lengths, ...). `batch_sizes`: int64, the number of sequences at each step.
    `sorted_indices`: the order by length, None if the batch came in that order; `unsorted_indices`: the way back.
    """

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if batch_sizes is None:  # PackedSequence((data, batch_sizes)), as old code writes it
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def __reduce__(self) -> tuple[Any, ...]:
        return PackedSequence, tuple(self)

    def _with_data(self, data: Any) -> PackedSequence:
        if data is self.data:
            return self
        return type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data in another dtype, as Tensor.to has it."""
        return self._with_data(self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        """In main memory: itself."""
        return self._with_data(self.data.cpu())

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """On the GPU, if tensors can be there."""
        return self._with_data(self.data.cuda(*args, **kwargs))

    def pin_memory(self) -> PackedSequence:
        """The data in pinned memory, as Tensor.pin_memory has it."""
        return self._with_data(self.data.pin_memory())

    def is_pinned(self) -> bool:
        return self.data.is_pinned()

    def double(self) -> PackedSequence:
        return self.to(float64)

    def float(self) -> PackedSequence:
        return self.to(float32)

    def half(self) -> PackedSequence:
        return self.to(float16)

    def long(self) -> PackedSequence:
        return self.to(int64)

    def int(self) -> PackedSequence:
        return self.to(int32)

    def short(self) -> PackedSequence:
        return self.to(int16)

    def char(self) -> PackedSequence:
        return self.to(int8)

    def byte(self) -> PackedSequence:
        return self.to(uint8)

    @property
    def is_cuda(self) -> bool:
        return self.data.is_cuda


def invert_permutation(permutation: Tensor | None) -> Any:
    """The permutation that undoes another: result[permutation[i]] = i."""
    if permutation is None:
        return None
    places = ops.arange(permutation.numel(), device=permutation.device)
    return ops.index_put(ops.zeros_like(permutation), [permutation], places.to(permutation.dtype))


# ---------------------------------------------------------------------------------------- packing


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Takes the padding out of (time, batch, ...), or (batch, time, ...) with `batch_first`.

    `enforce_sorted`: the lengths have to come in decreasing order, RuntimeError if they don't. Otherwise the batch is
    sorted here, and put back in order by `pad_packed_sequence`.
    """
    asked = lengths.tolist() if isinstance(lengths, Tensor) else [int(n) for n in lengths]
    order = None
    if not enforce_sorted:
        sorted_places = sorted(range(len(asked)), key=lambda i: -asked[i])
        order = tensor(sorted_places, dtype=int64, device=input.device)
        asked = [asked[i] for i in sorted_places]
        input = ops.index_select(input, 0 if batch_first else 1, order)
    data, batch_sizes = _packed(input, asked, batch_first)
    return PackedSequence(data, tensor(batch_sizes, dtype=int64), order)


def _packed(input: Any, lengths: Sequence[int], batch_first: bool) -> tuple[Any, list[int]]:
    """The rows of sequences that come in decreasing order of length, and how many there are at each step."""
    steps = ops.transpose(input, 0, 1) if batch_first else input
    if 0 in steps.sizes:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(lengths) != steps.sizes[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={steps.sizes[1]})"
        )
    if min(lengths) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(lengths, lengths[1:], strict=False)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass"
            " `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement."
        )
    if lengths[0] > steps.sizes[0]:
        raise RuntimeError(f"Expected lengths of at most {steps.sizes[0]}, the number of steps, but got {lengths[0]}")
    batch_sizes = [sum(n > step for n in lengths) for step in range(lengths[0])]
    # One selection of rows, not a slice for each step, whose gradients would each be as large as the input.
    width = steps.sizes[1]
    places = [step * width + i for step, size in enumerate(batch_sizes) for i in range(size)]
    rows = ops.flatten(steps, 0, 1)
    return ops.index_select(rows, 0, tensor(places, dtype=int64, device=rows.device)), batch_sizes


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """(padded, lengths): the sequences in their first order, padded to the longest or to `total_length`.

    ValueError if `total_length` is less than the longest.
    """
    batch_sizes = sequence.batch_sizes.tolist()
    steps, width = len(batch_sizes), batch_sizes[0]
    if total_length is not None and total_length < steps:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got"
            f" total_length={total_length} and max sequence length being {steps}"
        )
    lengths = tensor([sum(size > i for size in batch_sizes) for i in range(width)], dtype=int64)
    data = sequence.data
    places = [step * width + i for step, size in enumerate(batch_sizes) for i in range(size)]
    total = (total_length or steps) * width
    blank = ops.full((total, *data.sizes[1:]), padding_value, data.dtype, device=data.device)
    rows = ops.index_put(blank, [tensor(places, dtype=int64)], data)
    padded = ops.reshape(rows, (total // width, width, *data.sizes[1:]))
    if sequence.unsorted_indices is not None:
        padded = ops.index_select(padded, 1, sequence.unsorted_indices)
        lengths = ops.index_select(lengths, 0, sequence.unsorted_indices.cpu())
    return (ops.transpose(padded, 0, 1) if batch_first else padded), lengths


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences given one by one, each (length, ...)."""
    lengths = [x.sizes[0] for x in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences one by one."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


# ---------------------------------------------------------------------------------------- padding


def pad_sequence(
    sequences: Tensor | Iterable[Tensor],
    batch_first: bool = False,
    padding_value: float = 0.0,
    padding_side: str = "right",
) -> Any:
    """Sequences (length, ...) as one tensor (longest, batch, ...), or (batch, longest, ...) with `batch_first`."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"padding_side should be one of 'right' or 'left', but got {padding_side!r}")
    parts = list(sequences)
    if not parts:
        raise RuntimeError("received an empty list of sequences")
    longest = max(x.sizes[0] for x in parts)
    padded = [_padded(x, longest - x.sizes[0], padding_value, padding_side) for x in parts]
    return ops.stack(padded, 0 if batch_first else 1)


def _padded(x: Any, missing: int, value: float, side: str) -> Any:
    if not missing:
        return x
    padding = ops.full((missing, *x.sizes[1:]), value, x.dtype, device=x.device)
    return ops.cat([x, padding] if side == "right" else [padding, x])


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Any]:
    """The sequences that were padded, each cut to its length."""
    rows = ops.unbind(padded_sequences, 0 if batch_first else 1)
    return [ops.slice(row, 0, 0, int(length)) for row, length in zip(rows, lengths.tolist(), strict=True)]


__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]
