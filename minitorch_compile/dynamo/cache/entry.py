"""A compiled version of a function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from minitorch_compile.dynamo.errors import GraphBreak
from minitorch_compile.dynamo.guards.guards import GuardSet
from minitorch_compile.fx import GraphModule


@dataclass(eq=False, repr=False)
class Entry:
    """One compiled version of a frame. `bind(function, plain)` gives the callable for one function object.

    `names` are the objects that `source` refers to; `graph_module` is None if no tensor was computed; `is_plain` if it
    is the plain function under guards, because the frame could not be split where it breaks.
    """

    bind: Callable[[FunctionType, Callable[..., Any]], Callable[..., Any]]
    guards: GuardSet
    source: str
    names: dict[str, Any]
    graph_module: GraphModule | None = None
    graph_break: GraphBreak | None = None
    side_effects: str = ""
    is_plain: bool = False
    seconds: float = 0.0
    autocast: Any = None  # the dtype that ops were cast to while it was traced

    def __repr__(self) -> str:
        return f"<Entry with {len(self.guards)} guards>"
