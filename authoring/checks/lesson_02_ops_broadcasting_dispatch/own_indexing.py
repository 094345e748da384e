"""Exercise 02.8: x[...] is one view after the other, and x[...] = y is a write into it."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import attempt, must_raise
from .mini_results import judge, judge_tensor

OWN_INDEXING = Step(
    "02.8",
    "indexing",
    file="ops",
    minutes=25,
    hints=(
        "Make the key a tuple, and put as many slice(None) in place of ... as dimensions are left over. Then go through"
        " the key with a counter of x's dimensions. Which kinds of entries use up a dimension, which appear"
        " in the result?",
        "Every number and slice becomes slice_(x, dim, start, stop, step); a number k is the slice from k to k + 1, its"
        " dimension of size 1 is left out at the end. None adds a 1. Collect the sizes of the result on the way.",
        "k.indices(size) gives start, stop, step of a slice, wrapped and clipped. At the end view(x, tuple(sizes) +"
        " x.sizes[dim:]). None and ... don't count among the dimensions that the key names.",
    ),
)
SECTION = "An op is a kernel and a promise"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def key_text(key: Any) -> str:
    def one(k: Any) -> str:
        if isinstance(k, slice):
            parts = ["" if p is None else str(p) for p in (k.start, k.stop)]
            return ":".join(parts) + (f":{k.step}" if k.step else "")
        return "..." if k is Ellipsis else str(k)

    return ", ".join(map(one, key)) if isinstance(key, tuple) else one(key)


def ask(mini: Any, keys: list[Any], why: str) -> None:
    for key in keys:
        x = mini.tensor.from_numpy(X)
        got = judge(f"x[{key_text(key)}], x of sizes {X.shape}", partial(mini.ops.getitem, x, key), X[key], why)
        if got.storage is not x.storage:
            moved = "x[...] is a view of x's storage: no numbers are moved, or x[...] = y could not write into x."
            raise WrongAnswer(f"x[{key_text(key)}]: its storage is another one than x's", moved)


@OWN_INDEXING.case("numbers choose, and their dimension goes", points=2, section=SECTION)
def _(mini: Any) -> None:
    ask(mini, [0, 1, (0, 2), (1, 2, 3)], "A number names one element of a dimension, and that dimension is left out.")
    ask(mini, [-1, (-2, -1), (0, -3)], "A negative number counts from the end: wrap(k, size).")
    x = mini.tensor.from_numpy(X)
    for key in (2, -3, (0, 3)):
        why = "A number outside is an IndexError: by it Python knows, too, where `for row in x` ends."
        must_raise(f"x[{key_text(key)}], x of sizes {X.shape}", why, partial(mini.ops.getitem, x, key), kind=IndexError)


@OWN_INDEXING.case("slices take part of a dimension", points=2, section=SECTION)
def _(mini: Any) -> None:
    whole = slice(None)
    cut = [slice(1, None), slice(0, 1), (whole, slice(1, 3)), (whole, slice(-2, None)), (whole, whole, slice(1, 9))]
    ask(mini, cut, "A slice keeps its dimension; slice.indices(size) says where it begins and ends. Others stay whole.")
    steps = [(whole, whole, slice(None, None, 2)), (whole, slice(1, None, 2)), (whole, whole, slice(0, 3, 3))]
    ask(mini, steps, "The third of slice.indices is the step: hand it on.")
    ask(mini, [(whole, slice(2, 1)), slice(5, None)], "A slice may be empty: a size of 0.")
    ask(
        mini,
        [(0, whole, slice(1, 3)), (whole, 1, slice(0, 2))],
        "A slice after a number belongs to the next dimension.",
    )
    x = mini.tensor.from_numpy(X)
    why = "PyTorch has no negative steps, and neither have we: a ValueError."
    must_raise("x[::-1]", why, lambda: mini.ops.getitem(x, slice(None, None, -1)), kind=ValueError)


@OWN_INDEXING.case("None adds a dimension, ... stands for those left over", points=2, section=SECTION)
def _(mini: Any) -> None:
    whole = slice(None)
    new = "None uses up no dimension of x, and puts one of size 1 into the result."
    ask(mini, [None, (whole, None), (0, None, 1), (None, 1, None), (whole, whole, whole, None)], new)
    rest = "... stands for as many whole dimensions as the numbers and slices leave over; it may be none."
    ask(mini, [..., (..., 0), (0, ..., 1), (1, ...), (0, 1, 2, ...), (..., slice(1, 3))], rest)
    ask(
        mini,
        [(..., None), (None, ..., 0), (0, None, ..., slice(0, 1))],
        "None names no dimension: don't count it for ...",
    )


@OWN_INDEXING.case("x[...] = y writes", points=2, section=SECTION)
def _(mini: Any) -> None:
    wide = mini.tensor.tensor([1.0, 2.0], "float64")
    attempt(mini.ops.setitem, wide, 0, 0.1)
    if wide.tolist() == [float(np.float32(0.1)), 2.0]:
        why = "The number becomes a tensor of x's own dtype: full((), value, x.dtype). By float32 it loses digits."
        raise WrongAnswer(f"x of float64, x[0] = 0.1: x is {wide.tolist()}", why)
    for key, value in ((0, 7), ((slice(None), 1), 2.5), ((..., slice(None, None, 2)), X[:, :, :2] + 50), (1, X[0])):
        x, wanted = mini.tensor.tensor(X), X.copy()
        wanted[key] = value
        number = not isinstance(value, np.ndarray)
        why = (
            "A number is made a tensor first: full((), value, x.dtype)."
            if number
            else "It is copy_ into the view x[key]."
        )
        said = f"x after x[{key_text(key)}] = {value if number else 'an array'}"
        try:
            mini.ops.setitem(x, key, value if number else mini.tensor.tensor(value))
        except NotImplementedError as error:
            raise NotWritten(str(error)) from error
        except Exception as error:
            raise WrongAnswer(f"{said}: it raised {error!r}", why) from error
        judge_tensor(said, x, wanted, why)
