"""Exercise 04.5: a trace goes instruction by instruction, and each is done as a whole or not at all."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import lines, reason, traced

OWN_TRACE = Step(
    "04.5",
    "a trace, instruction by instruction",
    file="tracer",
    minutes=20,
    hints=(
        "Before a step, note all that it may change: copies of the stack and the slots, the place, how many nodes there"
        " are, the attributes; and self.undo begins empty.",
        "What was noted last is undone first: for put_back in reversed(self.undo). Then put the noted things back.",
        "Inside of `try`: with self.record: frame.step(). At any Exception: undo, put back, del nodes[count:], keep the"
        " error as self.reason, give False.",
    ),
)
TRACING, PYTHON = "Tracing by interpreting", "Where a value came from"


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


@OWN_TRACE.case("to the end", points=1, section=TRACING)
def _(mini: Any) -> None:
    trace = traced(mini, doubled, mini.tensor.tensor([1.0, 2.0]), 3, ["a"])
    if trace.frame.outcome is None:
        raise WrongAnswer(f"the trace stopped: {reason(trace)}", "Step until the frame has an outcome.")
    expect(
        "the graph of x * n, with n = 3",
        ["mul = mul(x0, 3)"],
        lines(trace.record.graph),
        "Steps run with the layer entered.",
    )
    expect(
        "what it returns",
        "('return', (fake(2,), 'a'))",
        repr(trace.frame.outcome),
        "Fakes for tensors, else plain values.",
    )


def halfway(x: Any) -> Any:
    y = x + 1
    z = y * 2
    return (lambda v: [v.exp(), v.sum().item()])(z)


@OWN_TRACE.case("a half-done instruction leaves nothing", points=2, section=TRACING)
def _(mini: Any) -> None:
    trace = traced(mini, halfway, mini.tensor.tensor([1.0, 2.0]))
    frame = trace.frame
    why = (
        "The call had recorded exp and sum when it asked for a number. It will be done again, for real: take them out."
    )
    expect(
        "the nodes of x + 1, * 2, and a call that breaks",
        ["add = add(x0, 1)", "mul = mul(add, 2)"],
        lines(trace.record.graph),
        why,
    )
    op, _ = frame.program[frame.at]
    expect("the instruction at which the frame stands", "CALL", op, "It is the one that broke: it was not done.")
    shown = [value if isinstance(value, mini.tensor.Tensor) else "..." for value in frame.stack]
    why = "CALL had taken the function and its argument from the stack. They must lie there again."
    expect("its stack (but for tensors)", ["...", "...", frame.locals["z"]], shown, why)
    if not isinstance(trace.reason, mini.tracer.Break):
        raise WrongAnswer(f"the reason is {trace.reason!r}", "Keep the exception that ended the trace: self.reason.")


@OWN_TRACE.case("what was noted to be undone", points=2, section=TRACING)
def _(mini: Any) -> None:
    trace = mini.tracer.Trace(mini.interpreter.Frame(doubled, (mini.tensor.tensor([1.0]), 3, ["a"]), {}))
    done: list[str] = []

    def step() -> None:
        trace.undo.append(lambda: done.append("first"))
        trace.attributes["k"] = "half-done"
        trace.frame.locals["new"] = 1
        trace.undo.append(lambda: done.append("second"))
        raise ValueError("broken")

    trace.undo.append(lambda: done.append("of an instruction that was done"))
    trace.frame.step = step
    got = trace.step()
    expect("whether it was done", False, got, "No: it raised.")
    why = "Undo this instruction only, and the last change first: it was made on top of those before."
    expect("what was undone, in which order", ["second", "first"], done, why)
    expect("the attributes", {}, trace.attributes, "An attribute that the instruction has set is not set.")
    expect("a slot that it filled", False, "new" in trace.frame.locals, "The slots are as they were.")
