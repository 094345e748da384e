"""Let a learner's native function replace one of `vecmath`'s in the kernels that are compiled meanwhile.

A kernel is compiled from a text in which the function stands by its name. Within the `with` block that name is
another one, bound to the learner's function, and the kernel isn't kept: neither in memory nor on disk is there one that
the package would take for its own.

>>> import minitorch_compile as torch
>>> from numba import njit
>>> @njit
... def negated(x):
...     return -x
>>> with splice_vecmath("exp_float32", negated):
...     print(torch.compile(lambda x: x.exp() + 0.5)(torch.ones(3)))
tensor([-0.5000, -0.5000, -0.5000])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from types import ModuleType
from typing import Any

from minitorch_compile.inductor.kernels import vecmath

from .splice import splice

_numbers = count()  # of the modules that were made: no two kernels may have the same name


@contextmanager
def splice_vecmath(name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Within the block compiled kernels call `function`, compiled by Numba, where they would call `vecmath`'s `name`.

    LookupError if there is no such function; TypeError for one that Numba hasn't been told to compile.
    """
    if name not in vecmath.ULP_BOUNDS:
        raise LookupError(f"splice_vecmath: no function {name!r}. Choose one of: {', '.join(vecmath.ULP_BOUNDS)}")
    if not hasattr(function, "py_func"):
        raise TypeError(f"splice_vecmath: function must be decorated with numba.njit, got {type(function).__name__}")

    def load(source: str) -> ModuleType:
        number = next(_numbers)
        text = re.sub(rf"\b{name}\(", f"learners_{name}(", source)
        text = text.replace('@kernel("', f'@kernel("spliced_{number}_')
        module = ModuleType(f"spliced_{number}")
        vars(module)[f"learners_{name}"] = function
        exec(compile(text, f"<spliced kernels {number}>", "exec"), vars(module))
        return module

    with splice("inductor.load", load):
        yield
