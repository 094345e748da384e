"""Exercise 05.2: the order of the checks, and the package writing its generated functions in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo.eval_frame import region_of
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import AttrSource, ConstantSource, ItemSource, LocalSource, Source

CHECKING_ORDER = Exercise(
    "05.2",
    "the order of the checks",
    answer="in_checking_order",
    minutes=18,
    place="dynamo.in_checking_order",
    hints=(
        "First put the pairs aside. Then collect the others in a dictionary: for each root, the list of its guards.",
        "A group moves as a whole. Its rank is 0 if the root is a LocalSource and the first guard of the group is a"
        " TENSOR_MATCH, 1 for any other LocalSource, else 2.",
        "groups.setdefault(guard.source.root, []).append(guard); then sorted(groups.values(), key=rank), flattened,"
        " plus the pairs. sorted() keeps the order of groups that have the same rank.",
    ),
)
SECTION = "The package's own"

G, CELL = ConstantSource("G"), ConstantSource("cell_scale")
X, Y, MODEL, FLAG = LocalSource("x"), LocalSource("y"), LocalSource("model"), LocalSource("flag")
WEIGHT = AttrSource(MODEL, "weight")
SCALE = ItemSource(G, "scale")


def tensor(source: Source) -> list[Guard]:
    return [
        Guard(source, "TENSOR_MATCH", "type({0}) is Tensor"),
        Guard(source, "TENSOR_MATCH", "{0}.sizes == (2,)"),
    ]


def constant(source: Source) -> list[Guard]:
    return [Guard(source, "TYPE_MATCH", "type({0}) is int"), Guard(source, "CONSTANT_MATCH", "{0} == 1")]


OF_MODEL = [Guard(MODEL, "TYPE_MATCH", "type({0}) is Model"), *tensor(WEIGHT)]
PAIR = Guard(Y, "DUPLICATE_INPUT", "{0} is {1}", other=X)


def rank(group: list[Guard]) -> int:
    """What the exercise asks for."""
    if not isinstance(group[0].source.root, LocalSource):
        return 2
    return 0 if group[0].kind == "TENSOR_MATCH" else 1


NAMES = ("a tensor argument", "another argument", "a global or a closure")


def judge(answer: Callable[..., Any], guards: list[Guard]) -> None:
    got = outcome(answer, (list(guards),))
    if not isinstance(got, list) or not all(isinstance(guard, Guard) for guard in got):
        raise WrongAnswer(f"for {len(guards)} guards: expected a list of them, got {got!r}")
    fact = f"you gave {[guard.code for guard in got]}"
    lost = [guard for guard in guards if guard not in got]
    if lost or len(got) != len(guards):
        what = f"{lost[0].code} is gone" if lost else "one is there twice"
        raise WrongAnswer(fact, f"All guards must be checked, each once: {what}. A guard lost is a wrong answer later.")
    judge_pairs(fact, got)
    groups: dict[Source, list[Guard]] = {}
    for guard in [guard for guard in guards if guard.other is None]:
        groups.setdefault(guard.source.root, []).append(guard)
    for root, group in groups.items():
        kept = [guard for guard in got if guard.source.root == root and guard.other is None]
        if kept != group:
            early = next(new for new, old in zip(kept, group, strict=True) if new != old)
            raise WrongAnswer(
                fact,
                f"Guards with the same root must keep their order: {early.code} now reads a path before the guard on"
                " what it goes through.",
            )
    judge_ranks(fact, got, groups)


def judge_pairs(fact: str, got: list[Guard]) -> None:
    first = next((i for i, guard in enumerate(got) if guard.other is not None), len(got))
    if any(guard.other is None for guard in got[first:]):
        raise WrongAnswer(
            fact, f"{got[first].code} compares two paths, so both must have been checked before: pairs come last."
        )


def judge_ranks(fact: str, got: list[Guard], groups: dict[Source, list[Guard]]) -> None:
    singles = [guard for guard in got if guard.other is None]
    ranks = [rank(groups[guard.source.root]) for guard in singles]
    for (before, after), guard, later in zip(zip(ranks, ranks[1:]), singles, singles[1:], strict=False):
        if before > after:
            raise WrongAnswer(
                fact,
                f"{guard.code} is about {NAMES[before]} and is asked before {later.code}, which is about"
                f" {NAMES[after]} and fails more often.",
            )


@CHECKING_ORDER.case("arguments first, tensors among them first", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [*constant(SCALE), *tensor(X)])
    judge(answer, [*constant(FLAG), *tensor(X)])
    judge(answer, [*constant(SCALE), *constant(FLAG), *tensor(CELL), *tensor(X), *tensor(Y)])


@CHECKING_ORDER.case("a path is read after the guards on its beginning", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, OF_MODEL)
    judge(answer, [*constant(SCALE), *OF_MODEL, *tensor(X)])
    judge(answer, [OF_MODEL[0], *tensor(X), *OF_MODEL[1:], *constant(AttrSource(MODEL, "depth"))])


@CHECKING_ORDER.case("pairs of paths last", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [*constant(SCALE), *tensor(X), *tensor(Y), PAIR])
    judge(answer, [*tensor(X), PAIR, *constant(FLAG), *OF_MODEL, *constant(SCALE)])


@CHECKING_ORDER.case("spliced in, the package writes its checks in your order", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    factor = [3]

    def f(x: Any, k: Any, y: Any) -> Any:
        return (x + y) * k * factor[0]

    def run() -> tuple[list[Any], str]:
        fast = torch.compile(f, backend="eager", dynamic=False)
        x, y = torch.ones(2), torch.ones(2)
        results = [fast(x, 2, y).tolist(), fast(x, 2, x).tolist(), fast(x, 3, y).tolist()]
        return results, region_of(fast).caches[0].entries[0].source

    with splice("dynamo.in_checking_order", answer):
        got = outcome(run, ())
    expected = [[12.0, 12.0], [12.0, 12.0], [18.0, 18.0]]
    if not isinstance(got, tuple) or got[0] != expected:
        shown = got[0] if isinstance(got, tuple) else got
        raise WrongAnswer(f"a compiled function, called three times: expected {expected}, got {shown!r}")
    checks = got[1]
    if not checks.find("x.sizes") < checks.find("k ==") < checks.find("cell_factor.cell_contents"):
        raise WrongAnswer(
            "the generated function of f(x, k, y) must check x, then k, then the closure of f",
            "It called your function with the guards of a real trace. Get the cases above to pass first.",
        )
