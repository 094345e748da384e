"""Exercise 02.3: which dtype comes out."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

OWN_PROMOTION = Step(
    "02.3",
    "promotion",
    file="ops",
    minutes=12,
    hints=(
        "Make two groups: dtypes of tensors, and dtypes for plain numbers (np.bool_, np.int64, np.float32). In each,"
        " what makes one dtype stronger than another? Kind first, then width.",
        "rank(dtype): a tuple, the kind as a number (bool 0, integers of both sorts 1, floats 2), then dtype.itemsize."
        " The best of a group is max(group, key=rank).",
        "The tensors' best wins, unless the numbers' best is of a higher kind: compare rank(...)[0] only. If one group"
        " is empty, the other decides. np.asarray(value).dtype.kind is the kind of a number, also of NumPy's own.",
    ),
)
SECTION = "Promotion: which type comes out"
DTYPES = ("bool", "uint8", "int32", "int64", "float16", "float32", "float64")
NUMBERS: dict[str, Any] = {"True": True, "2": 2, "2.5": 2.5, "np.float64(2.5)": np.float64(2.5)}
OF_NUMBER = {"True": "bool", "2": "int64", "2.5": "float32", "np.float64(2.5)": "float32"}


def kind(dtype: str) -> int:
    return {"b": 0, "u": 1, "i": 1, "f": 2}[np.dtype(dtype).kind]


def truth(tensors: tuple[str, ...], numbers: tuple[str, ...]) -> str:
    """The widest tensor of the highest kind; a number's dtype only if its kind is higher still."""
    numbers = tuple(OF_NUMBER[number] for number in numbers)
    top = max(map(kind, tensors + numbers))
    candidates = [t for t in tensors if kind(t) == top] or [t for t in numbers if kind(t) == top]
    return max(candidates, key=lambda dtype: np.dtype(dtype).itemsize)


def ask(mini: Any, tensors: tuple[str, ...], numbers: tuple[str, ...], why: dict[str, str], general: str) -> None:
    values = [mini.tensor.fake((2,), t) for t in tensors] + [NUMBERS[n] for n in numbers]
    expected = truth(tensors, numbers)
    for order in (values, values[::-1]):
        got = outcome(mini.ops.promote, tuple(order))
        if not isinstance(got, np.dtype) or got != np.dtype(expected):
            said = " and ".join([*(f"a {t} tensor" for t in tensors), *(f"the number {n}" for n in numbers)])
            raise WrongAnswer(f"promote of {said}: expected {expected}, got {got!r}", why.get(str(got), general))


@OWN_PROMOTION.case("tensors: the kind first, then the width", points=2, section=SECTION)
def _(mini: Any) -> None:
    pairs = itertools.combinations_with_replacement(DTYPES, 2)
    for pair in sorted(pairs, key=lambda pair: "uint8" in pair):
        kinds = [kind(t) for t in pair]
        why = "Width decides only between dtypes of one kind. A float beside an integer stays as wide as it is."
        if set(pair) & {"uint8"} and kinds[0] == kinds[1]:
            why = "Signed or not, both are integers: one kind, in which the wider one wins."
        elif kinds[0] == kinds[1]:
            why = "Of two dtypes of one kind the wider one comes out, whichever comes first."
        ask(mini, pair, (), {}, why)


@OWN_PROMOTION.case("numbers alone", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = "A Python float names no width; where it decides, it is a float32, an integer an int64, True a bool."
    for number in NUMBERS:
        ask(mini, (), (number,), {}, why)
    ask(mini, (), ("True", "2"), {}, why)


@OWN_PROMOTION.case("a number beside a tensor", points=2, section=SECTION)
def _(mini: Any) -> None:
    for tensor, number in itertools.product(DTYPES, NUMBERS):
        why = (
            "A number beside a tensor of its own kind, or of a higher one, changes nothing: it has no"
            " width to insist on."
        )
        if kind(OF_NUMBER[number]) > kind(tensor):
            why = "A number of a higher kind lifts the result to its kind: integers can't hold 2.5, nor bools 2."
        ask(mini, (tensor,), (number,), {}, why)
    ask(mini, ("int32", "int64"), ("2.5",), {}, "All tensors count, and all numbers.")
    ask(mini, ("float16", "int64"), ("2.5", "2"), {}, "All tensors count, and all numbers.")
