"""Exercise 03.10: functions that are made while a frame runs, and frames that wait: generators."""

from __future__ import annotations

import types
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, expect
from .own_frames import after, agrees, frame_of, noting

OWN_FUNCTIONS = Step(
    "03.10",
    "functions and generators",
    file="interpreter",
    minutes=20,
    hints=(
        "types.FunctionType(code, globals, name, defaults, closure). A closure can't be set later: for 8 make another"
        " function of the same code, with these cells.",
        "RETURN_GENERATOR is the first instruction of a generator function. What its caller gets is self.generate(),"
        " and the POP_TOP that comes next takes what was sent first: None.",
        "generate: while self.run()[0] == 'yield': the value of the `yield` expression is pushed:"
        " self.push((yield self.outcome[1])). At last return self.outcome[1].",
    ),
)
SECTION, GENERATORS = "Calls", "A generator is a frame that waits"


def plain(a: int, b: int = 2, *, c: int = 3) -> Any:
    return a, b, c


def enclosing(k: int) -> Any:
    def inner(x: int) -> int:
        return x + k

    return inner


@OWN_FUNCTIONS.case("making a function", points=1, section=SECTION)
def _(mini: Any) -> None:
    for function in (plain, enclosing(1)):
        frame = frame_of(mini, ["x", function.__code__])
        frame.globals = {"mine": 1}
        got = after(frame, "MAKE_FUNCTION", None)
        made = got[-1] if isinstance(got, list) else None
        if not (len(got) == 2 and isinstance(made, types.FunctionType) and made.__code__ is function.__code__):
            why = "A function of the code takes its place. It needs as many cells as code.co_freevars has names."
            raise WrongAnswer(f"MAKE_FUNCTION of {function.__name__}'s code: got {got!r}", why)
        if made.__globals__ is not frame.globals:
            why = "It sees the globals of the frame that makes it."
            raise WrongAnswer("MAKE_FUNCTION: the function has other globals than the frame", why)


@OWN_FUNCTIONS.case("what goes with it", points=2, section=SECTION)
def _(mini: Any) -> None:
    for which, value, name, expected in (
        (1, (7, 8), "__defaults__", (7, 8)),
        (2, {"c": 9}, "__kwdefaults__", {"c": 9}),
        (4, ("a", int, "b", str), "__annotations__", {"a": int, "b": str}),
    ):
        function = types.FunctionType(plain.__code__, {})
        got = after(frame_of(mini, ["x", value, function]), "SET_FUNCTION_ATTRIBUTE", which)
        have = getattr(got[-1], name, None) if isinstance(got, list) else got
        expect(
            f"SET_FUNCTION_ATTRIBUTE {which} with {value!r}: its {name}", expected, have, "1, 2 and 4 say which it is."
        )
        expect(
            f"SET_FUNCTION_ATTRIBUTE {which}: what is left below", ["x"], got[:-1], "The value was below the function."
        )
    cells = (types.CellType(40),)
    function = types.FunctionType(enclosing(1).__code__, {}, "inner", None, (types.CellType(),))
    got = after(frame_of(mini, [cells, function]), "SET_FUNCTION_ATTRIBUTE", 8)
    have = attempt(got[-1], 2) if isinstance(got, list) else got
    expect(
        "a function x + k, after it got a cell with k = 40, of 2", 42, have, "8 is the closure: the cells themselves."
    )


def making(n: int) -> Any:
    def inner(y: int = 2, *, z: int = 3) -> Any:
        return n + y + z

    n += 1
    return inner(), inner(5, z=1), (lambda q, r=n: q * r)(2), [f() for f in [lambda i=i: i + n for i in range(2)]]


@OWN_FUNCTIONS.case("functions within functions", points=1, section=SECTION)
def _(mini: Any) -> None:
    agrees(
        mini, making, (3,), "An inner function shares cells with the outer one; its defaults are of when it was made."
    )


def counting(n: int) -> Any:
    total = 0
    for i in range(n):
        got = yield i
        total += got or 0
    return total


@OWN_FUNCTIONS.case("generators", points=2, section=GENERATORS)
def _(mini: Any) -> None:
    expect("RETURN_VALUE of 5", ("return", 5), outcome_after(mini, "RETURN_VALUE", 5), "An outcome is a pair.")
    expect("YIELD_VALUE of 5", ("yield", 5), outcome_after(mini, "YIELD_VALUE", 5), "An outcome is a pair.")
    for n in (0, 1, 3):
        why = "The frame runs on whenever a value is asked for, until it returns."
        expect(
            f"list of a generator that counts to {n}",
            list(counting(n)),
            attempt(lambda n=n: list(mini.interpreter.run(counting, n))),
            why,
        )

    def converse(generator: Any) -> Any:
        said = [next(generator), generator.send(10), generator.send(20)]
        try:
            generator.send(30)
        except StopIteration as end:
            return said, end.value

    why = "What is sent is the value of the `yield` expression: push it. What the frame returns, the generator returns."
    got = attempt(lambda: converse(mini.interpreter.run(counting, 3)))
    expect("next, send(10), send(20), send(30), and what it returned", converse(counting(3)), got, why)


def outcome_after(mini: Any, op: str, value: Any) -> Any:
    frame = frame_of(mini, ["x", value])
    raised = after(frame, op, None)
    return raised if isinstance(raised, str) else frame.outcome


@OWN_FUNCTIONS.case("a function is made by apply", points=1, section="The package's interpreter")
def _(mini: Any) -> None:
    frame = frame_of(mini, [plain.__code__], noting(mini))
    after(frame, "MAKE_FUNCTION", None)
    if types.FunctionType not in frame.asked:
        why = "A tracer must know which functions it has made itself. So make them by apply(types.FunctionType, ...)."
        raise WrongAnswer("MAKE_FUNCTION did not ask self.apply for types.FunctionType", why)
