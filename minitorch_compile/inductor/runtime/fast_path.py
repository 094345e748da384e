"""Quick kernels first, careful ones where those had doubts.

Some work has a quick form that is right for nearly everything: sin and cos of angles below 2**48 (float32), remainders
of quotients below 2**52, elements chosen by indices that are in range. Testing each element and branching would keep
the whole loop from being vectorised, for the sake of what almost never happens. So kernels only collect, in one
variable, whether any element was out of their depth. If one was, the call's results are thrown away and the graph is
run again by kernels that are slower and always right; they are compiled when they are first needed. Nothing was lost:
a compiled graph overwrites none of its inputs.

>>> runs = FastPath(lambda x: x + 1 if x < 10 else None, lambda: lambda x: x + 1)
>>> runs(1), runs.careful is None, runs(10), runs.careful is None
(2, True, 11, False)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Run = Callable[..., Any]


class FastPath:
    """`quick` returns None if it had doubts; what `make_careful` gives is asked then."""

    def __init__(self, quick: Run, make_careful: Callable[[], Run]) -> None:
        self.quick = quick
        self.make_careful = make_careful
        self.careful: Run | None = None

    def __call__(self, *inputs: Any) -> Any:
        result = self.quick(*inputs)
        if result is not None:
            return result
        if self.careful is None:
            self.careful = self.make_careful()
        return self.careful(*inputs)
