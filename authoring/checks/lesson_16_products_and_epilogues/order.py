"""Exercise 16.2: an order for the multiplications of a product, such that few lines are fetched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice, product
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there

from .cache import lines_fetched

ORDER = Exercise(
    "16.2",
    "an order for the cache",
    answer="order",
    minutes=15,
    hints=(
        "What is fetched again and again, if i is the outermost loop? Look at b.",
        "Six loops: three over blocks, three inside a block. How many lines has a block of 8 by 8, and how many fit?",
        "for top in range(0, n, 8), left in range(0, n, 8), deep in range(0, n, 8); inside, i from top to"
        " min(top + 8, n), and so on.",
    ),
    seconds=60,
)
SECTION = "A ladder"
N, PAR = 40, 3000
Triple = tuple[int, int, int]


def blocked(n: int, side: int) -> Iterator[Triple]:
    starts = range(0, n, side)
    for top, left, deep in product(starts, starts, starts):
        inside = (range(start, min(start + side, n)) for start in (top, left, deep))
        yield from product(*inside)


IDEAS = (
    (
        lambda n: product(range(n), range(n), range(n)),
        "The inner loop walks down a column of b: a line for each number, and 40 lines are more than 32.",
    ),
    (
        lambda n: ((i, j, k) for i, k, j in product(range(n), repeat=3)),
        "Rows are read along now. But for each row of c all of b passes by, 200 lines of it. Use a part of b for"
        " several rows, before it is gone.",
    ),
    (lambda n: blocked(n, 4), "A line has 8 numbers. Blocks that are narrower use only a part of each."),
    (lambda n: blocked(n, 20), "Blocks of all three matrices must fit into the 32 lines together."),
)


@cache
def known() -> dict[int, str]:
    """What to say, by the number of lines that an idea fetches."""
    return {lines_fetched(idea(N), N): why for idea, why in IDEAS}


@there
def first(order: Iterator[Triple], most: int) -> tuple[Triple, ...]:
    """At once: asked for one by one, a hundred thousand are as many messages."""
    return tuple(islice(order, most))


def triples(answer: Callable[..., Any], n: int) -> tuple[Triple, ...]:
    """The learner's order, each triple once."""
    try:
        found = first(answer(n), (n + 8) ** 3)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        raise WrongAnswer(f"order({n}) raised {type(error).__name__}: {error}", "Give tuples (i, j, k).") from error
    beyond = next((triple for triple in found if not all(0 <= part < n for part in triple)), None)
    if beyond is not None:
        raise WrongAnswer(f"order({n}) gives {beyond}", "There is no such number: a block ends where the matrix ends.")
    counts = Counter(found)
    for triple in product(range(n), repeat=3):
        if counts[triple] == 0:
            tail = n % 8 and any(part >= n - n % 8 for part in triple)
            why = "The last blocks are smaller than the others." if tail else "Each (i, j, k) must come once."
            raise WrongAnswer(f"order({n}): {triple} is missing", why)
        if counts[triple] > 1:
            raise WrongAnswer(f"order({n}): {triple} comes {counts[triple]} times", "Once is enough.")
    return found


@ORDER.case("each multiplication once", points=0, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    triples(answer, 2)
    triples(answer, 16)


@ORDER.case("few lines", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    fetched = lines_fetched(triples(answer, N), N)
    if fetched > PAR:
        why = known().get(fetched, "Of which matrix is the same line fetched most often?")
        raise WrongAnswer(f"order({N}): {fetched:,} lines are fetched, and par is {PAR:,}", why)


@ORDER.case("any size", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for n in (1, 7, 9, 20):
        triples(answer, n)
    fetched = lines_fetched(triples(answer, 36), 36)
    if fetched > PAR:
        why = known().get(lines_fetched(triples(answer, N), N), "Of which matrix is a line fetched most often?")
        raise WrongAnswer(f"order(36): {fetched:,} lines are fetched, and par is {PAR:,}", why)
