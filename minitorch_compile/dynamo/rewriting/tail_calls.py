"""Calls at the very end of a function, made after the function has returned.

A break in a loop makes resume functions call each other in circles: the one for the rest of an iteration ends with a
call of the one for the next. Done as plain calls, a loop of a thousand iterations would be a thousand frames deep. So
inside a loop a resume function returns the call that it wants to end with, and whoever entered the loop makes it.

>>> def count_down(n):
...     return TailCall(count_down, (n - 1,)) if n else "done"
>>> run_tail_calls(count_down, 100_000)
'done'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TailCall:
    """The call `target(*arguments)`, still to be made."""

    target: Callable[..., Any]
    arguments: tuple[Any, ...]


def run_tail_calls(target: Callable[..., Any], *arguments: Any) -> Any:
    """Calls, and goes on as long as the answer is another call."""
    result = target(*arguments)
    while type(result) is TailCall:
        result = result.target(*result.arguments)
    return result
