"""What the frame hook costs: for frames that it lets pass, and for the way to compiled code.

    python -m benchmarks.frame_hook

The first is the difference that the hook makes to a call of an empty function, from a loop: CPython runs such a call
without leaving its evaluator, which it can't do under any hook, so most of the difference is CPython's own.
"""

from __future__ import annotations

from collections.abc import Callable

import minitorch_compile as torch
from benchmarks.timing import readable, seconds_per_call
from minitorch_compile.dynamo import frame_hook, optimize
from minitorch_compile.dynamo.testing import eager
from minitorch_compile.frame_marks import passed

CALLS = 10_000
LIMIT = 50e-9


@passed
def empty() -> None:
    """The smallest frame."""


@passed
def many_calls() -> None:
    for _ in range(CALLS):
        empty()


def unwatched(x: object) -> None:
    """A function of the user's that has nothing to do with tensors; it is looked at some times, then no more."""


@passed
def many_unwatched() -> None:
    for _ in range(CALLS):
        unwatched(None)


def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def added_by_the_hook(step: Callable[[], None], rounds: int = 9) -> float:
    """Seconds a frame: the best with the hook less the best without, measured in turns, since machines are noisy."""
    plain, hooked = [], []
    for _ in range(rounds):
        plain.append(seconds_per_call(step, budget=0.03, rounds=3))
        with frame_hook(eager):
            hooked.append(seconds_per_call(step, budget=0.03, rounds=3))
    return (min(hooked) - min(plain)) / CALLS


def main() -> None:
    """Prints one line a figure, and whether the limit is kept."""
    for what, step in (("that passes", many_calls), ("without tensors", many_unwatched)):
        cost = added_by_the_hook(step)
        verdict = "within" if cost <= LIMIT else "ABOVE"
        print(f"the hook, a frame {what:<16}{1e9 * cost:>7.0f} ns   {verdict} the limit of {1e9 * LIMIT:.0f} ns")
    x = torch.ones(4)
    compiled = optimize(double, eager)
    compiled(x)
    decorated = seconds_per_call(lambda: compiled(x), budget=0.3)
    with frame_hook(eager):
        captured = seconds_per_call(lambda: double(x), budget=0.3)
    print(
        f"a captured call of one operation: {readable(captured)}; of the same function decorated: {readable(decorated)}"
    )


if __name__ == "__main__":
    main()
