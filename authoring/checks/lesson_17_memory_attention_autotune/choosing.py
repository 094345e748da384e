"""Exercise 17.3: times of several candidates, on a machine that is sometimes disturbed, or as they are remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.splicing.splice import splice

CHOOSING = Exercise(
    "17.3",
    "times to choose by",
    answer="timed",
    minutes=15,
    place="inductor.timed",
    hints=(
        "First look whether known has the same names as names: set(known) == set(names), unless it is None.",
        "Keep a list of times for each candidate. The loop over rounds goes outside, that over candidates inside.",
        "times[name].append(run(name)) eight times; then {name: statistics.median(times[name][1:]) for name in names}.",
    ),
    seconds=60,
    megabytes=2048,
)
SECTION = "Let the machine decide"
MOST_RUNS = 20  # of each candidate


class Machine:
    """Runs candidates that take these times. The first run of each is cold; `disturbance(run)` is a factor."""

    def __init__(self, times: Mapping[str, float], disturbance: Callable[[int, str], float] = lambda n, name: 1.0):
        self.times = dict(times)
        self.disturbance = disturbance
        self.runs: Counter[str] = Counter()

    def run(self, name: str) -> float:
        if name not in self.times:
            raise WrongAnswer(f"run({name!r}): there is no such candidate", "Run the candidates, by their names.")
        cold = 0 if self.runs[name] else 1000.0 / self.times[name]  # the best one takes longest to get going
        factor = self.disturbance(self.runs.total(), name)
        self.runs[name] += 1
        return self.times[name] * factor + cold


def ask(answer: Callable[..., Any], machine: Machine, known: dict[str, float] | None, what: str) -> dict[str, float]:
    """The learner's times, one for each candidate."""
    names = list(machine.times)
    try:
        got = answer(names, machine.run, known)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except WrongAnswer:
        raise
    except Exception as error:
        raise WrongAnswer(f"{what}: timed raised {type(error).__name__}: {error}") from error
    if not isinstance(got, dict) or not all(isinstance(seconds, float) for seconds in got.values()):
        raise WrongAnswer(f"{what}: got {got!r}", f"Return a dict of seconds, such as {{{names[0]!r}: 2.0}}.")
    if set(got) != set(names):
        why = "A newer version of the program has other candidates. Times of others are no answer to this question."
        raise WrongAnswer(f"{what}: the candidates are {', '.join(names)}, and you give times of {', '.join(got)}", why)
    most = max(machine.runs.values(), default=0)
    if most > MOST_RUNS:
        raise WrongAnswer(
            f"{what}: a candidate was run {most} times", "A few rounds are enough. Tuning costs time, too."
        )
    return got


def judge(answer: Callable[..., Any], machine: Machine, what: str, why: str) -> None:
    best = min(machine.times, key=lambda name: machine.times[name])
    got = ask(answer, machine, None, what)
    if min(got, key=lambda name: got[name]) != best:
        raise WrongAnswer(f"{what}: undisturbed, they take {machine.times}, and you measured {got}", why)


def judge_quiet(answer: Callable[..., Any]) -> None:
    """On a machine with nothing else to do; only the first run of each candidate is slow."""
    why = "The first run is a cold one. One run says nothing: count those after it."
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
        "while two runs of b are disturbed",
        "A few runs that were disturbed decide a mean. A median doesn't see them, nor does the shortest.",
    )
    slower = lambda n, name: 1.0 if n < 8 else 4.0
    judge(
        answer,
        Machine({"a": 3.0, "b": 2.0}, slower),
        "on a machine that becomes slower after 8 runs",
        "Whoever came last was measured on a slower machine. Let them take turns.",
    )


@CHOOSING.case("remembered", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)
    machine, known = Machine({"a": 3.0, "b": 2.0}), {"b": 2.5, "a": 3.5}
    got = ask(answer, machine, known, f"known is {known}")
    if machine.runs:
        raise WrongAnswer(f"known is {known}, and you ran {machine.runs.total()} times", "Look before you measure.")
    if got != known:
        raise WrongAnswer(f"known is {known}: you give {got}", "What is known is the answer.")


@CHOOSING.case("other candidates", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)
    for known in ({"a": 1.0}, {"a": 1.0, "b": 2.0, "c": 0.5}, {"x": 1.0, "y": 2.0}):
        machine = Machine({"a": 3.0, "b": 2.0})
        got = ask(answer, machine, dict(known), f"known is {known}")
        if min(got, key=lambda name: got[name]) != "b":
            why = "What was measured with other candidates is from another time. Measure all of them, in turns."
            raise WrongAnswer(f"known is {known}: you give {got}", why)


@CHOOSING.case("in the running package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge_quiet(answer)
    x, w = torch.arange(128.0 * 128).reshape(128, 128) / 128**2, torch.eye(128)
    with splice("inductor.timed", answer):
        got = torch.compile(lambda x, w: (x @ w).relu(), mode="max-autotune")(x, w)
    if not torch.allclose(got, x, atol=1e-5):
        raise WrongAnswer("tuned with your times, (x @ w).relu() is wrong", "What does timed return?")
