"""Where the buffers of a call lie in a device's memory: each has a place, and a call knows an address for each place.

    places   | inputs | temporaries | results |
             given      in one block   a block each, which the caller keeps

What is to be written back into an input is computed there at once, if nobody reads the old elements later: then it has
the input's place. Else it is a temporary, copied at the end.

>>> from minitorch_compile.inductor.ir.extern_call import whole
>>> from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
>>> from minitorch_compile.inductor.schedule.scheduler import schedule
>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> p, g, new = (Buffer.contiguous(name, (4,), float32) for name in ("p", "g", "new"))
>>> minus = lambda ops, at: ops.apply("sub", ops.load(p, p.address(at)), ops.load(g, g.address(at)))
>>> stepped = schedule(LoopGraph([p, g], [Loop(new, (4,), minus)], [whole(new)], written_back={new: p}))
>>> written_at_once(stepped)[new] is p
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.iteration import count
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.memory_plan import Life, assign_offsets, overwrites_safely
from minitorch_compile.inductor.schedule.schedule import Schedule, reads_of

ALIGNMENT = 512  # of every buffer, as of the allocator's blocks
ANYWHERE = ("mm", "bmm")  # calls that write to any address; others want one that 16 divides, as an input's needn't be


class Places(NamedTuple):
    """`of`: the place of each buffer. `sizes`: bytes of those that a call allocates; temporaries come first, `results`
    are the places behind them. `copied`: what is written back at the end, and the input it belongs into."""

    of: Mapping[Buffer, int]
    sizes: Mapping[int, int]
    results: Sequence[int]
    copied: Mapping[Buffer, Buffer]


def places_of(schedule: Schedule, used: Sequence[Buffer]) -> Places:
    """`used`: all buffers of the call's launches, in the order of their use."""
    graph = schedule.graph
    at_once = written_at_once(schedule)
    results = dict.fromkeys(view.buffer for view in graph.outputs if view.buffer not in graph.written_back)
    made = [b for b in dict.fromkeys([*used, *results]) if b not in graph.inputs and b not in at_once]
    temporaries = [b for b in made if b not in results]
    of = {buffer: place for place, buffer in enumerate([*graph.inputs, *temporaries, *results])}
    sizes = {of[buffer]: buffer.nbytes for buffer in [*temporaries, *results]}
    of |= {buffer: of[target] for buffer, target in at_once.items()}
    copied = {buffer: target for buffer, target in graph.written_back.items() if buffer not in at_once}
    return Places(of, sizes, [of[buffer] for buffer in results], copied)


def written_at_once(schedule: Schedule) -> dict[Buffer, Buffer]:
    """Which of the results that belong into inputs are computed there: by a step behind all that read the input, or by
    one that reads each of its elements where it writes the new one."""
    found: dict[Buffer, Buffer] = {}
    for result, target in schedule.graph.written_back.items():
        writers = [number for number, step in enumerate(schedule.steps) if result in step.outputs]
        readers = [number for number, step in enumerate(schedule.steps) if target in reads_of(step)]
        if len(writers) != 1 or target in found.values() or any(reader > writers[0] for reader in readers):
            continue
        step: Any = schedule.steps[writers[0]]
        if (isinstance(step, Group) and not step.is_fusible) or (
            isinstance(step, ExternCall) and step.kernel not in ANYWHERE
        ):
            continue
        if writers[0] not in readers or (isinstance(step, Group) and _one_thread_each(step, result, target)):
            found[result] = target
    return found


def _one_thread_each(group: Group, result: Buffer, target: Buffer) -> bool:
    """Whether each element is read and written at one point of the group, which one thread has. What belongs to a row,
    or to the whole, is read by all threads, at any time before the last of them has come to its end."""
    alone = bool(group.axes) and not group.has_reduction and count(group.axes) == target.length
    return alone and overwrites_safely(group, result, target)


def planned(sizes: Mapping[int, int], uses: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Offsets of temporaries in one block, and its bytes. `uses`: the places that each launch has to do with.

    >>> planned({2: 100, 3: 600, 4: 50}, [[0, 2], [2, 3], [3, 4]])
    ([1024, 0, 1024], 1536)
    """
    lives = []
    for place, nbytes in sizes.items():
        seen = [number for number, used in enumerate(uses) if place in used] or [0]
        lives.append(Life(place, seen[0], seen[-1], -(-nbytes // ALIGNMENT) * ALIGNMENT))
    offsets, total = assign_offsets(lives)
    return [offsets[place] for place in sizes], total
