"""What a collective gives that was asked not to wait (`async_op=True`), and the names of the reductions.

>>> Work([1]).wait(), Work([1]).result(), ReduceOp.SUM
(True, [1], <ReduceOp.SUM: 0>)
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class ReduceOp(IntEnum):
    """How values of several processes become one. Of one process they all give its value."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR, PREMUL_SUM = range(9)


ReduceOp.RedOpType = ReduceOp  # type: ignore[attr-defined]  # PyTorch's name for what SUM and the others are
reduce_op = ReduceOp  # its first name


class Work:
    """Something that is under way; with one process it is done when it begins."""

    def __init__(self, result: Any = None) -> None:
        self._result = result

    def wait(self, timeout: Any = None) -> bool:
        """Waits for it: it is done."""
        return True

    def is_completed(self) -> bool:
        """Whether it is done."""
        return True

    def is_success(self) -> bool:
        """Whether it went well."""
        return True

    def exception(self) -> None:
        """What went wrong: nothing."""

    def synchronize(self) -> None:
        """Waits for it: it is done."""

    def source_rank(self) -> int:
        """Where it came from."""
        return 0

    def result(self) -> Any:
        """The tensors it wrote to."""
        return self._result
