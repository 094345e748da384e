"""Exercise 12.1: broadcasting as a prim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import minitorch_compile as torch
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome
from minitorch_compile.course.splicing.splice import splice
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.dispatch import mode
from minitorch_compile.tensor.dispatch.op import Op

BROADCAST = Exercise(
    "12.1",
    "broadcasting made explicit",
    answer="broadcast_to",
    minutes=8,
    place="prims.broadcast_to",
    hints=(
        "Which dimension of the result does the last dimension of x become? And the one before it?",
        "If x has k dimensions and the result n, then dimension i of x becomes dimension n - k + i.",
        "prims.broadcast_in_dim(x, tuple(sizes), tuple(range(n - k, n))), and x itself if it has the sizes already.",
    ),
)
SECTION = "What an operation hides"
Sizes = tuple[int, ...]


class Names:
    """Notes which ops are called, views included."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.names.append(op.name)
        return op(*args, **kwargs)


def judge(answer: Callable[..., Any], pairs: list[tuple[Sizes, Sizes]]) -> None:
    for have, want in pairs:
        x = torch.arange(torch.Size(have).numel(), dtype=torch.float64).reshape(have)
        with mode(Names()) as called:
            got = outcome(answer, (x, torch.Size(want)))
        text = f"x of {have} to {want}"
        if not isinstance(got, Tensor):
            raise WrongAnswer(
                f"{text}: expected a tensor, got {got!r}", "The last dimension of x is the last one of the result."
            )
        if tuple(got.shape) != want or not torch.equal(got, x.expand(want)):
            raise WrongAnswer(
                f"{text}: got sizes {tuple(got.shape)}, or other numbers", "Compare with x.expand(sizes)."
            )
        if have == want and got is not x:
            raise WrongAnswer(
                f"{text}: a new tensor was made", "x has these sizes already: a prim less is a kernel less."
            )
        if have != want and called.names != ["broadcast_in_dim"]:
            raise WrongAnswer(f"{text}: it took {called.names}", about_work(called.names))


def about_work(names: list[str]) -> str:
    if "reshape" in names:
        return "One prim is enough: broadcast_in_dim stretches and adds dimensions in one go."
    return "expand is an op with strides of 0, which prims don't have. The prim is broadcast_in_dim."


@BROADCAST.case("more dimensions", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((3,), (2, 3)), ((), (2,)), ((3,), (4, 2, 3)), ((3, 2), (3, 3, 2))])


@BROADCAST.case("sizes of 1 are stretched", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((1,), (3,)), ((3, 1), (3, 4)), ((2, 1, 3), (4, 2, 5, 3)), ((1, 1), (0, 2))])


@BROADCAST.case("nothing to do, and in the running package", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, [((2, 3), (2, 3)), ((), ())])
    x, row = torch.ones(2, 3), torch.arange(3.0)
    with splice("prims.broadcast_to", answer):
        got = torch.compile(lambda x, y: (x * y + 1).sum(0), backend="aot_eager_decomp_partition")(x, row)
    if not torch.equal(got, (x * row + 1).sum(0)):
        raise WrongAnswer(
            f"(x * y + 1).sum(0) with your function in the package: {got}", "Return what the prim returns."
        )
