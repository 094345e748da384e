"""A measurement of the judge's, taken where the learner's code is: what is measured comes back as plain data.

Some facts are only to be had in the process in which the answer runs: how many graphs are compiled of it, how large the
tensors are that it makes. A function marked with `there` is sent as code, if one of its arguments lies in the other
process, and is called there; in the judge remain what is expected, the comparison, and what is said.

It runs beside the learner's code, which can't read the judge's memory from there, but which could spoil the counters of
its own process: `docs/grading.md` says so.

>>> @there
... def twice(answer, x):
...     return answer(answer(x))
>>> twice(abs, -1)  # all of it is here
1
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from .far import Far
from .programs import is_program


def there(measurement: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for a function of the checks that uses nothing of the machinery which judges."""
    if not isinstance(measurement, FunctionType):
        raise TypeError(f"there: expected a function, got {measurement!r}")

    @wraps(measurement)
    def taken(*args: Any) -> Any:
        link = next((each._link for each in args if isinstance(each, Far)), None)
        if link is None:
            return measurement(*args)
        if not is_program(measurement):
            raise TypeError(f"{measurement.__name__} uses the machinery of the checks, which doesn't cross")
        return link.ask("call", measurement, args, {})

    return taken
