"""Exercise 10.2: the batching rule of a matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.func.batch_tensor import BatchTensor
from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.tensor import Tensor, ops

from .counting import measured

MATRIX_PRODUCTS = Exercise(
    "10.2",
    "a rule for matrix products",
    answer="product",
    minutes=15,
    place="func.mm",
    hints=(
        "If mat2 differs between the examples there is no way round torch.bmm, which wants a batch on both sides.",
        "batch.spread(x) has the batch in front, for a tensor that is batched and for one that is not.",
        "If mat2 is the same for all: reshape input.value to (size * n, k), one product, reshape to (size, n, m).",
    ),
)
SECTION = "Products: one tall matrix"
SIZE = 3
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "einsum")


def batch_of(*sizes: int, first: float) -> Tensor:
    count = torch.Size(sizes).numel()
    return torch.linspace(first, first + 1, count, dtype=torch.float64).reshape(sizes)


def judge(answer: Callable[..., Any], text: str, own_input: bool, own_mat2: bool) -> None:
    x, y = batch_of(SIZE, 2, 4, first=0.0), batch_of(SIZE, 4, 5, first=-1.0)
    batch = Batch(level=1, size=SIZE)
    input_ = BatchTensor.of(x, 1) if own_input else x[0]
    mat2 = BatchTensor.of(y, 1) if own_mat2 else y[0]
    got, work = measured(answer, batch, ops.mm, input_, mat2)
    rows = [(x[i if own_input else 0], y[i if own_mat2 else 0]) for i in range(SIZE)]
    expected = torch.stack([a @ b for a, b in rows])
    if not isinstance(got, Tensor) or isinstance(got, BatchTensor):
        raise WrongAnswer(f"{text}: expected a tensor of sizes [3, 2, 5], got {got!r}", "A rule returns the batch.")
    if got.shape == expected.shape[1:]:
        raise WrongAnswer(
            f"{text}: expected sizes [3, 2, 5], got {list(got.shape)}",
            "That is the product of one example. A rule computes with whole batches: x.value, or batch.spread(x).",
        )
    if got.shape != expected.shape:
        raise WrongAnswer(
            f"{text}: expected sizes [3, 2, 5], got {list(got.shape)}",
            "A rule returns a value with the batch as first dimension: cut the tall matrix up again.",
        )
    if not torch.allclose(got, expected):
        raise WrongAnswer(
            f"{text}: of right sizes, with wrong numbers in it",
            "In the tall matrix the rows of one example lie together, so the batch comes first when it is cut up.",
        )
    products = [name for name in work.names if name in PRODUCTS]
    if len(products) > 1:
        raise WrongAnswer(
            f"{text}: {len(products)} products for {SIZE} examples: {products}",
            "That is the loop that vmap is there to avoid. One product is enough.",
        )
    if products != ["mm"] and not own_mat2:
        raise WrongAnswer(
            f"{text}: it was done by {products or 'no product at all'}",
            "One mm of a tall matrix will do here, since the second matrix is the same for all.",
        )


@MATRIX_PRODUCTS.case("the second matrix is the same for all", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "three inputs of (2, 4), one mat2 of (4, 5)", own_input=True, own_mat2=False)


@MATRIX_PRODUCTS.case("the second matrix differs", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "three inputs of (2, 4), three mat2 of (4, 5)", own_input=True, own_mat2=True)
    judge(answer, "one input of (2, 4), three mat2 of (4, 5)", own_input=False, own_mat2=True)


@MATRIX_PRODUCTS.case("in the package, a vmap inside a vmap", points=1, section="Batches of batches")
def _(answer: Callable[..., Any]) -> None:
    x, y = batch_of(2, 3, 4, first=0.0), batch_of(5, 4, 2, first=-1.0)
    got = None
    try:
        with splice("func.mm", answer):
            got = torch.func.vmap(lambda a: torch.func.vmap(lambda b: torch.mm(a, b))(y))(x)
    except Exception as error:
        raise WrongAnswer(f"each of two matrices times each of five: {type(error).__name__}: {error}") from error
    expected = torch.stack([torch.stack([a @ b for b in y]) for a in x])
    if not isinstance(got, Tensor) or got.shape != expected.shape or not torch.allclose(got, expected):
        raise WrongAnswer(
            "each of two matrices times each of five: not what a loop gives",
            "One batch lies inside the other: only what batch.holds(x) is yours; take everything else as it is.",
        )
