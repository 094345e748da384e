"""Exercise 04.2: a tensor in a for loop, while tracing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.tensor import Tensor

from .capturing import capture, count_calls

TENSOR_ROWS = Exercise(
    "04.2",
    "a tensor in a for loop",
    answer="iterate",
    minutes=12,
    hints=(
        "How many rows are there? The numbers aren't known, but the fake tensor self.fake has sizes.",
        "Row i is what x[i] would give: ask the tracer for it, with a tracker of the number i as the key.",
        "rows = [tracer.getitem(self, ConstantVariable(i)) for i in range(self.fake.sizes[0])]; return"
        " ItemsIterator(rows). If self.fake.sizes is empty: tracer.raise_error(TypeError, ...).",
    ),
    place="dynamo.tensor_iterate",
)
SECTION, INTERPRETING = "The package's trackers", "Tracing by interpreting"


def sums_of_rows(x: Tensor) -> list[Tensor]:
    sums = []
    for row in x:
        sums.append(row.sum())
    return sums


def of_a_result(x: Tensor) -> Tensor:
    """Goes over a tensor that was computed while tracing."""
    total = x.sum() * 0
    for row in x * 2:
        total = total + row.max()
    return total


def unpacked(x: Tensor) -> Tensor:
    first, *_, last = x
    return last - first


def paired(x: Tensor) -> list[Tensor]:
    products = []
    for a, b in zip(x, [1.0, 2.0, 3.0, 4.0]):
        products.append(a * b)
    return products


def guarded(x: Tensor) -> Tensor:
    """Catches what Python raises if there is nothing to go over."""
    try:
        for row in x:
            return row + 1
    except TypeError as error:
        return x - len(str(error))
    return x


def judge(answer: Callable[..., Any], *trials: tuple[Callable[..., Any], Tensor]) -> None:
    """Compared with the package's own method: the values, and how many operations were recorded."""
    calls = [count_calls(capture(program, x, fullgraph=True)[1]) for program, x in trials]
    with splice("dynamo.tensor_iterate", answer):
        for (program, x), count in zip(trials, calls, strict=True):
            judge_one(program, x, count)


def judge_one(program: Callable[..., Any], x: Tensor, calls: int) -> None:
    said = f"{program.__name__} of a tensor of sizes {list(x.shape)}"
    try:
        got, graphs = capture(program, x, fullgraph=True)
    except Unsupported as error:
        raise WrongAnswer(f"{said}: expected one graph, but tracing stopped: {first_line(error)}") from error
    except Exception as error:
        if isinstance(error.__cause__ or error, NotImplementedError):
            raise NotWritten(str(error)) from error
        raise WrongAnswer(f"{said}: tracing raised {first_line(error)}", why_it_raised(error, x)) from error
    expected = program(x)
    if not same(expected, got):
        raise WrongAnswer(f"{said}: expected {shown(expected)}, got {shown(got)}", "Which rows are there, in order?")
    if count_calls(graphs) != calls:
        came = graphs[0].compact() if graphs else "the traced program raised, and ran as plain Python instead"
        fact = f"{said}: expected {calls} operations in the graph, got {count_calls(graphs)}: {came}"
        raise WrongAnswer(fact, ROWS)


ROWS = "The rows are the elements of dimension 0: there are self.fake.sizes[0], and each is one operation, x[i]."


def first_line(error: BaseException) -> str:
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {str(cause).partition(chr(10))[0]}"


def why_it_raised(error: BaseException, x: Tensor) -> str:
    text = str(error.__cause__ or error)
    if not x.shape:
        return "The program may catch it, as in Python: tracer.raise_error(TypeError, 'iteration over a 0-d tensor')."
    if "not subscriptable" in text:
        return "A tracker is not the tensor: it has no x[i]. The tracer records the item: tracer.getitem(self, ...)."
    if "'int' object" in text:
        return "The tracer's hooks take trackers. The number i must become one: ConstantVariable(i)."
    if "next_value" in text or "realize" in text:
        return "The result must be an iterator of the traced program: ItemsIterator(list of trackers)."
    if "_empty" in text or "Parameter" in text:
        return (
            "self.real is the tensor from outside. This one was computed while tracing: it has a fake, and no numbers."
        )
    return ""


def same(expected: Any, got: Any) -> bool:
    if isinstance(expected, list):
        return isinstance(got, list) and len(expected) == len(got) and all(map(same, expected, got))
    return isinstance(got, Tensor) and torch.equal(expected, got)


def shown(value: Any) -> str:
    return (
        repr([x.tolist() for x in value])
        if isinstance(value, list)
        else repr(getattr(value, "tolist", lambda: value)())
    )


@TENSOR_ROWS.case("the rows of an argument", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    one, three, four = (torch.arange(2 * rows).reshape(rows, 2) for rows in (1, 3, 4))
    judge(answer, (sums_of_rows, one), (sums_of_rows, three), (unpacked, four))


@TENSOR_ROWS.case("the rows of a result", points=1, section=INTERPRETING)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, (of_a_result, torch.arange(6).reshape(2, 3)), (paired, torch.arange(8).reshape(4, 2)))


@TENSOR_ROWS.case("no rows, and no dimension to go along", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, (guarded, torch.ones(2, 2)), (sums_of_rows, torch.zeros(0, 2)), (guarded, torch.tensor(40.0)))
