"""Exercise 14.3: a memory planner."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.inductor.runtime.raw_memory import ALIGNMENT
from minitorch_compile.inductor.schedule.memory_plan import Life, assign_offsets

MEMORY = Exercise(
    "14.3",
    "a memory planner",
    answer="assign_offsets",
    minutes=20,
    place="inductor.assign_offsets",
    hints=(
        "Two lives are there at the same time if neither ends before the other begins. Ending in the step in which the"
        " other begins is not before.",
        "Place them largest first. For each, walk over those placed already that live at the same time, by offset, and"
        " stop at the first gap that is wide enough.",
        "Round every end up to a multiple of 64, with -(-n // 64) * 64; then every offset is one, and so is the total.",
    ),
)
SECTION = "Where buffers live"
CHAIN = [Life("abcdef"[n], n, n + 1, 128) for n in range(6)]
PUZZLES = (
    [Life("a", 0, 1, 64), Life("b", 0, 3, 64), Life("c", 2, 3, 128)],
    [Life("a", 0, 2, 64), Life("b", 1, 4, 128), Life("c", 3, 5, 256), Life("d", 5, 6, 192)],
    [Life(f"t{n}", n, n + 1 + n % 3, 64 * (1 + n * 7 % 5)) for n in range(12)],
)


def text_of(lives: Sequence[Life]) -> str:
    shown = ", ".join(f"{life.name} of {life.nbytes} in steps {life.first} to {life.last}" for life in lives[:4])
    return shown + (", ..." if len(lives) > 4 else "")


def judge(answer: Callable[..., Any], lives: Sequence[Life], limit: int | None = None, why: str = "") -> None:
    """The plan is complete, aligned, without collisions, and has at most `limit` bytes."""
    got = outcome(answer, (list(lives),))
    shape = "Return a dict of a name's offset, and the total: ({'a': 0}, 64)."
    if not (isinstance(got, tuple) and len(got) == 2 and isinstance(got[0], dict) and isinstance(got[1], int)):
        raise WrongAnswer(f"{text_of(lives)}: expected offsets and a total, got {got!r}", shape)
    offsets, total = got
    if set(offsets) != {life.name for life in lives}:
        raise WrongAnswer(f"{text_of(lives)}: there are offsets for {sorted(offsets)}", shape)
    for first, second in combinations(lives, 2):
        check_pair(offsets, first, second)
    for life in lives:
        if offsets[life.name] % ALIGNMENT:
            raise WrongAnswer(
                f"{text_of(lives)}: {life.name} is at {offsets[life.name]}",
                f"Every offset must be a multiple of {ALIGNMENT}, so that vectors can be loaded from it at once.",
            )
    end = max((offsets[life.name] + life.nbytes for life in lives), default=0)
    if not end <= total < end + ALIGNMENT or total % ALIGNMENT:
        raise WrongAnswer(
            f"{text_of(lives)}: the last byte used is {end}, and the total {total}",
            f"The total is the end of the highest one, rounded up to a multiple of {ALIGNMENT}.",
        )
    if limit is not None and total > limit:
        raise WrongAnswer(f"{text_of(lives)}: it takes {total} bytes, and par is {limit}", why)


def check_pair(offsets: dict[Any, int], first: Life, second: Life) -> None:
    """Two lives must not overlap in both place and time."""
    a, b = offsets[first.name], offsets[second.name]
    apart = a + first.nbytes <= b or b + second.nbytes <= a
    if apart or first.last < second.first or second.last < first.first:
        return
    text = f"{first.name} lives in steps {first.first} to {first.last} at bytes {a} to {a + first.nbytes}"
    touching = first.last == second.first or second.last == first.first
    raise WrongAnswer(
        f"{text}, {second.name} in steps {second.first} to {second.last} at bytes {b} to {b + second.nbytes}",
        "In the step that reads the one and writes the other both are alive."
        if touching
        else "Both are alive at the same time, and they overlap.",
    )


@MEMORY.case("nothing collides", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [Life("a", 0, 1, 64)])
    judge(answer, [Life("a", 0, 2, 64), Life("b", 1, 3, 64)])
    judge(answer, [Life("a", 0, 1, 64), Life("b", 1, 2, 64)])
    judge(answer, [Life("a", 0, 1, 100), Life("b", 0, 1, 40), Life("c", 1, 2, 1)])


@MEMORY.case("the dead make room", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, CHAIN, 256, "When a has been read for the last time, its place is free. Only two are alive at once.")


@MEMORY.case("at most as much as first fit", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    why = "A large one finds no place between small ones. Whom should you place first?"
    for lives in PUZZLES:
        judge(answer, lives, assign_offsets(lives)[1], why)


@MEMORY.case("in the running package", points=1, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [Life("a", 0, 1, 64), Life("b", 1, 2, 64)])

    def program(x: torch.Tensor) -> torch.Tensor:
        for dim in (0, 1, 0, 1):
            x = x.cumsum(dim).sin()
        return x

    x = torch.arange(48.0).reshape(6, 8) / 48
    with splice("inductor.assign_offsets", answer):
        got = torch.compile(program)(x)
    if not torch.allclose(got, program(x), atol=1e-5):
        raise WrongAnswer(f"with your planner, four running sums of {x.tolist()} give {got.tolist()}", "What collides?")
