"""Exercise 17.4: from a graph to the steps of a program."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..lesson_16_products_and_epilogues.own_programs import judge_values

OWN_STEPS = Step(
    "17.4",
    "the whole program",
    file="program",
    minutes=20,
    hints=(
        "decompose, lower, fuse: each of the groups becomes a step, a Call a ProductStep, a group"
        " self.kernel(group, wanted).",
        "A kernel's `wanted` are the buffers that must be in memory after it: the outputs of the graph, and all that"
        " another group"
        " reads (read_by).",
        "If the last step so far is a ProductStep that takes the new one, the new one is its epilogue, and its"
        " buffers are the"
        " product's too. At the end self.prepared.",
    ),
)
SECTION = "One program"
WANTED = "Another group reads this buffer: it must be in memory, though it is no output."
HOT = "The kernel reads only the rows that the product has just made: it belongs to the product's step."
PLAN = "The plan asks each step for its buffers: a step with an epilogue has those of both."


def chain(x: Any, y: Any) -> Any:
    a = (x @ y).tanh()
    b = (a @ y + x).tanh()
    return (b @ y) * 2 + a


@OWN_STEPS.case("values", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_values(mini, lambda x: x * 2 + 1, [(2, 3)], "One kernel, one step.")
    judge_values(mini, lambda x, y: x @ y, [(2, 3), (3, 2)], "One product, one step.")
    judge_values(mini, lambda x, y: (x + 1) @ y, [(2, 3), (3, 2)], WANTED)
    judge_values(mini, lambda x, y: ((x @ y).sum(0) + 1).exp() * (x @ y), [(3, 3), (3, 3)], WANTED)
    judge_values(mini, chain, [(4, 4), (4, 4)], PLAN)


@OWN_STEPS.case("epilogues", points=2, section=SECTION)
def _(mini: Any) -> None:
    compiled = judge_values(mini, lambda x, y: (x @ y + 1).tanh(), [(4, 3), (3, 2)], HOT)
    if len(compiled.steps) != 1 or not getattr(compiled.steps[0], "epilogue", None):
        raise WrongAnswer(f"(x @ y + 1).tanh() became {compiled.steps}", HOT)
    step = compiled.steps[0]
    missing = [buffer.name for buffer in step.epilogue.buffers if buffer not in step.buffers]
    if missing:
        raise WrongAnswer(f"the step {step} does not name {missing} among its buffers", PLAN)
    compiled = judge_values(mini, lambda x, y: (x @ y).sum(0), [(4, 3), (3, 2)], "")
    if len(compiled.steps) != 2:
        raise WrongAnswer(f"(x @ y).sum(0) became {compiled.steps}", "A sum over the rows needs them all: two steps.")
