"""What an answer runs: the operations that compute, and how large their results are.

>>> import minitorch_compile as torch
>>> _, work = measured(lambda x: (x * x).sum(), torch.ones(3))
>>> work.names, work.largest
(['mul', 'sum'], 3)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import outcome
from minitorch_compile.course.far.there import there
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op


class Work:
    """Notes what reaches the bottom of the dispatcher. Views are left out, since they move no data."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.largest = 0

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = op(*args, **kwargs)
        if op.kind != "view":
            self.names.append(op.name)
            parts = result if isinstance(result, tuple | list) else [result]
            self.largest = max([self.largest, *(part.numel() for part in parts if isinstance(part, Tensor))])
        return result


def measured(answer: Callable[..., Any], *arguments: Any) -> tuple[Any, Work]:
    """What a call gives, and the work behind it; none is told of one that raises."""
    work, given = Work(), outcome(noted, (answer, arguments))
    if not isinstance(given, tuple):
        return given, work
    result, work.names, work.largest = given
    return result, work


@there
def noted(answer: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, list[str], int]:
    """The same, where the answer is."""
    with mode(Work()) as work:
        result = answer(*arguments)
    return result, work.names, work.largest
