"""Exercise 06.3: programs that break in a stated way."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there
from minitorch_compile.dynamo.explaining.explain import explain

BROKEN_TO_ORDER = Exercise(
    "06.3",
    "breaks to order",
    answer="programs",
    minutes=15,
    hints=(
        "Try each with torch.compiler.explain(f)(x): it prints the number of graphs and the reason of each break.",
        "A graph needs a tensor operation. So between two breaks, and at both ends, there must be one.",
        "For 'callee' write a function that computes something, prints and computes again, and call it between two"
        " operations of your program.",
    ),
)


@dataclass(frozen=True)
class Order:
    """How many graphs, the code of each break, and whether the break lies in a callee."""

    graphs: int
    codes: tuple[str, ...]
    in_callee: bool = False


ORDERS = {
    "number": Order(2, ("MTC-B07",)),
    "branch": Order(2, ("MTC-B05",)),
    "world": Order(3, ("MTC-B03", "MTC-B03")),
    "callee": Order(4, ("MTC-B03",), in_callee=True),
}
MEANING = {
    "MTC-B07": "a line that needs a number out of a tensor",
    "MTC-B05": "a branch that depends on a tensor's data",
    "MTC-B03": "a print, or something else that acts on the world",
}


@dataclass(frozen=True)
class Report:
    """`lines` has the number of the user's lines on which each break lies, one in another."""

    graphs: int
    codes: tuple[str, ...]
    lines: tuple[int, ...]


def explained(answer: Any, name: str) -> Report:
    if not isinstance(answer, dict):
        raise WrongAnswer(f"programs: expected a dict of four functions, got {type(answer).__name__}")
    program = answer.get(name, ...)
    if program is ...:
        raise NotWritten(f"{name} is still `...`")
    try:
        gives_none, *parts = explanation(program)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        raise WrongAnswer(f"{name}: your program raised {type(error).__name__}: {error}") from error
    if gives_none:
        raise WrongAnswer(f"{name}: your program returns None", "It should return what it computes.")
    return Report(*parts)


@there
def explanation(program: Callable[..., Any]) -> tuple[bool, int, tuple[str, ...], tuple[int, ...]]:
    """Whether it gives None, and what a Report has."""
    x = torch.tensor([1.0, 2.0, 3.0])
    with contextlib.redirect_stdout(io.StringIO()):
        expected = program(x.clone())
        report = explain(program)(x.clone())
    codes = tuple(broken.code for broken in report.break_reasons)
    return expected is None, report.graph_count, codes, tuple(len(each.users_lines) for each in report.break_reasons)


def judge(answer: Any, name: str) -> None:
    report, order = explained(answer, name), ORDERS[name]
    codes = report.codes
    where = f"breaks with {', '.join(codes)}" if codes else "doesn't break"
    fact = f"{name}: your program has {report.graphs} graphs, and {where}"
    for code in codes:
        if code not in order.codes:
            wanted = MEANING[order.codes[0]]
            raise WrongAnswer(fact, f"Wanted is {wanted}; yours breaks for another reason: explain(f)(x) tells it.")
    if not codes:
        raise WrongAnswer(fact, f"Nothing breaks. Wanted is {MEANING[order.codes[0]]}.")
    if len(codes) != len(order.codes):
        raise WrongAnswer(fact, f"The number of breaks should be {len(order.codes)}.")
    if order.in_callee and report.lines[0] < 2:
        raise WrongAnswer(fact, "The break lies in your program itself, and should lie in a function that it calls.")
    if report.graphs != order.graphs:
        raise WrongAnswer(
            fact,
            f"The breaks are right, the number of graphs should be {order.graphs}. A part without any tensor operation"
            " is no graph.",
        )


def add_case(name: str, title: str, section: str) -> Callable[[Any], None]:
    @BROKEN_TO_ORDER.case(title, points=1, section=section)
    def case(answer: Any) -> None:
        judge(answer, name)

    return case


add_case("number", "number: two graphs", "Where tracing must stop")
add_case("branch", "branch: two graphs", "A tracer that breaks")
add_case("world", "world: three graphs", "Where tracing must stop")
add_case("callee", "callee: four graphs", "In the middle of things")
