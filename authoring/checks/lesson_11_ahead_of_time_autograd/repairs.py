"""Exercise 11.3: a wrong line in each of three joint graphs; find it and say what it should be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, NotWritten, WrongAnswer
from minitorch_compile.tensor import Tensor

from .joint_texts import JOINTS, JointText, expected, run

REPAIRS = Exercise(
    "11.3",
    "find the bug: three joint graphs",
    answer="repairs",
    minutes=15,
    hints=(
        "Go through the result's operations from the last to the first. Which slopes does each hand on, and to whom?",
        "twice: how many ways lead from x to the result? stretched: what are the sizes of b, and of its slope?"
        " overwritten: which x does the product read?",
        "twice: a second slope, t * a, arrives at x and is added. stretched: sum over the rows. overwritten: the slope"
        " of a factor is the other factor, and that is x_1.",
    ),
)
SECTIONS = {
    "twice": "Both passes, one graph",
    "stretched": "Both passes, one graph",
    "overwritten": "Programs that write",
}
RIGHT_LINE = {
    "twice": "x is read by two lines, so two slopes arrive at it. Where are they put together?",
    "stretched": "Print the sizes of all slopes, beside those of what they belong to.",
    "overwritten": "Check each slope by nudging: change x_1 a little and see how far the result moves; then y.",
}


def inputs_of(joint: JointText) -> list[Tensor]:
    """A (3, 2) for x and the tangent, and two numbers for b."""
    made = {
        "x": torch.linspace(-1, 1.5, 6, dtype=torch.float64).reshape(3, 2),
        "b": torch.tensor([0.5, -0.25], dtype=torch.float64),
        "t": torch.tensor([[1.0, 2.0], [-1.0, 0.5], [0.25, 3.0]], dtype=torch.float64),
    }
    return [made[name] for name in joint.inputs]


def wrong_outputs(joint: JointText, changed: dict[str, str]) -> dict[str, Any]:
    """The outputs that are not what the tape gives, with what they are."""
    inputs = inputs_of(joint)
    values, wanted = run(joint, changed, inputs), expected(joint, inputs)
    return {
        name: values[name]
        for name, want in wanted.items()
        if not isinstance(values[name], Tensor)
        or values[name].shape != want.shape
        or not torch.allclose(values[name], want)
    }


def judge(answer: Any, name: str) -> None:
    joint = JOINTS[name]
    if not isinstance(answer, dict):
        raise WrongAnswer(f"repairs: expected a dict of three pairs, got {type(answer).__name__}")
    repair = answer.get(name, ...)
    if repair is ... or (isinstance(repair, tuple) and ... in repair):
        raise NotWritten(f"{name} is still `...`")
    if not (isinstance(repair, tuple) and len(repair) == 2 and all(isinstance(part, str) for part in repair)):
        raise WrongAnswer(f"{name}: expected (name of the line, its new expression), got {repair!r}")
    line, expression = repair
    if line not in joint.lines:
        raise WrongAnswer(f"{name}: there is no line {line!r}", f"The lines are {', '.join(joint.lines)}.")
    if "".join(expression.split()) == "".join(joint.lines[line].split()):
        raise WrongAnswer(f"{name}: {line} = {expression} is what stands there", "Write what it should be.")
    try:
        wrong = wrong_outputs(joint, {line: expression})
    except Exception as error:
        raise WrongAnswer(
            f"{name}: with {line} = {expression} it raised {type(error).__name__}: {error}",
            "Use only names of lines above it, and torch.",
        ) from error
    if wrong:
        raise WrongAnswer(*told(name, line, expression, wrong))


def told(name: str, line: str, expression: str, wrong: dict[str, Any]) -> tuple[str, str]:
    """What is wrong after a repair that didn't help, and why."""
    joint = JOINTS[name]
    fact = f"{name}: with {line} = {expression}, {', '.join(wrong)} isn't what the tape gives"
    if "result" in wrong:
        return fact, "You changed what the function computes. The forward part was right."
    if line != joint.wrong:
        return fact, f"The line {line} was right. {RIGHT_LINE[name]}"
    got, want = wrong[next(iter(wrong))], expected(joint, inputs_of(joint))[next(iter(wrong))]
    if isinstance(got, Tensor) and got.shape != want.shape:
        sizes = f"The slope of something has its sizes: {list(want.shape)}, and yours are {list(got.shape)}"
        return fact, f"{sizes}. Sum over what was stretched, and over nothing else."
    return fact, "The line is the right one. Slopes that come by several ways are added; none of them is scaled."


def add_case(name: str) -> Callable[[Any], None]:
    @REPAIRS.case(name, points=1, section=SECTIONS[name])
    def case(answer: Any) -> None:
        judge(answer, name)

    return case


for each in JOINTS:
    add_case(each)
