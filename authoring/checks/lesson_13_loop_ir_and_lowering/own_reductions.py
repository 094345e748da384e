"""Exercise 13.15: reductions and products."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_steps import count, judge, numbers, steps_of

OWN_REDUCTIONS = Step(
    "13.15",
    "reductions and products",
    file="loops",
    minutes=20,
    hints=(
        "A reduction's loop runs over the sizes of the dimensions that are kept, and reduces those of dims. Its "
        "body's index has"
        " the kept ones first, then the reduced ones: put each where it belongs.",
        "dict(zip([*kept, *dims], index)) says for each dimension of x which index it gets. If x.dtype is not "
        "value.dtype (a sum"
        " of booleans), the element goes through h.call('to', ...).",
        "self.add(Loop(self.new_buffer(value), kept sizes, body, reduced sizes, op.name)): the buffer has the "
        "value's sizes, with"
        " its 1s. product: each box's memory, after self.store(box) where it has none; then self.add(Call(...)).",
    ),
)
SECTION = "When a value has to be stored"


@OWN_REDUCTIONS.case("reductions", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = numbers(2, 3, 4)
    place = "The body's index has the kept dimensions first, then the reduced ones: put each in its place."
    judge(mini, lambda x: x.sum(2), [x], "x.sum(2)", place)
    judge(mini, lambda x: (x.sum(0), x.amax((0, 2)), x.sum()), [x], "(x.sum(0), x.amax((0, 2)), x.sum())", place)
    lowering = steps_of(mini, lambda x: x.sum((2, 0)), mini.tensor.from_numpy(x))
    as_given = (
        "dims come in any order: the last indices are those of the reduced sizes, the first of them that of dims[0]."
    )
    sizes = "The loop reduces the sizes of dims in their order, (4, 2) here: as the indices come, so do the sizes."
    why = as_given if lowering.steps[0].reduced == (4, 2) else sizes
    judge(mini, lambda x: x.sum((2, 0)), [x], "x.sum((2, 0)) of (2, 3, 4)", why)
    keeps = "Its buffer has the value's sizes, also the 1s that keepdim leaves."
    judge(mini, lambda x: x.sum(1, True), [x], "x.sum(1, True)", keeps)
    judge(mini, lambda x: x - x.amax((1, 2), True), [x], "x - x.amax((1, 2), True)", keeps)
    judge(mini, lambda x: (x + 1).sum(0), [x[:0]], "(x + 1).sum(0) of no rows", "The sum of nothing is 0.")


@OWN_REDUCTIONS.case("a sum of booleans", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering = judge(mini, lambda x: (x < 3).sum(0), [numbers(4, 2)], "(x < 3).sum(0)", "It counts: an int64.")
    text = str(lowering.steps[0])
    if "to(lt(" not in text:
        raise WrongAnswer(
            f"(x < 3).sum(0): {text}", "What is added up has the sum's dtype: h.call('to', ...) where x has another."
        )


@OWN_REDUCTIONS.case("a sum of what has its dtype", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering = judge(mini, lambda x: x.sum(0), [numbers(4, 2)], "x.sum(0)", "A sum of floats.")
    if "to(" in (text := str(lowering.steps[0])):
        raise WrongAnswer(f"x.sum(0): {text}", "A float32 is no other dtype than a float32: then there is no call.")


@OWN_REDUCTIONS.case("products", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = numbers(3, 3)
    order = "The product is x @ y: its arguments keep their order."
    judge(mini, lambda x: x @ (x * x + 1), [x], "x @ (x * x + 1)", order)
    lies = "What is in memory is multiplied as it lies, by its layout; only what is computed is stored first."
    count(judge(mini, lambda x: x @ x.t()[:, 1:], [x], "x @ x.t()[:, 1:]", lies), 1, "x @ x.t()[:, 1:]", lies)
    count(judge(mini, lambda x: (x + 1) @ x, [x], "(x + 1) @ x", lies), 2, "(x + 1) @ x", lies)
    twice = judge(mini, lambda x: (x @ x).relu() @ x, [x], "(x @ x).relu() @ x", order)
    count(twice, 3, "(x @ x).relu() @ x", lies)
