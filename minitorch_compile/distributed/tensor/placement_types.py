"""How a tensor lies along a dimension of a mesh: whole on each process, in pieces, or as terms of a sum.

>>> Shard(0) == Shard(0), str(Shard(1)), str(Replicate()), Partial()
(True, 'S(1)', 'R', Partial(sum))
"""

from __future__ import annotations

from dataclasses import dataclass


class Placement:
    """What the three have in common: what a program asks."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a piece (along `dim`)."""
        return False

    def is_replicate(self) -> bool:
        """Whether each process has all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a term of it (of a reduction of this name)."""
        return False


@dataclass(frozen=True)
class Shard(Placement):
    """Pieces along a dimension."""

    dim: int

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each process has a piece (along `dim`): yes."""
        return dim in (None, self.dim)

    @staticmethod
    def local_shard_size_and_offset(curr_local_size: int, num_chunks: int, rank: int) -> tuple[int, int]:
        """How long the piece of a process is, and where it begins: as torch.chunk cuts.

        >>> [Shard.local_shard_size_and_offset(5, 2, rank) for rank in range(2)]
        [(3, 0), (2, 3)]
        """
        longest = -(-curr_local_size // num_chunks)
        begin = min(longest * rank, curr_local_size)
        return min(longest, curr_local_size - begin), begin

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True, repr=False)
class _StridedShard(Shard):
    """Pieces of pieces: `split_factor` groups, each of which is cut."""

    split_factor: int

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """All of it on each process."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True, repr=False)
class Partial(Placement):
    """A term on each process; together they give the tensor."""

    reduce_op: str = "sum"

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether each process has a term of it (of a reduction of this name): yes."""
        return reduce_op in (None, self.reduce_op)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"
