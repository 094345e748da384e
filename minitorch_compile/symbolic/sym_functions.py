"""torch.sym_int and its kin: functions of numbers that may be expressions over sizes.

>>> sym_int(2.7), sym_float(2), sym_not(True), sym_ite(3 > 2, 1, 0), sym_sum([1, 2, 3])
(2, 2.0, False, 1, 6)
>>> isinstance(3, SymInt), isinstance(3.0, SymFloat), isinstance(True, SymBool)
(False, False, False)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from minitorch_compile.symbolic.sym_float import SymFloat
from minitorch_compile.symbolic.sym_int import SymInt

# Comparing two expressions gives a bool here, which is noted: there are no others.


class SymBool:
    """A truth value that is an expression. There is none: a comparison is decided when it is traced, and guarded."""

    def __new__(cls, node: Any) -> NoReturn:
        raise TypeError("SymBool: a comparison is decided when it is traced, and guarded")


def sym_int(a: Any) -> Any:
    """The number without its fraction."""
    return a if isinstance(a, SymInt) else int(a)


def sym_float(a: Any) -> Any:
    """The number as a float."""
    return a if isinstance(a, SymFloat) else float(a)


def sym_not(a: Any) -> bool:
    """Whether it is false."""
    return not a


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if `b`, else `f`."""
    return t if b else f


def sym_sum(*args: Any) -> Any:
    """The sum of several, or of those in one list."""
    return sum(args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args)
