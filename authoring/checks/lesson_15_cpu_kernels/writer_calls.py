"""Exercise 15.5: numbers, calls and branches as text."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.far.there import there

from .kernel_texts import SECTION, writer_of

WRITER_CALLS = Step(
    "15.5",
    "values, calls and branches",
    file="emit",
    minutes=20,
    hints=(
        "value gives text that evaluates to the number in its dtype: np.float32(0.5), np.int64(3), True; infinities"
        " and NaN are"
        " names of np. call gives a name to an entry of EXPRESSIONS, filled with the arguments.",
        "call: 'to' is a conversion, np.dtype(x), and to bool it is x != 0. kernel.single has its own forms for"
        " float32. Numba"
        " computes integers in 64 bits, so wrap their results in np.int32(...) again.",
        "inside: name = zero; then the if line; one level deeper `name = value()`; then back. What value() put into"
        " self.memo"
        " was computed only if the branch was taken: keep a copy of memo from before, and put it back.",
    ),
)
TEXT = "A writer writes: it gives an expression of Python, as text."
FILLED = "EXPRESSIONS[op].format(*args): the arguments' names, in their order; kernel.single may have another form."
NOT_FINITE = "Python has no names inf and nan: np.inf, -np.inf and np.nan have."
WRAP = (
    "In a kernel integers have 64 bits until they are stored, so nothing wraps round: put np.int32(...) about the"
    " result."
)
SINGLE = "exp32 is for float32 only; float64 would lose half its digits."
OUT = "What comes after the branch is not in it: go back to the depth from before."
FORGET = "After the branch nobody knows whether it ran: what was computed in it must leave the memo."
ZERO = "Outside of the conditions the value is zero: give it that before the if, and ask for low <= i < high."
WITHIN = (
    "In the branch the name gets the value: after value() has written its lines, one level deeper, name = what it gave."
)


def evaluated(mini: Any, text: Any, names: dict[str, Any] | None = None, why: str = "") -> Any:
    if not isinstance(text, str):
        raise WrongAnswer(f"expected a text, got {text!r} of {type(text).__name__}", TEXT)
    try:
        return a_number(value_of(mini, text, names or {}), text)
    except (NameError, SyntaxError, AttributeError) as error:
        why = why or (NOT_FINITE if "inf" in text or "nan" in text else TEXT)
        raise WrongAnswer(f"{text!r} raises {type(error).__name__}: {error}", why) from error


@there
def value_of(mini: Any, text: str, names: dict[str, Any]) -> Any:
    """Text of the learner's code is code of the learner's: it runs where that does, and never in the judge."""
    return eval(text, {"np": np, "math": math, "exp32": lambda x: np.exp(np.float32(x)), **names})


@there
def after_the_lines(writer: Any, name: str, position: int) -> tuple[bool, Any]:
    """Whether the lines came to `after = 1`, and what they have put into the name; there, for the same reason."""
    scope: dict[str, Any] = {"np": np, "i": position}
    exec("\n".join(["if True:", *writer.lines]), scope)
    return "after" in scope, scope.get(name)


def a_number(got: Any, text: str) -> Any:
    """Any other object could say of itself that it equals what is expected."""
    if got is not None and not issubclass(type(got), (bool, int, float, np.generic)):
        raise WrongAnswer(f"{text!r} gives {got!r}, which is no number", TEXT)
    return got


@WRITER_CALLS.case("numbers", points=1, section=SECTION)
def _(mini: Any) -> None:
    w = writer_of(mini)
    for number, dtype in ((0.5, "float32"), (3, "float32"), (-7, "int64"), (2, "int32"), (0.1, "float64")):
        got = evaluated(mini, w.value(number, np.dtype(dtype)))
        if got != np.dtype(dtype).type(number) or got.dtype != dtype:
            raise WrongAnswer(f"value({number}, {dtype}): got {w.value(number, np.dtype(dtype))!r}", "Its type counts.")
    for number in (math.inf, -math.inf, math.nan):
        got = evaluated(mini, w.value(number, np.dtype("float32")))
        if not (got == number or (math.isnan(number) and math.isnan(got))) or got.dtype != np.float32:
            raise WrongAnswer(f"value({number}, float32): got {got!r}", NOT_FINITE)
    for number in (True, False, 1, 0):
        if evaluated(mini, w.value(number, np.dtype(bool))) is not bool(number):
            raise WrongAnswer(f"value({number}, bool): got {w.value(number, np.dtype(bool))!r}", "True or False.")


@WRITER_CALLS.case("calls", points=2, section=SECTION)
def _(mini: Any) -> None:
    for op, args, dtype, expected in (
        ("sub", (2.0, 3.0), "float32", -1.0),
        ("where", (False, 1.0, 2.0), "float32", 2.0),
        ("maximum", (math.nan, 1.0), "float32", math.nan),
        ("lt", (1.0, 2.0), "bool", True),
        ("exp", (0.0,), "float64", 1.0),
        ("add", (2**31 - 1, 1), "int32", -(2**31)),
        ("mul", (2**16, 2**16), "int32", 0),
    ):
        w, names = writer_of(mini), [f"a{i}" for i in range(len(args))]
        name = w.call(op, names, np.dtype(dtype), [])
        if not w.lines or not w.lines[-1].strip().startswith(f"{name} = "):
            raise WrongAnswer(f"call({op!r}): wrote {w.lines}, gave {name!r}", "Give the result a name.")
        text = w.lines[-1].split("=", 1)[1].strip()
        with np.errstate(over="ignore"):
            values: list[Any] = [np.int64(v) if type(v) is int else v for v in args]
            scope: dict[str, Any] = dict(zip(names, values, strict=True))
            got = evaluated(mini, text.replace("np.int32(", "to_int32("), scope | {"to_int32": to_int32}, FILLED)
        if not (got == expected or (expected != expected and got != got)):
            why = WRAP if dtype == "int32" else FILLED
            raise WrongAnswer(f"call({op!r}, {args}) for {dtype} wrote {text!r}: {got!r}, not {expected}", why)
    for dtype, wanted in (("float32", True), ("float64", False)):
        w = writer_of(mini)
        w.call("exp", ["x"], np.dtype(dtype), [])
        if ("exp32(x)" in w.lines[-1]) is not wanted:
            raise WrongAnswer(f"call('exp') for {dtype} wrote {w.lines[-1].strip()!r}", SINGLE)


def to_int32(value: Any) -> Any:
    return np.int64(value).astype(np.int32)


@WRITER_CALLS.case("conversions", points=1, section=SECTION)
def _(mini: Any) -> None:
    for value, dtype, expected in ((2.9, "int64", 2), (3, "float32", 3.0), (2, "bool", True), (0.5, "bool", True)):
        w = writer_of(mini)
        w.call("to", ["x"], np.dtype(dtype), [np.dtype("float64")])
        got = evaluated(mini, w.lines[-1].split("=", 1)[1].strip(), {"x": value})
        if got != expected or np.asarray(got).dtype != dtype:
            raise WrongAnswer(
                f"call('to', {value}) to {dtype} gives {got!r}", "For bool: whatever is not zero is True."
            )


@WRITER_CALLS.case("branches", points=2, section=SECTION)
def _(mini: Any) -> None:
    for position, expected in ((1, 50.0), (-1, 0.0), (3, 0.0)):
        w = writer_of(mini)
        w.memo["before"] = "t9"

        def value(w: Any = w) -> str:
            w.memo["within"] = "t1"
            return str(w.name("np.float32(50)"))

        name = w.inside([("i", 0, 3)], value, np.dtype("float32"))
        w.line("after = 1")
        try:
            ended, got = after_the_lines(w, name, position)
        except Exception as error:
            raise WrongAnswer("\n".join(w.lines) + f"\nraises {error!r} for i = {position}", WITHIN) from error
        if not ended:
            raise WrongAnswer("\n".join(w.lines) + f"\ndoes not come to `after = 1` for i = {position}", OUT)
        if a_number(got, "\n".join(w.lines)) != expected:
            why = WITHIN if expected else ZERO
            raise WrongAnswer("\n".join(w.lines) + f"\ngives {got} for i = {position}, not {expected}", why)
        if w.memo != {"before": "t9"}:
            raise WrongAnswer(f"the memo after the branch: {w.memo}", FORGET)
