"""The guard that tensors which a graph writes to share memory with no other input, and how it is asked quickly.

>>> from minitorch_compile.dynamo.guards.source import LocalSource
>>> guard = memory_guard([LocalSource("x")], [LocalSource("y"), LocalSource("z")])
>>> print(guard)
NO_ALIAS         {id(x.storage.memory)}.isdisjoint({id(y.storage.memory), id(z.storage.memory)})

A model in training has dozens of buffers that are written to and a hundred parameters. Which memory those have can't
change while nothing below the model does. So the sets of their memory are values that its structure keeps, and only
what is outside, such as the batch, is compared with them at each call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import Source


@dataclass(frozen=True)
class MemoryGuard(Guard):
    """`written` and `read`: the tensors."""

    written: tuple[Source, ...] = ()
    read: tuple[Source, ...] = ()


def memory_guard(written: Sequence[Source], read: Sequence[Source]) -> MemoryGuard:
    """At least one is written to, and there are two in all."""
    sets = Memory.of([source.name() for source in written], [source.name() for source in read])
    check = " and ".join(part.replace("{", "{{").replace("}", "}}") for part in sets.conditions(len(written)))
    last = [*written, *read][-1]
    return MemoryGuard(
        written[0], "NO_ALIAS", check, "no shared memory", last, written=tuple(written), read=tuple(read)
    )


@dataclass(frozen=True)
class Memory:
    """The texts of two sets: the memory that is written to, and the other; empty where there is none."""

    written: str
    read: str

    @classmethod
    def of(cls, written: Sequence[str], read: Sequence[str]) -> Memory:
        """`written` and `read`: the texts of the tensors."""
        return cls(_memory_of(written), _memory_of(read))

    def conditions(self, written: int) -> list[str]:
        """That nothing is shared among these; `written` of them are written to."""
        alone = [f"len({self.written}) == {written}"] if written > 1 else []
        return [*alone, *([f"{self.written}.isdisjoint({self.read})"] if self.written and self.read else [])]


def conditions_between(groups: Sequence[Memory]) -> list[str]:
    """That no group writes to the memory of another."""
    both = [f"{a.written}.isdisjoint({b.written})" for a, b in combinations(groups, 2) if a.written and b.written]
    return both + [f"{a.written}.isdisjoint({b.read})" for a, b in permutations(groups, 2) if a.written and b.read]


def _memory_of(tensors: Sequence[str]) -> str:
    return f"{{{', '.join(f'id({tensor}.storage.memory)' for tensor in tensors)}}}" if tensors else ""
