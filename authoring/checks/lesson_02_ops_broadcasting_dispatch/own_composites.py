"""Exercise 02.9: ops that need no kernel, since they are written in others."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .mini_results import float32s, judge, judge_tensor

OWN_COMPOSITES = Step(
    "02.9",
    "ops made of ops",
    file="ops",
    minutes=20,
    hints=(
        "Whatever is written in ops has its gradient, its batched form and its kernel for nothing, once the ops have"
        " them. cat: slice_backward(t, dim, size, start, 1) puts t among zeros. How do two such parts become"
        " one tensor?",
        "cat: the total size first, then each part at its start, all added up. power: x ** n is x ** (n - 1) times x,"
        " down to n == 1. in_place gives a function that writes op(x, y) into x.",
        "gelu: x * sigmoid(1.5957691216 * (x + 0.044715 * x**3)). power: whatever is no int"
        " from 1 on is a NotImplementedError. in_place(op): lambda x, y: copy_(x, op(x, y)). log_softmax:"
        " x = x - detach(max_over(x, dim, True)), then x - log(sum(exp(x), dim, True)); softmax is exp of that.",
    ),
)
SECTION = "One op, put together"
X = np.array([[1.0, -2.0], [3.0, 0.5]], np.float32)


@OWN_COMPOSITES.case("cat: side by side along a dimension", points=2, section=SECTION)
def _(mini: Any) -> None:
    arrays = [X, X[:, :1] * 10, X + 5]
    side = "Each part begins where the one before it ends: move the start on by its size."
    for count, dim in ((1, 1), (2, 1), (3, 1)):
        parts = [mini.tensor.tensor(a) for a in arrays[:count]]
        wanted = np.concatenate(arrays[:count], dim)
        judge(f"cat of {count} tensors along 1", partial(mini.ops.cat, parts, dim), wanted, side)
    down = [mini.tensor.tensor(X), mini.tensor.tensor(X[:1])]
    judge(
        "cat of two tensors",
        lambda: mini.ops.cat(down),
        np.concatenate([X, X[:1]]),
        "Along dimension 0, if none is named.",
    )
    last = "A negative dimension counts from the end: wrap it, slice_backward counts from the front."
    parts = [mini.tensor.tensor(a) for a in arrays[:2]]
    judge("cat along -1", lambda: mini.ops.cat(parts, -1), np.concatenate(arrays[:2], -1), last)
    mixed = [mini.tensor.tensor([1, 2]), mini.tensor.tensor([0.5])]
    judge("cat of int64 and float32", lambda: mini.ops.cat(mixed), float32s([1, 2, 0.5]), "Adding promotes by itself.")


@OWN_COMPOSITES.case("powers", points=2, section=SECTION)
def _(mini: Any) -> None:
    power = mini.ops.power
    for n in (1, 2, 3, 5):
        why = "x ** n is x ** (n - 1) times x, and x ** 1 is x."
        judge(f"power(x, {n})", partial(power, mini.tensor.tensor(X), n), X**n, why)
    why = "What is no whole number from 1 on has no such product: refuse it, rather than go on for ever."
    for refuse in (0, -1, 1.5):
        try:
            must_raise(
                f"power(x, {refuse})", why, partial(power, mini.tensor.tensor(X), refuse), kind=NotImplementedError
            )
        except RecursionError as error:
            raise WrongAnswer(f"power(x, {refuse}) called itself for ever", why) from error


@OWN_COMPOSITES.case("gelu", points=1, section=SECTION)
def _(mini: Any) -> None:
    wanted = [
        [0.5 * v * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))) for v in row] for row in X.tolist()
    ]
    why = "x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), and 2 sqrt(2 / pi) is 1.5957691216."
    judge(f"gelu({X.tolist()})", lambda: mini.ops.gelu(mini.tensor.tensor(X)), float32s(wanted), why)


@OWN_COMPOSITES.case("softmax along one dimension, also of large numbers", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, from_numpy = mini.ops, mini.tensor.from_numpy
    every = "The shares of one row add up to 1: largest element and sum are taken along `dim`, and keep it."
    large = "exp(1000) is inf, and inf / inf is nan. Make the greatest element 0 first; the shares stay the same."
    rows = np.array([[[1.0, 5.0, 2.0], [4.0, 0.0, -3.0]]], np.float32)
    for x, dim, why in ((rows, 2, every), (rows, 1, every), (rows * 1000, -1, large)):
        wide = x.astype(np.float64) - x.max(dim, keepdims=True)
        shares = np.exp(wide) / np.exp(wide).sum(dim, keepdims=True)
        said = f"softmax({x.tolist()}, {dim})"
        judge(said, partial(ops.softmax, from_numpy(x), dim), shares.astype(np.float32), why)
        logs = (wide - np.log(np.exp(wide).sum(dim, keepdims=True))).astype(np.float32)
        judge(f"log_{said}", partial(ops.log_softmax, from_numpy(x), dim), logs, why)


@OWN_COMPOSITES.case("the greatest of a row is subtracted as a plain number", points=1, section=SECTION)
def _(mini: Any) -> None:
    seen: list[tuple[str, Any]] = []

    class Watch(mini.ops.Layer):
        def call(self, op: Any, args: Any) -> Any:
            seen.append((op.name, args[0]))
            return op(*args)

    with Watch():
        mini.ops.log_softmax(mini.tensor.tensor(X), 1)
    if [x.sizes for name, x in seen if name == "detach"] != [(2, 1)]:
        raise WrongAnswer(
            f"log_softmax of sizes (2, 2) along 1 called {', '.join(name for name, _ in seen)}",
            "detach what is subtracted, the greatest of each row: to a gradient it is a plain number.",
        )


@OWN_COMPOSITES.case("in place: computed, then written", points=2, section="An op is a kernel and a promise")
def _(mini: Any) -> None:
    for (name, oracle), y in itertools.product((("add", np.add), ("mul", np.multiply)), (2.0, X[0])):
        x = mini.tensor.tensor(X)
        op = mini.ops.in_place(getattr(mini.ops, name))
        said = f"x.{name}_({y if isinstance(y, float) else y.tolist()})"
        why = "It returns x itself, so that calls can be chained."
        other = y if isinstance(y, float) else mini.tensor.tensor(y)
        got = judge(said, partial(op, x, other), oracle(X, np.float32(y)), why)
        judge_tensor(f"x after {said}", x, oracle(X, np.float32(y)), "The result has to be written into x: copy_.")
        if got is not x:
            raise WrongAnswer(f"{said}: expected x back, got another tensor", why)
