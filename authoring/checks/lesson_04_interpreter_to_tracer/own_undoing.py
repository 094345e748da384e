"""Exercise 04.6: a trace goes to the end of its frame or to a break, and leaves nothing half-done."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .own_traces import like_python, lines, reason, traced

OWN_UNDOING = Step(
    "04.6",
    "to the end, or to a break",
    file="tracer",
    minutes=20,
    hints=(
        "Count the instructions that are done. `with self.record:` around the loop; `try` around both.",
        "What is not half-done need not be undone: self.__init__(*self.began) is a trace that has done nothing yet.",
        "except Exception as error: begin anew, self.run(done), and then self.reason = error, which the second run"
        " would otherwise have lost.",
    ),
)
SECTION = "Tracing by interpreting"


def doubled(x: Any, n: int, names: list[Any]) -> Any:
    y = x * n
    return y, names[0]


@OWN_UNDOING.case("to the end", points=1, section=SECTION)
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


@OWN_UNDOING.case("a half-done instruction leaves nothing", points=2, section=SECTION)
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


def changes(x: Any, seen: list[Any], table: dict[str, Any]) -> Any:
    count = 0

    def number(items: Any) -> Any:
        nonlocal count
        count += 1
        seen.append(next(items))
        table["x"] = count
        return x.sum().item()

    return number(iter([5, 6])), count, seen, table


@OWN_UNDOING.case("a call that is done twice", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "The call changed things, then asked for a number: it was undone, and done again for real."
    like_python(mini, changes, (mini.tensor.tensor([1.0, 2.0]), [1], {"old": 0}), why)
