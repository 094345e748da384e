"""Exercise 13.8: a handler that writes a line, and lists what is read."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .index_values import variables

OWN_HANDLERS = Step(
    "13.8",
    "a handler",
    file="loops",
    minutes=15,
    hints=(
        "Each method says what its name means to this handler: a text, made of the texts of its arguments.",
        "load notes the pair (buffer, index) in self.found, and call counts in self.calls. At the end of __init__:"
        " self.text = body(self, index).",
        "inside(conditions, value, dtype): value is a function, call it: (VALUE if LOW <= I < HIGH and ... else 0)."
        " Calling value() is also how what is read there is found.",
    ),
)
SECTION = "One body, many meanings"


def body_of(mini: Any) -> tuple[Any, Any, Any]:
    i, j, _ = variables(mini)
    x = mini.loops.Buffer("x0", (4, 8), "float32", None)

    def body(h: Any, index: Any) -> Any:
        product = h.call("mul", [h.load(x, i * 8 + j), h.value(2.5, "float32")], "float32", ["float32", "float32"])
        position = h.index(i + 1, "int64")
        return h.call(
            "add",
            [
                product,
                h.inside([(i - 1, 0, 3), (j, 2, 5)], lambda: h.call("neg", [position], "int64", ["int64"]), "int64"),
            ],
            "float32",
            [],
        )

    return body, x, (i, j)


@OWN_HANDLERS.case("a line to read", points=1, section=SECTION)
def _(mini: Any) -> None:
    body, _, index = body_of(mini)
    expected = "add(mul(x0[i * 8 + j], 2.5), (neg(i + 1) if 0 <= i + -1 < 3 and 2 <= j < 5 else 0))"
    got = mini.loops.Text(body, index).text
    if got != expected:
        raise WrongAnswer(
            f"expected {expected}, got {got}",
            "op(a, b) for a call, x0[...] for a load, (a if ... else 0) for a part.",
        )


@OWN_HANDLERS.case("a list of what is read", points=1, section=SECTION)
def _(mini: Any) -> None:
    body, x, (i, j) = body_of(mini)
    h = mini.loops.Text(body, (i, j))
    if [(buffer, str(index)) for buffer, index in h.found] != [(x, "i * 8 + j")]:
        raise WrongAnswer(
            f"expected x0 at i * 8 + j, found {h.found}", "Each load is noted: the buffer itself, and the index."
        )
    if not all(isinstance(index, mini.index.Index) for _, index in h.found):
        raise WrongAnswer(f"found {h.found!r}", "An index is noted as the formula that it is: others reckon with it.")
    if h.calls != 3:
        why = "The value inside of a condition counts, too; a load and a number are no calls."
        raise WrongAnswer(f"mul, neg and add: expected 3 calls, got {h.calls}", why)
    h.inside([(i, 0, 2)], lambda: h.load(x, j), "float32")
    if len(h.found) != 2:
        raise WrongAnswer(
            "a load inside of a condition was not found", "What may be read counts as read: call value()."
        )


@OWN_HANDLERS.case("each remembers for itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    body, _, index = body_of(mini)
    first, second = mini.loops.Text(body, index), mini.loops.Text(body, index)
    if getattr(first, "memo", None) != {} or first.memo is second.memo:
        raise WrongAnswer("a Text has no empty memo of its own", "Boxes remember in h.memo: begin with an empty one.")
    if len(second.found) != 1:
        why = "Each begins with a list of its own, and not with one that all share."
        raise WrongAnswer(f"the body reads one element; the second Text of it has found {second.found}", why)
