"""BlockMask: which blocks of the score matrix hold anything that is seen.

For each row of blocks it has the number of *partial* blocks, of which some places are seen, and their columns; and the
same of *full* blocks. The columns come first that count, the others after them.

>>> mask = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 6, 6, BLOCK_SIZE=2)
>>> mask.kv_num_blocks, mask.full_kv_num_blocks
(tensor([[[1, 1, 1]]], dtype=torch.int32), tensor([[[0, 1, 2]]], dtype=torch.int32))
>>> mask.sparsity(), mask.to_dense()[0, 0]
(33.333333333333336, tensor([[1, 0, 0],
        [1, 1, 0],
        [1, 1, 1]], dtype=torch.int32))
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.attention.score_functions import create_mask, noop_mask, takes_scores
from minitorch_compile.tensor import Tensor, int32, ops

_DEFAULT_SPARSE_BLOCK_SIZE = 128
PARTS = (
    "kv_num_blocks",
    "kv_indices",
    "full_kv_num_blocks",
    "full_kv_indices",
    "q_num_blocks",
    "q_indices",
    "full_q_num_blocks",
    "full_q_indices",
)
LIMITED = (
    "...\nTo print out more, set BlockMask.to_string(limit=N)\n"
    "You can also index (BlockMask[batch, head]) to choose a specific batch or head"
)


class BlockMask:
    """`kv_` is by rows, for each block of queries; `q_` the same by columns. `mask_mod` says which places of a partial
    block are seen."""

    def __init__(
        self,
        seq_lengths: tuple[int, int],
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None,
        full_kv_indices: Tensor | None,
        q_num_blocks: Tensor | None,
        q_indices: Tensor | None,
        full_q_num_blocks: Tensor | None,
        full_q_indices: Tensor | None,
        BLOCK_SIZE: tuple[int, int] = (_DEFAULT_SPARSE_BLOCK_SIZE, _DEFAULT_SPARSE_BLOCK_SIZE),
        mask_mod: Callable[..., Any] = noop_mask,
        *,
        dq_write_order: Any = None,
        dq_write_order_full: Any = None,
        dq_kv_order: Any = None,
        dq_kv_order_spt: Any = None,
    ) -> None:
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        for first, second in (("full_kv_num_blocks", full_kv_indices), ("full_q_num_blocks", full_q_indices)):
            if (full_kv_num_blocks if "kv" in first else full_q_num_blocks) is None is not second:
                raise AssertionError(f"{first} and its indices must be both provided or omitted")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod
        # In which order several programs of a GPU add to one gradient: kept for who asks, nothing here depends on it.
        self.dq_write_order, self.dq_write_order_full = dq_write_order, dq_write_order_full
        self.dq_kv_order, self.dq_kv_order_spt = dq_kv_order, dq_kv_order_spt

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Tensor,
        kv_indices: Tensor,
        full_kv_num_blocks: Tensor | None = None,
        full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
        mask_mod: Callable[..., Any] | None = None,
        seq_lengths: tuple[int, int] | None = None,
        compute_q_blocks: bool = True,
    ) -> BlockMask:
        """A mask of what stands in its rows. Without a mask_mod, the blocks that are listed are seen as a whole."""
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if kv_indices.dim() < 2:
            raise RuntimeError("BlockMask must have at least 2 dimensions")
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        by_columns: list[Any] = [None] * 4
        if compute_q_blocks:
            by_columns[:2] = _transposed(kv_num_blocks, kv_indices)
            if full_kv_num_blocks is not None and full_kv_indices is not None:
                by_columns[2:] = _transposed(full_kv_num_blocks, full_kv_indices)
        lengths = seq_lengths or (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        parts: list[Any] = [kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices, *by_columns]
        return cls(lengths, **dict(zip(PARTS, parts, strict=True)), BLOCK_SIZE=size, mask_mod=mask_mod or noop_mask)

    # ------------------------------------------------------------------------------------------ what it says

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def numel(self) -> int:
        """How many places there are."""
        return math.prod(self.shape)

    def sparsity(self) -> float:
        """The percentage of places in no block that is computed. Blocks that stick out at the end make it less."""
        blocks = int(self.kv_num_blocks.sum())
        if self.full_kv_num_blocks is not None:
            blocks += int(self.full_kv_num_blocks.sum())
        return 100 * (1 - blocks * self.BLOCK_SIZE[0] * self.BLOCK_SIZE[1] / self.numel())

    def to_dense(self) -> Tensor:
        """Which blocks are computed: (..., rows of blocks, columns of blocks) of 0 and 1."""
        dense = _dense(self.kv_num_blocks, self.kv_indices)
        if self.full_kv_num_blocks is not None and self.full_kv_indices is not None:
            dense = dense | _dense(self.full_kv_num_blocks, self.full_kv_indices)
        return dense

    def as_tuple(self, flatten: bool = True) -> tuple[Any, ...]:
        """All parts, the lengths and block sizes first if flat, as pairs if not."""
        tensors = tuple(getattr(self, name) for name in PARTS)
        if flatten:
            return (*self.seq_lengths, *tensors, *self.BLOCK_SIZE, self.mask_mod)
        return (self.seq_lengths, *tensors, self.BLOCK_SIZE, self.mask_mod)

    # ------------------------------------------------------------------------------------------ masks made of it

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some samples, heads and rows of blocks; a number keeps its dimension. Its mask_mod has to be set
        anew if it is to know which places these are."""
        indices = index if isinstance(index, tuple) else (index,)
        if Ellipsis in [i for i in indices if not isinstance(i, Tensor)]:
            place = next(p for p, i in enumerate(indices) if i is Ellipsis)
            rest = self.kv_num_blocks.dim() - (len(indices) - 1)
            indices = (*indices[:place], *[slice(None)] * rest, *indices[place + 1 :])
        kept = tuple(slice(i, i + 1 or None) if isinstance(i, int) else i for i in indices)
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name)[kept] for name in PARTS if "kv" in name
        }
        return BlockMask.from_kv_blocks(
            **parts,
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=None if len(kept) > 2 else self.mask_mod,
            seq_lengths=self.seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The mask of other lengths: fewer blocks, or the same ones under more places."""
        rows, columns = (-(-n // block) for n, block in zip((new_q_len, new_kv_len), self.BLOCK_SIZE, strict=True))
        parts: list[Any] = []
        for counts, indices in (
            (self.kv_num_blocks, self.kv_indices),
            (self.full_kv_num_blocks, self.full_kv_indices),
        ):
            if counts is None or indices is None:
                parts += [None, None]
                continue
            parts += _ordered(_dense(counts, indices)[..., :rows, :columns])
        lengths = (new_q_len, new_kv_len)
        return _of_rows(parts, self.BLOCK_SIZE, self.mask_mod, lengths)

    def to(self, device: Any) -> BlockMask:
        """The mask with its tensors on a device."""
        parts: dict[str, Any] = {
            name: None if getattr(self, name) is None else getattr(self, name).to(device) for name in PARTS
        }
        return BlockMask(self.seq_lengths, **parts, BLOCK_SIZE=self.BLOCK_SIZE, mask_mod=self.mask_mod)

    # ------------------------------------------------------------------------------------------ as text

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of at most `limit` of its matrices: a sign for each block, or part of `grid_size`."""
        dense = self.to_dense()
        *batch, rows, columns = dense.shape
        if isinstance(grid_size, int):
            grid = (max(1, -(-rows // grid_size)), max(1, -(-columns // grid_size))) if grid_size > 0 else (1, 1)
        else:
            grid = (-(-rows // grid_size[0]), -(-columns // grid_size[1]))
        text = ""
        for number, place in enumerate(itertools.product(*map(range, batch))):
            if number == limit:
                return f"{text}{LIMITED}"
            text += f"{place}\n{_picture(dense[place], *grid)}\n\n"
        return text.removesuffix("\n")

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        parts = [(name, getattr(self, name)) for name in PARTS]
        lines = [f"    {name}={None if x is None else x.shape},\n" for name, x in parts]
        name = getattr(self.mask_mod, "__name__", self.mask_mod)
        return (
            f"BlockMask(\n{''.join(lines)}    BLOCK_SIZE={self.BLOCK_SIZE},\n    shape={self.shape},\n"
            f"    sparsity={self.sparsity():.2f}%,\n    mask_mod={name}\n)"
        )


def _picture(blocks: Any, height: int, width: int) -> str:
    """One sign for `height` by `width` blocks: all of them, some, or none."""
    values = blocks.tolist()
    lines = []
    for top in range(0, len(values), height):
        line = ""
        for left in range(0, len(values[0]), width):
            part = [x for row in values[top : top + height] for x in row[left : left + width]]
            line += "██" if all(part) else "░░" if any(part) else "  "
        lines.append(line)
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------ blocks, listed and dense


def _ordered(dense: Any) -> tuple[Any, Any]:
    """How many blocks each row has, and the columns, those first that it has."""
    counts = dense.sum(-1).to(int32)
    order = ops.argsort(dense.to(int32), -1, descending=True, stable=True)
    return counts, order.to(int32).contiguous()


def _dense(counts: Any, indices: Any) -> Any:
    """The inverse."""
    columns = indices.shape[-1]
    listed = (ops.arange(columns) < counts.unsqueeze(-1)).to(int32)
    return ops.zeros(indices.shape, dtype=int32).scatter(-1, indices.long(), listed)


def _transposed(counts: Any, indices: Any) -> tuple[Any, Any]:
    return _ordered(_dense(counts, indices).transpose(-2, -1))


def create_block_mask(
    mask_mod: Callable[..., Any],
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device: Any = None,
    BLOCK_SIZE: int | tuple[int, int] = _DEFAULT_SPARSE_BLOCK_SIZE,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The BlockMask of a mask_mod, for B samples and H heads; None if it is the same for all of them.

    BLOCK_SIZE: of queries and keys, or one number for both. separate_full_blocks: blocks that are seen as a whole are
    listed by themselves. The two about dq are for gradients on a GPU, whose order is fixed here. AssertionError for a
    score_mod.
    """
    if takes_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    seen = _in_blocks(create_mask(mask_mod, B, H, Q_LEN, KV_LEN), size)
    count = seen.sum((-3, -1))
    full = count == size[0] * size[1]
    partial = (count > 0) & ~full if separate_full_blocks else count > 0
    full_parts = _ordered(full) if separate_full_blocks else (None, None)
    return _of_rows([*_ordered(partial), *full_parts], size, mask_mod, (Q_LEN, KV_LEN))


def _of_rows(
    parts: list[Any], size: tuple[int, int], mask_mod: Callable[..., Any], lengths: tuple[int, int]
) -> BlockMask:
    counts, indices, full_counts, full_indices = parts
    return BlockMask.from_kv_blocks(counts, indices, full_counts, full_indices, size, mask_mod, lengths)


def _in_blocks(mask: Any, size: tuple[int, int]) -> Any:
    """(B, H, Q, KV) as (B, H, rows, height, columns, width); what sticks out at the end is not seen."""
    (*batch, rows, columns), (height, width) = mask.shape, size
    padded = ops.table["constant_pad_nd"](mask.to(int32), (0, -columns % width, 0, -rows % height), 0)
    return padded.view(*batch, -(-rows // height), height, -(-columns // width), width)
