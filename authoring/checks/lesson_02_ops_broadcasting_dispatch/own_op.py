"""Exercise 02.2: an op is called: the layers see it from the top down, and at the bottom it computes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step
from minitorch_compile.course.far.there import there

from .mini_results import float32s, judge, judge_fake, judge_tensor

OWN_OP = Step(
    "02.2",
    "ops, and the stack of layers",
    file="ops",
    minutes=20,
    hints=(
        "A layer that is asked will mostly call the op again, to get the result that it then notes. Who must answer"
        " that second call? So where must the layer itself be meanwhile, and where afterwards, also after an error?",
        "Take the last layer off STACK, return layer.call(self, args), and put it back in a `finally`. With an empty"
        " STACK return self.run(*args).",
        "run: sizes, dtype = self.shape(*args); if any argument is a fake tensor, fake(sizes, dtype). Otherwise the"
        " kernel gets arg.numpy() of tensors and other arguments as they are; np.asarray(result, dtype, order='C').",
    ),
)
SECTION = "One door"
KERNEL = "An op is a kernel and a promise"
AGAIN = (
    "A layer that calls the op again is asked again, for ever. While it answers, it must not be on the stack: what it"
    " calls is for the layers below."
)


def kernel(x: Any, n: Any) -> Any:
    if not isinstance(x, np.ndarray):
        raise TypeError(f"the kernel works on arrays, and got a {type(x).__name__}")
    return x / n


def halves(mini: Any) -> Any:
    """An op: x / n, said to be a float32 of x's sizes."""

    class Halves(mini.ops.Op):
        def shape(self, x: Any, n: int) -> Any:
            return x.sizes, np.dtype(np.float32)

    return Halves("halves", kernel)


@there
def without_warning(op: Any, *args: Any) -> Any:
    """A warning is an error, where the op computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return op(*args)


def watched(mini: Any, names: list[str], act: Any, deeper: bool = True) -> tuple[list[str], Any]:
    """Who saw a call while these layers were entered, in order; and what came."""
    seen: list[str] = []

    class Watch(mini.ops.Layer):
        def __init__(self, name: str) -> None:
            self.name = name

        def call(self, op: Any, args: Any) -> Any:
            seen.append(self.name)
            if len(seen) > 6:
                raise RecursionError("one call is seen again and again")
            return op(*args) if deeper else "an answer"

    layers, before = [Watch(name) for name in names], list(mini.ops.STACK)
    mini.ops.STACK[:] = layers
    try:
        return seen, outcome(act, ())
    finally:
        mini.ops.STACK[:] = before


@OWN_OP.case("without layers the kernel computes", points=1, section=KERNEL)
def _(mini: Any) -> None:
    got = outcome(lambda: vars(mini.ops.Op("twice", abs, shape=max, floats=True)), ())
    if got != {"name": "twice", "kernel": abs, "shape": max, "floats": True}:
        why = "Whatever facts are given become attributes: so a row may have a shape rule of its own."
        raise WrongAnswer(f"Op('twice', abs, shape=max, floats=True) has the attributes {got!r}", why)
    op, x = halves(mini), mini.tensor.tensor([1, 2, 4])
    arrays = "The kernel works on NumPy's arrays: give it arg.numpy() of a tensor, and what is no tensor as it is."

    def plainly() -> Any:
        return watched(mini, [], lambda: op(x, 2))[1]

    got = plainly()
    if not hasattr(got, "storage"):
        raise WrongAnswer(f"halves([1, 2, 4], 2): expected a tensor, got {got!r}", arrays)
    why = "The result has the dtype that op.shape promised, whatever NumPy made of it."
    judge("halves([1, 2, 4], 2), whose shape says float32", plainly, float32s([0.5, 1, 2]), why)


@OWN_OP.case("a fake begets a fake", points=1, section="One op, put together")
def _(mini: Any) -> None:
    op, fake = halves(mini), mini.tensor.fake
    why = "A fake has no numbers for a kernel. Sizes and dtype are known from op.shape: give a fake of these."
    judge_fake("halves(fake((10**6, 10**6)), 2)", lambda: op(fake((10**6, 10**6)), 2), (10**6, 10**6), "float32", why)


@OWN_OP.case("1 / 0 is inf, and no warning", points=1, section=KERNEL)
def _(mini: Any) -> None:
    op, x = halves(mini), mini.tensor.tensor([1])
    why = "NumPy warns, PyTorch doesn't: run the kernel under np.errstate(all='ignore')."
    judge("halves([1], 0)", lambda: without_warning(op, x, 0), float32s([np.inf]), why)


@OWN_OP.case("layers see a call from the top down", points=2, section=SECTION)
def _(mini: Any) -> None:
    op, x = halves(mini), mini.tensor.tensor([4])
    for names in (["only"], ["low", "high"], ["low", "middle", "high"]):
        try:
            seen, got = watched(mini, names, lambda: op(x, 2))
        except RecursionError as error:
            raise WrongAnswer(f"an op called under layers {names}: it never came to an end", AGAIN) from error
        if seen == names[::-1]:
            judge_tensor(f"halves([4], 2) under layers {names}", got, float32s([2]), "Hand on the answer.")
            continue
        why = "Each layer sees the call once: the top one first, and what that calls itself goes to the one below."
        if len(seen) > len(names):
            why = AGAIN
        if not seen:
            why = "No layer was asked. Only where the stack is empty does an op run by itself."
        if seen == names:
            why = "The lowest layer was asked first. What was entered last stands on top, and sees a call first."
        raise WrongAnswer(f"layers {names}, the last on top: expected {names[::-1]} to see it, got {seen}", why)
    seen, got = watched(mini, ["low", "high"], lambda: op(x, 2), deeper=False)
    if got != "an answer" or seen != ["high"]:
        why = "What the layer returns is the call's result. If it doesn't call the op, nobody below hears of it."
        raise WrongAnswer(f"the top layer returned 'an answer' and called nothing: got {got!r}, seen by {seen}", why)


@OWN_OP.case("the stack is whole again, also after an error", points=1, section=SECTION)
def _(mini: Any) -> None:
    op, x = halves(mini), mini.tensor.tensor([4])
    why = "An op that fails must not take a layer with it: put it back in a `finally`, which runs after errors, too."
    for said, n in (("halves([4], 2)", 2), ("halves([4], None), which fails", None)):
        left: list[int] = []

        def act(n: Any = n, left: list[int] = left) -> None:
            outcome(op, (x, n))
            left.append(len(mini.ops.STACK))

        watched(mini, ["low", "high"], act)
        if left != [2]:
            raise WrongAnswer(f"after {said} under two layers: expected both on the stack, found {left[0]}", why)
