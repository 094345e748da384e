"""Where the buffers of a call lie in a device's memory: each has a place, and a call knows an address for each place.

    places   | inputs | temporaries | results |
             given      in one block   a block each, which the caller keeps

What is to be written back into an input has the input's place, if it can be computed there at once. Else it is a
temporary, copied at the end.

>>> planned({2: 100, 3: 600, 4: 50}, [[0, 2], [2, 3], [3, 4]])  # two temporaries lie one after the other in the block
([1024, 0, 1024], 1536)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.schedule.memory_plan import Life, assign_offsets
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.written_at_once import written_at_once

ALIGNMENT = 512  # of every buffer, as of the allocator's blocks


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


def planned(sizes: Mapping[int, int], uses: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Offsets of temporaries in one block, and its bytes. `uses`: the places that each launch has to do with."""
    lives = []
    for place, nbytes in sizes.items():
        seen = [number for number, used in enumerate(uses) if place in used] or [0]
        lives.append(Life(place, seen[0], seen[-1], -(-nbytes // ALIGNMENT) * ALIGNMENT))
    offsets, total = assign_offsets(lives)
    return [offsets[place] for place in sizes], total
