"""What a kernel does wrong, with the lines where it does.

>>> place = Place("copy.py", 7, "copy", "out[i] = x[i]")
>>> print(KernelFault("out of bounds", "thread 4 of block 0 writes out[4], which has 4 elements", place))
out of bounds: thread 4 of block 0 writes out[4], which has 4 elements
    copy.py:7 in copy:  out[i] = x[i]

`Faults` raises the first one, or collects them: each kind once for each pair of lines.

>>> found = Faults(collect=True)
>>> for thread in (4, 5):
...     found.report("out of bounds", f"thread {thread} of block 0 writes out[{thread}]", place)
>>> len(found.reported)
1
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A line of a kernel, or of a device function that it calls."""

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.function}:  {self.text}"


class KernelFault(RuntimeError):
    """A kernel did what no device promises to do as meant.

    `kind` is one of "out of bounds", "data race", "divergent barrier", "inactive lane", "uninitialised read",
    "misaligned access", "endless loop";
    `place` the line, `other` the line of the access that it collides with.
    """

    def __init__(self, kind: str, what: str, place: Place, other: Place | None = None) -> None:
        self.kind, self.what, self.place, self.other = kind, what, place, other
        lines = [f"{kind}: {what}", f"    {place}", *([f"    {other}"] if other else [])]
        super().__init__("\n".join(lines))


class Faults:
    """The faults of one launch: the first is raised, or all are `reported`."""

    def __init__(self, collect: bool) -> None:
        self.collect = collect
        self.reported: list[KernelFault] = []
        self.known: set[tuple[str, Place, Place | None]] = set()

    def report(self, kind: str, what: str, place: Place, other: Place | None = None) -> None:
        if (kind, place, other) in self.known:
            return
        self.known.add((kind, place, other))
        fault = KernelFault(kind, what, place, other)
        if not self.collect:
            raise fault
        self.reported.append(fault)
