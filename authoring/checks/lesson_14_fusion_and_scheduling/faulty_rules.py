"""Three rules for fusing two loops that look right, as exercise 14.3 shows them, and the truth.

Each takes all loops of a program and the two in question, the earlier one first.

>>> from .schedules import loops_of
>>> loops = loops_of(lambda x: x.softmax(1), (4, 4)).operations
>>> by_size(loops, loops[0], loops[1]), may_be_one(loops, loops[0], loops[1])
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from minitorch_compile.inductor.ir.dependencies import buffers_read
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.schedule.group import Group

Loops = Sequence[Loop]


def by_size(loops: Loops, first: Loop, second: Loop) -> bool:
    """The two go over the same number of positions."""
    return prod(first.sizes) == prod(second.sizes)


def by_value(loops: Loops, first: Loop, second: Loop) -> bool:
    """The same sizes, and if the second wants what the first makes, the two fit."""
    if first.sizes != second.sizes:
        return False
    if first.buffer in buffers_read(second):
        return isinstance(Group.of(first).fuse(Group.of(second)), Group)
    return True


def by_pair(loops: Loops, first: Loop, second: Loop) -> bool:
    """The two fit: common axes, the same rows, each value read where it was written."""
    return isinstance(Group.of(first).fuse(Group.of(second)), Group)


def may_be_one(loops: Loops, first: Loop, second: Loop) -> bool:
    """The truth: the two fit, and no third loop has to run between them."""
    if not by_pair(loops, first, second):
        return False
    needs_first = {first.buffer}
    for loop in loops[loops.index(first) + 1 : loops.index(second)]:
        if needs_first.intersection(buffers_read(loop)):
            needs_first.add(loop.buffer)
    return not (needs_first - {first.buffer}).intersection(buffers_read(second))
