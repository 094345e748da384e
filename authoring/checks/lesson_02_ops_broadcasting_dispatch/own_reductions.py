"""Exercise 02.5: ops in which the elements of a dimension meet: reductions and products."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .mini_results import judge, judge_fake

OWN_REDUCTIONS = Step(
    "02.5",
    "reductions and products",
    file="ops",
    minutes=15,
    hints=(
        "shape must say of a fake what the kernel does to numbers. A reduction: go through the sizes; one that is"
        " reduced becomes 1, or is left out. A product of (..., n, k) and (..., k, m): what happens to `...`?",
        "Reduction: 1 if d in dims else n, for those d that are kept (keepdim or d not in dims). Product: check the"
        " inner sizes, then broadcast_sizes(x.sizes[:-2], y.sizes[:-2]) + (rows of x, columns of y).",
        "sizes = tuple(1 if d in dims else n for d, n in enumerate(x.sizes) if keepdim or d not in dims). amax is x.max"
        " with the same two arguments, matmul np.matmul. `sum` of what is no float gives int64.",
    ),
)
KERNEL = "An op is a kernel and a promise"
TOGETHER = "One op, put together"
X = np.array([[[1.0, 5.0, 2.0], [4.0, 0.0, -3.0]]], np.float32)


@OWN_REDUCTIONS.case("sums and maxima over any dimensions", points=2, section=KERNEL)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.from_numpy(X)
    for dims, keepdim in itertools.product(((0,), (1,), (2,), (0, 2), (0, 1, 2)), (False, True)):
        why = "The kernel has to be told both: which dimensions, and whether they stay with size 1."
        said = f"(x, {dims}, {keepdim}) of sizes {X.shape}"
        judge(f"sum{said}", partial(ops.sum_, x, dims, keepdim), X.sum(dims, keepdims=keepdim), why)
        judge(f"amax{said}", partial(ops.amax, x, dims, keepdim), X.max(dims, keepdims=keepdim), why)


@OWN_REDUCTIONS.case("shape says the same of fakes", points=2, section=TOGETHER)
def _(mini: Any) -> None:
    ops, fake = mini.ops, mini.tensor.fake
    for dims, keepdim in itertools.product(((0,), (2,), (0, 2), (0, 1, 2)), (False, True)):
        why = "With keepdim a reduced dimension stays, of size 1." if keepdim else "Without keepdim it is left out."
        sizes = np.empty((2, 3, 4)).sum(dims, keepdims=keepdim).shape
        said = f"sum(fake((2, 3, 4)), {dims}, {keepdim})"
        judge_fake(said, partial(ops.sum_, fake((2, 3, 4)), dims, keepdim), sizes, "float32", why)


@OWN_REDUCTIONS.case("sums of integers and bools are int64", points=1, section="Promotion: which type comes out")
def _(mini: Any) -> None:
    ops, tensor = mini.ops, mini.tensor.tensor
    why = (
        "A sum of bools counts, and three hundred bytes of 1 must not add up to 44: it is an"
        " int64. amax widens nothing."
    )
    judge("sum([True, True])", lambda: ops.sum_(tensor([True, True]), (0,), False), np.int64(2), why)
    judge("sum(uint8 [200, 100])", lambda: ops.sum_(tensor([200, 100], "uint8"), (0,), False), np.int64(300), why)
    judge("amax(uint8 [200, 100])", lambda: ops.amax(tensor([200, 100], "uint8"), (0,), False), np.uint8(200), why)
    judge("sum(float64 [0.5])", lambda: ops.sum_(tensor([0.5], "float64"), (0,), False), np.float64(0.5), why)


@OWN_REDUCTIONS.case("products: inner sizes, outer sizes, dtypes", points=2, section=TOGETHER)
def _(mini: Any) -> None:
    ops, fake = mini.ops, mini.tensor.fake
    x, y = X[0], X[0].T.copy()
    rows = "(n, k) @ (k, m) is (n, m); what stands in front of these two dimensions broadcasts."
    judge("matmul of (2, 3) and (3, 2)", lambda: ops.matmul(*map(mini.tensor.from_numpy, (x, y))), x @ y, rows)
    for a, b, sizes in (
        ((2, 3), (3, 5), (2, 5)),
        ((7, 2, 3), (3, 5), (7, 2, 5)),
        ((2, 3), (7, 3, 5), (7, 2, 5)),
        ((4, 1, 2, 3), (6, 3, 5), (4, 6, 2, 5)),
    ):
        judge_fake(f"matmul({a}, {b})", partial(ops.matmul, fake(a), fake(b)), sizes, "float32", rows)
    wide = "The dtype of a product is promoted, too: float64 comes out if one of both is."
    judge_fake(
        "matmul(float32, float64)",
        lambda: ops.matmul(fake((2, 2)), fake((2, 2), "float64")),
        (2, 2),
        "float64",
        wide,
    )
    why = "The columns of x meet the rows of y: say so with a RuntimeError, also of fakes, before a kernel is asked."
    for c, d in (((2, 3), (2, 3)), ((2, 1), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,))):
        said = f"matmul(fake({c}), fake({d}))"
        must_raise(said, why, partial(ops.matmul, fake(c), fake(d)), kind=RuntimeError)
