"""Exercise 05.1: the text of a check on a number, a string or None."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

CHECK_TEXT = Exercise(
    "05.1",
    "the text of a check",
    answer="check_text",
    minutes=12,
    hints=(
        "Two conditions joined by `and`: one about the type, one about the value. For None the value alone will do.",
        "type(value).__name__ is the name of the type, and {value!r} writes a value as text. But which text has NaN?",
        "Compare repr({source}) with repr(value): -0.0 and 0.0 differ there, and nan is written 'nan' each time. It has"
        " to stand in quotes in your text: {repr(value)!r}.",
    ),
)
SECTION = "Everything you read"


class Celsius(float):
    """A float to look at, with methods of its own."""

    def __mul__(self, other: float) -> float:
        return self + other


class Name(str):
    """A string that adds up in its own way."""

    def __add__(self, other: str) -> str:
        return other


EQUAL = "1, True and 1.0 are equal in Python, but a graph made for one of them isn't right for another: check the type."
ONE_OBJECT = "`is` asks for one and the same object. Equal numbers and strings need not be one object: compare values."
SUBCLASS = "A class of its own may have the same text, and other methods. Compare the type, too."
NAN = "NaN is not equal to itself, so this check fails for ever, and every call compiles."
ZERO = "0.0 == -0.0, but dividing by them gives inf and -inf. Which text tells them apart?"
LITERAL = "The text is evaluated where only your source and Python's builtins have a meaning."


def holds(text: str, other: Any, source: str) -> bool:
    """What the learner's text says of another value, found at the same source."""

    class Owner:
        rate = other

    scope = {"x": other, "config": Owner(), "G": {"scale": other}}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # "is" with a literal
            return bool(eval(text, scope))
    except Exception as error:
        why = ONE_OBJECT if isinstance(error, SyntaxError) and " is " in text else LITERAL
        raise WrongAnswer(
            f"{source} = {other!r}: evaluating {text!r} raised {type(error).__name__}: {error}", why
        ) from error


def judge(answer: Callable[..., Any], value: Any, same: Sequence[Any], different: Sequence[tuple[Any, str]]) -> None:
    for source in ("x", "config.rate", "G['scale']"):
        text = outcome(answer, (source, value))
        call = f"check_text({source!r}, {value!r})"
        if not isinstance(text, str):
            raise WrongAnswer(f"{call}: expected the text of a condition, got {text!r}")
        for other in same:
            if not holds(text, other, source):
                why = NAN if other != other else ONE_OBJECT if " is " in text else ""
                raise WrongAnswer(f"{call} = {text!r}: it must hold for {other!r} and does not", why)
        for other, why in different:
            if holds(text, other, source):
                raise WrongAnswer(f"{call} = {text!r}: it must not hold for {described(other)}, and does", why)


def described(value: Any) -> str:
    plain = type(value) in (int, float, bool, str, type(None))
    return repr(value) if plain else f"{value!r} of class {type(value).__name__}"


def fresh(value: Any) -> Any:
    """An equal value that is another object."""
    return type(value)(repr(value)) if isinstance(value, int | float) else "".join(list(value))


@CHECK_TEXT.case("the same value holds, another does not", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    general = "The value matters, and only the value: it was written into the graph."
    judge(answer, 3, [3], [(4, general), (-3, general)])
    judge(answer, 123456, [fresh(123456)], [(123457, general)])
    judge(answer, "train", [fresh("train")], [("eval", general), ("", general)])
    judge(answer, 'it\'s "here"', [fresh('it\'s "here"')], [("here", general)])
    judge(answer, 2.5, [fresh(2.5)], [(2.25, general)])
    judge(answer, None, [None], [(0, general), (False, general), ("None", general)])


@CHECK_TEXT.case("the type counts", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, 1, [1], [(True, EQUAL), (1.0, EQUAL)])
    judge(answer, False, [False], [(0, EQUAL), (0.0, EQUAL)])
    judge(answer, 2.0, [2.0], [(2, EQUAL), (Celsius(2.0), SUBCLASS)])
    judge(answer, "ada", ["ada"], [(Name("ada"), SUBCLASS)])


@CHECK_TEXT.case("NaN, infinity and the two zeros", points=2, section="The package's own")
def _(answer: Callable[..., Any]) -> None:
    judge(answer, math.nan, [math.nan, float("nan")], [(0.0, NAN), (math.inf, NAN)])
    judge(answer, math.inf, [float("inf")], [(-math.inf, "The sign counts."), (1e308, "")])
    judge(answer, 0.0, [0.0], [(-0.0, ZERO)])
    judge(answer, -0.0, [-0.0], [(0.0, ZERO)])
