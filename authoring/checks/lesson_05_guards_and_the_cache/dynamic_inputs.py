"""Step 05.12: inputs whose batch may be another one."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_frames import frame_of, local

DYNAMIC_INPUTS = Step(
    "05.12",
    "inputs whose batch is dynamic",
    file="guards",
    minutes=20,
    hints=(
        "is_dynamic: guards.batch.now is the batch of those read before; without any, the tensor's own first size."
        " It is dynamic if formulas are wanted, it is no parameter, has that first size, and this is 2 at least.",
        "with_batch, the first time: guards.batch_in finds the number in a frame, and guards.batch is a Batch whose"
        " require(text, holds) is a guard that holds(guards.batch_in(frame)).",
        "The input: Tensor(tensor.storage, replace(tensor.layout, sizes=(Size(guards.batch), *tensor.sizes[1:]))),"
        " with its requires_grad.",
    ),
)
SECTION = "A size as a formula"


def read(mini: Any, dynamic: bool, *shapes: tuple[int, ...], grads: int = 0) -> tuple[Any, Any, list[Any]]:
    """The guards, the frame and the fakes after tensors a, b, ... were read; the last `grads` are parameters."""
    values = {name: mini.tensor.tensor(zeros(shape)) for name, shape in zip("abc", shapes, strict=False)}
    for value in list(values.values())[len(values) - grads :]:
        value.requires_grad = True
    guards, frame = mini.guards.Guards(dynamic), frame_of(mini, **values)
    record = mini.graph.Record()
    inputs = [guards.read(local(mini, name), value, lambda _, x: record.input(x)) for name, value in values.items()]
    return guards, frame, inputs


def zeros(shape: tuple[int, ...]) -> Any:
    return [zeros(shape[1:]) for _ in range(shape[0])] if shape else 0.0


def texts(inputs: list[Any]) -> list[str]:
    return [str(x.sizes) for x in inputs]


@DYNAMIC_INPUTS.case("which inputs", points=2, section=SECTION)
def _(mini: Any) -> None:
    cases: list[tuple[bool, list[tuple[int, ...]], int, list[str], str]] = [
        (True, [(3, 2)], 0, ["(s0, 2)"], "It is the first: its size is the batch."),
        (False, [(3, 2)], 0, ["(3, 2)"], "Nothing was asked for."),
        (True, [(3, 2), (3,)], 0, ["(s0, 2)", "(s0,)"], "Both have one batch."),
        (True, [(3, 2), (4, 2)], 0, ["(s0, 2)", "(4, 2)"], "One number stands for the batch of all."),
        (True, [(1, 2)], 0, ["(1, 2)"], "A size of 1 broadcasts: it is a case of its own."),
        (True, [()], 0, ["()"], "It has no first size."),
        (True, [(3, 2), (3, 3)], 1, ["(s0, 2)", "(3, 3)"], "All that are no parameters."),
    ]
    for dynamic, shapes, grads, expected, why in cases:
        _, _, inputs = read(mini, dynamic, *shapes, grads=grads)
        if texts(inputs) != expected:
            what = f"inputs of sizes {shapes}, dynamic = {dynamic}: expected {expected}, got {texts(inputs)}"
            raise WrongAnswer(what, why)


@DYNAMIC_INPUTS.case("what must hold at a call", points=2, section=SECTION)
def _(mini: Any) -> None:
    calls = {
        ((3, 2), (3,)): (True, "Nothing changed."),
        ((9, 2), (9,)): (True, "This is what it is for."),
        ((9, 2), (8,)): (False, "They had one batch: it must be one at a call, too."),
        ((9, 3), (9,)): (False, "Only the first size may be another one."),
        ((1, 2), (1,)): (False, "From 2 on: of 1 nothing was said."),
        ((64, 2), (64,)): (False, "The trace has asked whether s0 is 64, and it was not."),
    }
    for shapes, (holds, why) in calls.items():
        guards, frame, inputs = read(mini, True, (3, 2), (3,))
        if inputs[0].sizes[0] == 64:
            raise WrongAnswer("s0 == 64, while it is 3", "It is not: the number of now is what guards.batch.now says.")
        _, frame, _ = read(mini, False, *shapes)
        failing = guards.first_failing(frame)
        if (failing is None) != holds:
            what = f"traced with (3, 2) and (3,), called with {shapes[0]} and {shapes[1]}: {failing} fails"
            raise WrongAnswer(what.replace("None fails", "all guards hold"), why)
    guards, _, _ = read(mini, True, (3, 2), (3,), (3, 1))
    once = "Only the first makes guards.batch: there is one s0, and what was said of it holds for all."
    if (times := [str(guard) for guard in guards].count("s0 >= 2")) != 1:
        raise WrongAnswer(f"three dynamic inputs: the guard s0 >= 2 is there {times} times", once)
    guards, frame, _ = read(mini, True, (5, 2))
    if guards.batch_in(frame) != 5:
        raise WrongAnswer(f"batch_in(frame), of a batch of 5: {guards.batch_in(frame)}", "Find it in the frame.")
    value = mini.tensor.tensor(zeros((3, 2)), requires_grad=True)
    example = mini.guards.with_batch(mini.guards.Guards(True), local(mini, "a"), value)
    if example is value or not example.requires_grad:
        raise WrongAnswer("an input that requires grad", "It is another tensor with the same requires_grad.")
