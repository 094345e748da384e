"""How many bytes a compiled graph needs while it runs, known before it does.

All memory of a call is asked for at its beginning: the results, one block that all temporaries share (the arena), and
scratch memory for each thread. So the peak is a sum.

>>> report = MemoryReport(arguments=4096, results=1024, arena=2048, without_sharing=8192, scratch=64)
>>> report.peak(threads=2)
7296
>>> print(report)
arguments 4,096 bytes, results 1,024, temporaries 2,048 (8,192 if none shared memory), scratch 64 a thread
"""

from __future__ import annotations

from dataclasses import dataclass

from minitorch_compile.tensor.cpu.thread_count import get_num_threads


@dataclass(frozen=True)
class MemoryReport:
    """Bytes of each kind; `scratch` is for each thread, `without_sharing` what temporaries would take one by one."""

    arguments: int
    results: int
    arena: int
    without_sharing: int
    scratch: int

    def peak(self, threads: int | None = None) -> int:
        """The most bytes in use during a call, arguments included. `threads` is by default the number that is set."""
        count = get_num_threads() if threads is None else threads
        return self.arguments + self.results + self.arena + self.scratch * count

    def __str__(self) -> str:
        return (
            f"arguments {self.arguments:,} bytes, results {self.results:,},"
            f" temporaries {self.arena:,} ({self.without_sharing:,} if none shared memory),"
            f" scratch {self.scratch:,} a thread"
        )
