"""The words of a list of kernels, as the native loop reads them: `inductor/runtime/native_loop.py` says their meaning.

>>> step = Step(function=4096, extent=10, nanoseconds=5.0, arguments=[(NUMBER, 7), (FIRST_TENSOR, 0)])
>>> words_of([step], block=0, scratch=0).tolist()
[1, 0, 0, 0, 0, 0, 1, 4096, 4, 0, 0, 0, 0, 10, 0, 7, 5, 0]
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.kernel_library.chunk_lengths import SHORTEST, chunk_length

# What an argument's number is added to: nothing, the block's address, the address of the list itself, this thread's
# scratch memory, the place where that memory's block would begin if it held more than one chunk, or, from FIRST_TENSOR
# on, the address of that tensor's data.
NUMBER, IN_BLOCK, IN_LIST, IN_SCRATCH, IN_WINDOW, FIRST_TENSOR = range(6)
MOST_ARGUMENTS = 128
# Where the items of a tuple, and the address of an array's data, lie in CPython's and NumPy's objects.
TUPLE_ITEMS, ARRAY_DATA = tuple.__basicsize__, object.__basicsize__
HEADER, STEP, KERNEL = 4, 3, 3  # words before the first step, the first kernel of a step, a kernel's arguments


class Step(NamedTuple):
    """A kernel's address, how far its range goes, about how long it takes, and what follows the range: pairs of what a
    number is added to, and the number; and how long a piece of the range should take at least."""

    function: int
    extent: int
    nanoseconds: float
    arguments: list[tuple[int, int]]
    shortest: float = SHORTEST


def words_of(steps: Sequence[Step], block: int, scratch: int) -> np.ndarray:
    """The list. `block`: bytes for what one step leaves for another; `scratch`: those that each thread needs."""
    words = [len(steps), block, scratch, 0]
    for step in steps:
        length = chunk_length(step.extent, step.nanoseconds, step.shortest)
        words += [step.extent if length else 0, length, 1]
        words += [step.function, len(step.arguments) + 2, step.extent if length else 0]
        words += [NUMBER, 0, NUMBER, step.extent]
        for pair in step.arguments:
            words += pair
    return np.array(words, np.int64)


def planned_words(step: Step, plan: Sequence[int], scratch: int) -> np.ndarray:
    """The list of one kernel whose last argument is where its plan lies: the numbers that stand behind the list.

    >>> planned_words(Step(4096, 1, 5.0, [(FIRST_TENSOR, 0)]), [7, 8], 0).tolist()
    [1, 0, 0, 0, 0, 0, 1, 4096, 4, 0, 0, 0, 0, 1, 5, 0, 2, 144, 7, 8]
    """
    words = words_of([step._replace(arguments=[*step.arguments, (IN_LIST, 0)])], 0, scratch)
    words[-1] = words.nbytes
    return np.concatenate([words, np.array(plan, np.int64)])


def record_words(record: tuple[Any, ...]) -> list[int]:
    """The 64-bit words that a tuple takes in memory: its numbers, those of tuples in it, a float as its bits.

    >>> record_words((1, (2, True), 1.0)) == [1, 2, 1, 0x3FF0000000000000]
    True
    """
    words: list[int] = []
    for item in record:
        if isinstance(item, tuple):
            words += record_words(item)
        else:
            words.append(struct.unpack("<q", struct.pack("<d" if isinstance(item, float) else "<q", item))[0])
    return words
