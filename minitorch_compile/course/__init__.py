"""The course's machinery: `check` an exercise, read a `hint`, `splice` a function into the package, see `progress`.

Everything runs on this machine, without a network or an account.
"""

from .check import check, passed
from .hints import hint
from .own_parts import own_parts
from .progress import progress
from .splice import original, splice, splice_all

__all__ = ["check", "hint", "original", "own_parts", "passed", "progress", "splice", "splice_all"]
