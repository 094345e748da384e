"""The course's machinery: `check` an exercise, read a `hint`, `splice` a function into the package, see `progress`.

`%%mini guards 05.3` saves a cell as a step of the learner's own package, `borrow` fills it up, `mini_map` shows it,
`own_mini` imports it whole.

Everything runs on this machine, without a network or an account.
"""

from .checking.check import check, expect_checks, passed
from .grading.hints import hint
from .grading.progress import progress
from .mini.borrow import borrow
from .mini.magic import register
from .mini.mini_map import mini_map
from .mini.own_mini import own_mini
from .own_parts import own_parts
from .predict import predict
from .splicing.splice import original, splice, splice_all

__all__ = [
    "borrow",
    "check",
    "hint",
    "mini_map",
    "original",
    "own_mini",
    "own_parts",
    "passed",
    "predict",
    "progress",
    "splice",
    "splice_all",
]

register()
expect_checks()
