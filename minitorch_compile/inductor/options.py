"""What a user may choose about compilation to kernels: `compile(options={"max_fusion": 1})`.

>>> Options.of({"max_fusion": 1}).max_fusion
1
>>> Options.of({"max_fusion": 0})
Traceback (most recent call last):
ValueError: option max_fusion: expected an int of at least 1, got 0
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Options:
    """max_fusion: how many loops one kernel may hold; 1 compiles every loop on its own.
    reuse_temporaries: keep one block of memory for a graph's temporaries from call to call, instead of asking for it
    anew; the memory of a result is used again, too, once nobody holds the result (`result_memory`).
    autotune: compute each matrix product, with what follows it, in several ways, and the graph with several
    fusion limits; time each on this machine, keep the fastest, and remember which it was.
    """

    max_fusion: int = 300
    reuse_temporaries: bool = False
    autotune: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.max_fusion, int) or isinstance(self.max_fusion, bool) or self.max_fusion < 1:
            raise ValueError(f"option max_fusion: expected an int of at least 1, got {self.max_fusion!r}")
        for name in ("reuse_temporaries", "autotune"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"option {name}: expected True or False, got {getattr(self, name)!r}")

    @staticmethod
    def of(values: Mapping[str, Any] | None) -> Options:
        """The options that a user's dict stands for, checked. ValueError for an unknown name."""
        unknown = [name for name in values or {} if name not in OPTIONS]
        if unknown:
            raise ValueError(f"options: no option named {unknown[0]!r}. Choose one of: {', '.join(OPTIONS)}.")
        return Options(**(values or {}))


OPTIONS = tuple(field.name for field in fields(Options))
DEFAULTS = Options()
