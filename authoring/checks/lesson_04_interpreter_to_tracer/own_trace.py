"""Exercise 04.5: a trace begins where a frame stands, with what it has read."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect

OWN_TRACE = Step(
    "04.5",
    "a trace begins",
    file="tracer",
    minutes=15,
    hints=(
        "What the real frame has is read, and what `read` gives lies in the trace's own slots and on its own stack.",
        "read(source, value) is self.guards.read(source, value, self.make_input); make_input appends the source to"
        " self.input_sources.",
        "self.frame.locals = {name: self.read(local(name), v) for name, v in frame.locals.items()}; the"
        " stack likewise, with 'stack' and the position. An input is self.record.input(tensor).",
    ),
)
PYTHON = "Where a value came from"


def doubled(x: Any, n: int, names: list[Any]) -> Any:
    y = x * n
    return y, names[0]


@OWN_TRACE.case("it begins with what the frame has", points=1, section=PYTHON)
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 2.0])
    frame = mini.interpreter.Frame(doubled, (x, 3, ["a"]), {})
    frame.stack = [x, 5]
    trace = mini.tracer.Trace(frame)
    found = trace.frame.locals["x"]
    if not getattr(found, "is_fake", False):
        raise WrongAnswer(
            f"the slot x of the trace holds {found!r}", "A tensor from outside becomes a fake: read() makes it."
        )
    if frame.locals["x"] is not x:
        raise WrongAnswer(
            "the slots of the real frame have changed", "The trace has slots of its own; the real ones wait."
        )
    if trace.frame.stack[:1] != [found]:
        fact = f"x is on the stack, too, and the trace has {trace.frame.stack!r} there"
        raise WrongAnswer(
            fact, "A trace may begin in the middle: what is on the stack is read as well, Source 'stack'."
        )
    expect(
        "where the tensors of the inputs are found",
        ["x"],
        [str(s) for s in trace.input_sources],
        "One tensor, one input.",
    )
    said = [str(guard) for guard in trace.guards]
    if not any("n == 3" in text for text in said):
        raise WrongAnswer(f"no guard says n == 3: {said}", "Whatever is read from outside is guarded: read() does it.")
