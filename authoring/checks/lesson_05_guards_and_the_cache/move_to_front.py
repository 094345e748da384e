"""Exercise 05.3: the version used last moves to the front, and the package's cache doing so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice

MOVE_TO_FRONT = Exercise(
    "05.3",
    "the move to the front",
    answer="to_front",
    minutes=8,
    place="dynamo.to_front",
    hints=(
        "Build a new list; leave the old one as it is.",
        "The chosen one comes first. After it come all the others, in the order in which they stood.",
        "[chosen, *(version for version in versions if version != chosen)]",
    ),
)
SECTION = "Many versions, one door"
Version = tuple[str, Callable[..., Any]]
CALLS = (1, 2, 3, 1, 1, 3)
VERSIONS: list[Version] = [("a", len), ("b", abs), ("c", sum), ("d", max)]


def names(versions: Any) -> Any:
    try:
        return "".join(name for name, _ in versions)
    except (TypeError, ValueError):
        return repr(versions)


def judge(answer: Callable[..., Any], versions: list[Version], chosen: Version) -> None:
    before = list(versions)
    got = outcome(answer, (versions, chosen))
    fact = f"versions {names(before)!r}, chosen {chosen[0]!r}: "
    expected = chosen[0] + names(before).replace(chosen[0], "")
    if versions != before:
        raise WrongAnswer(
            f"{fact}the list that came in is now {names(versions)!r}",
            "Another thread may be walking through that very list. Leave it as it is, and return a new one.",
        )
    if not isinstance(got, list):
        why = "The chosen version may be a new one, which isn't in the list yet." if "Error" in repr(got) else ""
        raise WrongAnswer(f"{fact}expected a list, got {got!r}", why)
    if names(got) != expected:
        raise WrongAnswer(
            f"{fact}expected {expected!r}, got {names(got)!r}", idea(names(before), chosen[0], names(got))
        )


def idea(before: str, chosen: str, got: str) -> str:
    """What lies behind a wrong order."""
    if got.count(chosen) > 1:
        return "The chosen version is in your list twice, so the list grows with every call."
    if got[:1] != chosen:
        return "The version that answered is asked first at the next call: it belongs to the front."
    if sorted(got) == sorted(chosen + before.replace(chosen, "")):
        return "The others keep their order: the one used before last comes second. Yours changed places."
    return "Every version stays in the list. One that is lost is compiled again."


@MOVE_TO_FRONT.case("the chosen one first, the others in their order", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    for count in (1, 2, 3, 4):
        for chosen in VERSIONS[:count]:
            judge(answer, VERSIONS[:count], chosen)


@MOVE_TO_FRONT.case("a new version", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [], VERSIONS[0])
    judge(answer, VERSIONS[:3], VERSIONS[3])


@MOVE_TO_FRONT.case("spliced in, the package's cache is asked in your order", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    def f(x: Any, k: Any) -> Any:
        return x * k

    def run() -> list[int]:
        """How many versions the cache holds after each call."""
        fast = torch.compile(f, backend="eager", dynamic=False)
        held = []
        for k in CALLS:
            result = fast(torch.ones(1), k).item()
            if result != k:
                raise WrongAnswer(f"with k = {k} the compiled x * k gave {result:g} for x = 1")
            held.append(len(fast._dynamo_dispatcher.bound))
        return held

    with splice("dynamo.to_front", answer):
        got = outcome(run, ())
    if got != [1, 2, 3, 3, 3, 3]:
        raise WrongAnswer(
            f"after the calls with k = {CALLS} the cache should hold [1, 2, 3, 3, 3, 3] versions; with yours: {got!r}",
            "Its dispatcher called your function at each version that it made or found.",
        )
