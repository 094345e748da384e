"""Exercise 19.1: sectors, passes and divergence of five small kernels, before they run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Exercise
from minitorch_compile.cuda_simulator import LineCounts, cuda, simulate

from ..predicting import judge_predictions

COUNTING = Exercise(
    "19.1",
    "counts to predict",
    answer="predicted",
    minutes=10,
    hints=(
        "Write down the addresses of the first threads: float32s, eight of them in a sector, 32 in all banks.",
        "A sector is fetched once for a warp, however many of its threads ask; and so is a word of a bank.",
        "For banks: thread t asks bank (word % 32). How many different words does the busiest bank have to give?",
    ),
)


def shifted(x, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    out[i] = x[i + 1]


def every_fourth(x, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    out[i] = x[4 * i]


def the_same(x, out):  # type: ignore[no-untyped-def]
    out[cuda.grid(1)] = x[0]


def steps_of(step: int) -> Callable[..., None]:
    def kernel(x, out):  # type: ignore[no-untyped-def]
        tile = cuda.shared.array(128, np.float32)
        thread = cuda.threadIdx.x
        for i in range(thread, 128, 32):
            tile[i] = x[i]
        cuda.syncthreads()
        out[thread] = tile[step * thread]  # type: ignore[operator]

    return kernel


def front(x, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < 40:
        out[i] = x[i]


def run(kernel: Callable[..., None], threads: int = 32) -> LineCounts:
    arrays = np.zeros(128, np.float32), np.zeros(128, np.float32)
    counts = simulate(kernel, counts=True)[1, threads](*arrays).counts
    assert counts is not None, "it was asked for"
    return counts.total


WRITING = 4  # passes in which the tile is written
HAPPENS: dict[str, Callable[[], int]] = {
    "sectors that shifted loads": lambda: run(shifted).load_sectors,
    "sectors that every_fourth loads": lambda: run(every_fourth).load_sectors,
    "sectors that the_same loads": lambda: run(the_same).load_sectors,
    "passes in which pairs reads": lambda: run(steps_of(2)).shared_passes - WRITING,
    "passes in which triples reads": lambda: run(steps_of(3)).shared_passes - WRITING,
    "warps that diverge in front": lambda: run(front, 64).divergent_branches,
}
THOUGHTS = {
    "sectors that shifted loads": "The warp asks for x[1] to x[32], and sectors begin at x[0], x[8], x[16] and so on.",
    "sectors that every_fourth loads": "How many of the numbers asked for lie in one sector of eight?",
    "sectors that the_same loads": "All threads ask for one number. How often is its sector fetched for a warp?",
    "passes in which pairs reads": "Threads 0 and 16 ask for words 0 and 32. In which banks are these?",
    "passes in which triples reads": "Go through 3 * t % 32: when does a bank come for the second time?",
    "warps that diverge in front": "Two warps, of threads 0 to 31 and 32 to 63. In which do some go and some not?",
}


def judge(answer: Any, questions: list[str]) -> None:
    judge_predictions(answer, questions, lambda q: HAPPENS[q](), lambda question, _: THOUGHTS[question])


@COUNTING.case("sectors", points=3, section="Which thread reads what, and when")
def _(answer: Any) -> None:
    judge(answer, [question for question in HAPPENS if "sectors" in question])


@COUNTING.case("passes", points=2, section="Shared memory, and its banks")
def _(answer: Any) -> None:
    judge(answer, [question for question in HAPPENS if "passes" in question])


@COUNTING.case("divergence", points=1, section="Warps")
def _(answer: Any) -> None:
    judge(answer, [question for question in HAPPENS if "diverge" in question])
