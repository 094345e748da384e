"""Exercise 10.6: vmap."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried
from ..lesson_08_autograd.nudging import doubles
from .looping import numbers

OWN_VMAP = Step(
    "10.6",
    "vmap",
    file="transforms",
    minutes=20,
    hints=(
        "in_dims is one number for all arguments, or a tuple. Pair arguments and dims, and take the set"
        " of x.sizes[dim] of those that"
        " have one: it must have one member.",
        "Inside `with Batch() as layer:` call function with Box(layer, moved_to_front(x, dim)), or with x"
        " itself where dim is None.",
        "The result: its .value if it is a box of this layer, else it is the same for all examples: expand it to"
        " (*sizes, *result.sizes). moved_to_front: permute(x, (dim, and all others in their order)).",
    ),
)


def check_result(text: str, wanted: np.ndarray, got: Any, why: str) -> None:
    if not hasattr(got, "layout") or got.is_fake or got.sizes != wanted.shape or not np.allclose(got.numpy(), wanted):
        raise WrongAnswer(f"{text}: expected {np.round(wanted, 3).tolist()}, got {got!r}", why)


@OWN_VMAP.case("for a whole batch", points=1, section="One example stands for all")
def _(mini: Any) -> None:
    vmap, x, y = mini.transforms.vmap, numbers((2, 3)), numbers((3,))
    f = lambda row, other: row * other.sum()
    got = tried("vmap(f, (0, None))(x, y)", "", vmap(f, (0, None)), doubles(mini, x), doubles(mini, y))
    check_result(
        "vmap(lambda row, other: row * other.sum(), (0, None))", x * y.sum(), got, "None: the argument is shared."
    )
    got = tried("vmap(f)(x, x)", "", vmap(f), doubles(mini, x), doubles(mini, x))
    check_result(
        "vmap(lambda row, other: row * other.sum())(x, x)",
        x * x.sum(1, keepdims=True),
        got,
        "One number is for all arguments.",
    )


@OWN_VMAP.case("which dimension is the batch", points=1, section="The package's own")
def _(mini: Any) -> None:
    x = numbers((2, 3, 4))
    why = "That dimension moves to the front, and all others keep their order."
    for dim in (0, 1, 2, -1):
        wanted = np.moveaxis(x, dim, 0) * np.arange(1.0, 1 + np.moveaxis(x, dim, 0).shape[-1])
        weights = doubles(mini, np.arange(1.0, 1 + wanted.shape[-1]))
        got = tried(
            f"in_dims={dim}", why, mini.transforms.vmap(lambda e, w: e * w, (dim, None)), doubles(mini, x), weights
        )
        check_result(f"x of (2, 3, 4), in_dims={dim}: vmap(lambda e: e * weights)", wanted, got, why)


@OWN_VMAP.case("what comes out", points=1, section="What a rule must not forget")
def _(mini: Any) -> None:
    x, shared = numbers((2, 3)), doubles(mini, numbers((3,)))
    why = "A result that is the same for all examples is there once for each of them: expand it."
    got = tried("vmap(lambda e: shared)", why, mini.transforms.vmap(lambda e: shared), doubles(mini, x))
    check_result("vmap(lambda e: shared) of 2 examples", np.stack([shared.numpy()] * 2), got, why)


@OWN_VMAP.case("batches of batches", points=2, section="Batches of batches")
def _(mini: Any) -> None:
    vmap, x, y = mini.transforms.vmap, numbers((2, 3)), numbers((4, 3))
    why = "A box of the outer vmap is no result of the inner one: open only boxes whose layer is this one."
    pairs = vmap(lambda a: vmap(lambda b: (a * b).sum())(doubles(mini, y)))
    got = tried("vmap in vmap", why, pairs, doubles(mini, x))
    check_result("vmap(lambda a: vmap(lambda b: (a * b).sum())(y))(x)", x @ y.T, got, why)
    outer = vmap(lambda a: vmap(lambda b: a)(doubles(mini, y)))
    got = tried("vmap in vmap", why, outer, doubles(mini, x))
    check_result("vmap(lambda a: vmap(lambda b: a)(y))(x)", np.broadcast_to(x[:, None], (2, 4, 3)), got, why)


@OWN_VMAP.case("one size", points=1, section="What a rule must not forget")
def _(mini: Any) -> None:
    for sizes, dims in (((2, 3), 0), ((2,), None)):
        args = [doubles(mini, numbers((n,))) for n in sizes]
        why = "All batches have one and the same size, and there is at least one: else a ValueError."
        try:
            got = mini.transforms.vmap(lambda *xs: xs[0], dims)(*args)
        except ValueError:
            continue
        except (RuntimeError, StopIteration, LookupError, TypeError) as error:
            raise WrongAnswer(f"batches of {sizes}, in_dims={dims}: {type(error).__name__}: {error}", why) from error
        raise WrongAnswer(f"batches of {sizes}, in_dims={dims}: got {got!r}", why)
    expect("layers that are still entered", 1, len(mini.ops.STACK), "Only the tape is left: use `with`.")
