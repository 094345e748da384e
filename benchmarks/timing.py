"""How long one call takes: the best of several rounds, since whatever else the machine does only ever adds time.

>>> 0 < seconds_per_call(lambda: None, budget=0.01) < 0.001
True
"""

import time
from collections.abc import Callable


def seconds_per_call(step: Callable[[], object], budget: float = 1.0, rounds: int = 7) -> float:
    """The fastest round's average. A round has as many calls as fill its share of the budget, at least one."""
    share = budget / rounds
    calls = max(1, int(share / max(seconds_of(step, 1), 1e-7)))
    return min(seconds_of(step, calls) for _ in range(rounds)) / calls


def seconds_of(step: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        step()
    return time.perf_counter() - start


def readable(seconds: float) -> str:
    """Three digits and a unit.

    >>> readable(0.0000042), readable(0.0421), readable(2.5)
    ('4.20 us', '42.1 ms', '2.50 s')
    """
    for unit, factor in (("us", 1e6), ("ms", 1e3), ("s", 1.0)):
        value = seconds * factor
        if value < 1000 or unit == "s":
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    raise AssertionError("the last unit always fits")
