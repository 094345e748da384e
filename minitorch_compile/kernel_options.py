"""What a user may choose about compilation to kernels: `compile(options={"max_fusion_size": 1})`.

>>> Options.of({"max_fusion_size": 1}).max_fusion_size
1
>>> Options.of({"max_fusion_size": 0})
Traceback (most recent call last):
ValueError: option max_fusion_size: expected an int of at least 1, got 0

The names are those of `torch._inductor.config`, as far as it has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Options:
    """max_fusion_size: how many loops one kernel may hold; 1 compiles every loop on its own.
    reuse_temporaries: keep one block of memory for a graph's temporaries from call to call, instead of asking for it
    anew; the memory of a result is used again, too, once nobody holds the result (`result_memory`). On a GPU, launch a
    recording of the graph (`recorded_graph`).
    max_autotune: compute each matrix product, with what follows it, in several ways, and the graph with several
    fusion limits; time each on this machine, keep the fastest, and remember which it was.
    epilogue_fusion: run the loops that follow a product or a convolution on each block of its result, while that is in
    cache.
    """

    max_fusion_size: int = 300
    reuse_temporaries: bool = False
    max_autotune: bool = False
    epilogue_fusion: bool = True

    def __post_init__(self) -> None:
        size = self.max_fusion_size
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise ValueError(f"option max_fusion_size: expected an int of at least 1, got {size!r}")
        for name in ("reuse_temporaries", "max_autotune", "epilogue_fusion"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"option {name}: expected True or False, got {getattr(self, name)!r}")

    @staticmethod
    def of(values: Mapping[str, Any] | None) -> Options:
        """The options that a user's dict stands for, checked. ValueError for an unknown name."""
        unknown = [name for name in values or {} if name not in OPTIONS]
        if unknown:
            raise ValueError(f"options: no option named {unknown[0]!r}. Choose one of: {', '.join(OPTIONS)}.")
        return Options(**{**_defaults, **(values or {})})


_defaults: dict[str, Any] = {}  # what a program has set for all that is compiled


def defaults() -> Options:
    """What holds where compile() is told nothing."""
    return Options.of(None)


def set_default(name: str, value: Any) -> None:
    """From now on it holds where compile() is told nothing. Errors as those of `Options.of`."""
    Options.of({name: value})
    _defaults[name] = value


OPTIONS = tuple(field.name for field in fields(Options))
DEFAULTS = Options()
