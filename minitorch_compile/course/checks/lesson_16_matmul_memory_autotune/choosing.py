"""Exercise 16.7: the fastest of several candidates, on a machine that is sometimes disturbed, remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ...exercise import Exercise, NotWritten, WrongAnswer

CHOOSING = Exercise(
    "16.7",
    "choose by timing",
    answer="choose",
    minutes=15,
    hints=(
        "First look whether the key is remembered, and whether what it says is still a candidate.",
        "Keep a list of times for each candidate. The loop over rounds goes outside, that over candidates inside.",
        "times[name].append(seconds(name)) seven times, and then min(candidates, key=lambda name:"
        " statistics.median(times[name])).",
    ),
)
SECTION = "Let the machine decide"
MOST_CALLS = 20  # of each candidate


class Machine:
    """Runs candidates that take these times. The first call of each is cold; `disturbance(call)` is a factor."""

    def __init__(self, times: Mapping[str, float], disturbance: Callable[[int, str], float] = lambda n, name: 1.0):
        self.times = dict(times)
        self.disturbance = disturbance
        self.calls: Counter[str] = Counter()

    def seconds(self, name: str) -> float:
        if name not in self.times:
            raise WrongAnswer(f"seconds({name!r}): there is no such candidate", "Pass one of the candidates.")
        cold = 0 if self.calls[name] else 1000.0 / self.times[name]  # the best one takes longest to get going
        factor = self.disturbance(self.calls.total(), name)
        self.calls[name] += 1
        return self.times[name] * factor + cold


def ask(answer: Callable[..., Any], machine: Machine, key: str, remembered: dict[str, str], what: str) -> Any:
    candidates = list(machine.times)
    try:
        got = answer(key, candidates, machine.seconds, remembered)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except WrongAnswer:
        raise
    except Exception as error:
        raise WrongAnswer(f"{what}: choose raised {type(error).__name__}: {error}") from error
    if got not in candidates:
        raise WrongAnswer(f"{what}: got {got!r}", f"Return one of the candidates, {' or '.join(candidates)}.")
    most = max(machine.calls.values(), default=0)
    if most > MOST_CALLS:
        raise WrongAnswer(
            f"{what}: a candidate was run {most} times", "Seven rounds are enough. Tuning costs time, too."
        )
    return got


def judge(answer: Callable[..., Any], machine: Machine, what: str, why: str) -> None:
    best = min(machine.times, key=lambda name: machine.times[name])
    got = ask(answer, machine, "key", {}, what)
    if got != best:
        raise WrongAnswer(f"{what}: the times are {machine.times}, and you chose {got!r}", why)


def judge_quiet(answer: Callable[..., Any]) -> None:
    """On a machine with nothing else to do; only the first call of each candidate is slow."""
    why = "The first call is a cold one. One call says nothing: count those after it."
    judge(answer, Machine({"a": 3.0, "b": 2.0}), "on a quiet machine", why)
    judge(answer, Machine({"a": 2.0, "b": 3.0, "c": 4.0}), "on a quiet machine", why)


@CHOOSING.case("a quiet machine", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)


@CHOOSING.case("a disturbed one", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    rare = lambda n, name: 50.0 if name == "b" and n in (4, 5, 10, 11) else 1.0
    judge(
        answer,
        Machine({"a": 3.0, "b": 2.0}, rare),
        "while two calls of b are disturbed",
        "A few calls that were disturbed decide a mean. A median doesn't see them.",
    )
    slower = lambda n, name: 1.0 if n < 8 else 4.0
    judge(
        answer,
        Machine({"a": 3.0, "b": 2.0}, slower),
        "on a machine that becomes slower after 8 calls",
        "Whoever came last was measured on a slower machine. Let them take turns.",
    )


@CHOOSING.case("remembered", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)
    remembered: dict[str, str] = {}
    first = ask(answer, Machine({"a": 3.0, "b": 2.0}), "64 rows", remembered, "the first time")
    if remembered.get("64 rows") != first:
        raise WrongAnswer(f"afterwards remembered is {remembered}", "Write the choice down, under its key.")
    again = Machine({"a": 3.0, "b": 2.0})
    ask(answer, again, "64 rows", remembered, "the second time")
    if again.calls:
        raise WrongAnswer(f"the second time {again.calls.total()} calls were timed", "Look it up before you measure.")
    other = ask(answer, Machine({"a": 1.0, "b": 2.0}), "8 rows", remembered, "with another key")
    if other != "a":
        raise WrongAnswer(
            "for 64 rows b is best, for 8 rows a, and you chose b for both",
            "Another key is another question: its answer has to be measured.",
        )


@CHOOSING.case("a candidate that is gone", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)
    why = "A newer version of the program may have other candidates. What isn't one of them can't be chosen."
    machine = Machine({"a": 3.0, "b": 2.0})
    try:
        got = answer("key", ["a", "b"], machine.seconds, {"key": "c"})
    except Exception as error:
        raise WrongAnswer(
            f"remembered says c, the candidates are a and b: {type(error).__name__}: {error}", why
        ) from error
    if got != "b":
        raise WrongAnswer(f"remembered says c, the candidates are a and b: you chose {got!r}", why)
