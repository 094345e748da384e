"""Exercise 02.7: what users call: dimensions from the end, none for all, sizes with -1."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import Misconception, WrongAnswer, agree, outcome
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .mini_results import judge

OWN_DIMENSIONS = Step(
    "02.7",
    "dimensions and sizes as users give them",
    file="ops",
    minutes=20,
    hints=(
        "The ops take one exact form: dimensions as a tuple, counted from the front; sizes as a tuple without -1. These"
        " functions bring what users write into that form, and call the ops.",
        "all_dims: None is all of them, an int is a tuple of one, anything else is gone through; wrap(d, x.dim()) turns"
        " each. mean divides by the number of elements that were added up, which is the product of some sizes.",
        "reshape: sizes may come as one tuple. -1 becomes x.numel() // (product of the others), if that product isn't"
        " 0. Then view(x if x.layout.view(sizes) else clone(x), sizes).",
    ),
)
SECTION = "One op, put together"
KERNEL = "An op is a kernel and a promise"
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
DIMS: list[Any] = [None, 0, 2, -1, -3, (0,), (0, 2), (1, -1), [0, 1]]
MISTAKES = (
    Misconception(
        "A negative dimension counts from the end, and the ops count from the front: wrap(d, x.dim()).",
        lambda dim: tuple(range(3)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim),
    ),
    Misconception(
        "None means all dimensions, not the first.",
        lambda dim: (0,) if dim is None else tuple(d % 3 for d in ((dim,) if isinstance(dim, int) else dim)),
    ),
)


def axes(dim: Any) -> tuple[int, ...]:
    return tuple(range(3)) if dim is None else tuple(d % 3 for d in ((dim,) if isinstance(dim, int) else dim))


@OWN_DIMENSIONS.case("all_dims: a number, some numbers, all", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.fake((2, 3, 4))

    def all_dims(dim: Any) -> Any:
        return mini.ops.all_dims(x, dim)

    agree(
        all_dims, axes, [(dim,) for dim in DIMS], MISTAKES, "A tuple of numbers from 0 on, in the order that was given."
    )
    why = "wrap raises an IndexError for a dimension that there isn't."
    for dim in (3, -4, (0, 3)):
        must_raise(f"all_dims of three dimensions, {dim}", why, partial(all_dims, dim), kind=IndexError)


@OWN_DIMENSIONS.case("sum, amax and mean", points=2, section=KERNEL)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.from_numpy(X)
    functions = (("sum", ops.sum, np.sum), ("max_over", ops.max_over, np.max), ("mean", ops.mean, np.mean))
    for (name, function, oracle), dim, keep in itertools.product(functions, DIMS, (False, True)):
        why = "Bring dim into form with all_dims, and hand keepdim on."
        if name == "mean":
            why = (
                "A mean divides by how many elements were added up: the product of the sizes of the reduced dimensions."
            )
        wanted = oracle(X, axis=axes(dim), keepdims=keep)
        said = f"{name}(x, {dim}, {keep}) of sizes {X.shape}"
        judge(said, partial(function, x, dim, keep), wanted, why)


@OWN_DIMENSIONS.case("transpose: two dimensions change places", points=1, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.from_numpy(X)
    for a, b in ((0, 1), (1, 2), (0, 2), (1, 1), (-1, 0), (-2, -1)):
        why = "Exchange two entries of the list of all dimensions; a list can be indexed from the end, too."
        got = judge(f"transpose(x, {a}, {b})", partial(ops.transpose, x, a, b), np.swapaxes(X, a, b), why)
        if got.storage is not x.storage:
            raise WrongAnswer(f"transpose(x, {a}, {b}): numbers were moved", "It is a permute, hence a view.")


@OWN_DIMENSIONS.case("reshape: sizes one by one, in a tuple, with -1", points=1, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.from_numpy(X)
    rest = "-1 stands for what is left: the number of elements, divided by the product of the other sizes."
    for sizes in ((6, 4), ((6, 4),), ([4, 6],), (24,), (-1,), (2, -1), (3, -1, 2), (1, 24, 1)):
        flat = sizes[0] if isinstance(sizes[0], tuple | list) else sizes
        why = rest if -1 in flat else "Sizes may come one by one, or as one tuple or list."
        judge(f"reshape(x, {', '.join(map(str, sizes))})", partial(ops.reshape, x, *sizes), X.reshape(flat), why)
    why = "Without elements -1 could be any number, and dividing by 0 says nothing to a user: raise a RuntimeError."
    empty = mini.tensor.tensor([])
    must_raise("reshape(tensor([]), 0, -1)", why, lambda: ops.reshape(empty, 0, -1), kind=RuntimeError)


@OWN_DIMENSIONS.case("reshape: a view where it can be, a copy where it must", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.from_numpy(X)
    got = outcome(ops.reshape, (x, 4, 6))
    if got.storage is not x.storage:
        why = "A copy was made where strides would have done: ask x.layout.view first."
        raise WrongAnswer("reshape(x, 4, 6) of a dense x: expected x's storage, got another", why)
    turned = mini.tensor.Tensor(x.storage, x.layout.permute((2, 1, 0)))
    why = "Here no strides can do it (the layout's view is None): clone first, and view the clone."
    judge("reshape(x.permute(2, 1, 0), 24)", lambda: ops.reshape(turned, 24), X.T.reshape(24), why)
