"""What an allocator did, as a list: `torch.cuda.memory._record_memory_history` has the same actions.

>>> TraceEntry("alloc", 0x1000, 512, StreamHandle(0))
TraceEntry(action='alloc', address=4096, size=512, stream=StreamHandle(device=0, handle=0))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

from minitorch_compile.cuda_runtime.driver import StreamHandle

Action = Literal[
    "segment_alloc",  # the driver gave memory
    "alloc",  # a block was handed out
    "free_requested",  # the program gave it back; streams may still use it
    "free_completed",  # they don't any more: it can be handed out again
    "segment_free",  # memory went back to the driver
    "oom",  # there was none left; no address
]


class TraceEntry(NamedTuple):
    """One thing that an allocator did."""

    action: Action
    address: int
    size: int
    stream: StreamHandle


Observer = Callable[[TraceEntry], None]
