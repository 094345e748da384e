"""Step 06.9: piece after piece, with an instruction for real between them."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from ..comparing import expect

REGIONS = Step(
    "06.9",
    "on across a break",
    file="breaks",
    minutes=20,
    hints=(
        "While the frame has no outcome: get the piece that begins where it stands, run it, do one step for real.",
        "Get it from the cache. If there is none, compare how many are here with the limit, and put what was made"
        " in front."
        " A piece may"
        " have run to the frame's end: then there is nothing left to step over.",
        "run: segment is None means that the rest runs for real: frame.run(), and that is the end. segment(): None if"
        " the place is full, or if Segment(frame, self.backend) raises a Break.",
    ),
)
SECTION = "The rest of a function"


def report(x: Any, log: Any) -> Any:
    y = x * 2
    log.append("before")
    largest = y.sum().item()
    log.append(largest)
    if y.sum() > 0:
        return y + largest
    return y - largest


def straight(x: Any) -> Any:
    return (x + 1) * 2


def counted(x: Any, k: Any) -> Any:
    return x * k


def generator_alive(x: Any) -> Any:
    squares = {"a": 2, "b": 3}.values()
    x.sum().item()
    return x * sum(squares)


class Backend:
    def __init__(self) -> None:
        self.made = 0

    def __call__(self, graph: Any) -> Any:
        self.made += 1
        return graph.run


def region_of(mini: Any, function: Any) -> tuple[Any, Backend]:
    backend = Backend()
    return mini.breaks.Region(function, backend), backend


def numbers(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


@REGIONS.case("a function in one piece", points=1, section=SECTION)
def _(mini: Any) -> None:
    region, backend = region_of(mini, straight)
    for values in ([1.0, 2.0], [3.0, 4.0]):
        got = numbers(outcome(region, (mini.tensor.tensor(values),)))
        why = "The piece has run to the end of the frame: its outcome is there, and no instruction is left."
        expect(f"(x + 1) * 2 of {values}", [2 * (v + 1) for v in values], got, why)
    expect(
        "graphs made for two calls", 1, backend.made, "What was compiled once is used again: insert it into the cache."
    )


@REGIONS.case("on across breaks, each effect once", points=3, section="In the middle of things")
def _(mini: Any) -> None:
    region, backend = region_of(mini, report)
    for values in ([1.0, 2.0], [1.0, 2.0], [-1.0, -2.0]):
        log: list[Any] = []
        wanted: list[Any] = []
        expected = report(mini.tensor.tensor(values), wanted).tolist()
        got = numbers(outcome(region, (mini.tensor.tensor(values), log)))
        why = "After each piece one instruction is done for real, and the next piece begins behind it."
        expect(f"report of {values}", expected, got, why)
        expect(f"report of {values}: the log", wanted, log, why)
    first = backend.made
    outcome(region, (mini.tensor.tensor([1.0, 2.0]), []))
    expect("graphs made by a call like the first", 0, backend.made - first, "Each piece is found again, by its place.")


@REGIONS.case("the limit of recompiling", points=2, section="What is carried over")
def _(mini: Any) -> None:
    region, backend = region_of(mini, counted)
    x = mini.tensor.tensor([1.0])
    for k in range(1, 13):
        got = numbers(outcome(region, (x, k)))
        expect(
            f"x * {k} for x = 1, the {k}th version wanted", [float(k)], got, "Beyond the limit the rest runs for real."
        )
    if backend.made > region.cache.limit:
        raise WrongAnswer(
            f"twelve values of k: {backend.made} graphs were compiled, the limit is {region.cache.limit}",
            "Compare with the limit before compiling. Otherwise the storm goes on, and all that it makes is thrown"
            " away.",
        )


@REGIONS.case("what can't be compiled runs for real", points=1, section="Where tracing must stop")
def _(mini: Any) -> None:
    region, _ = region_of(mini, generator_alive)
    why = "Segment raises a Break before it has changed anything: the frame can go on as plain Python, from there."
    got = numbers(outcome(region, (mini.tensor.tensor([1.0]),)))
    expect("a view of a dictionary is alive at the break", [5.0], got, why)
