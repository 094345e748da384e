"""Exercise 02.6: ops that compute a layout, and the op that writes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise
from .mini_results import judge, judge_fake, judge_tensor

OWN_VIEWS = Step(
    "02.6",
    "views and writes",
    file="ops",
    minutes=15,
    hints=(
        "Neither has a `shape`; both have a `run` of their own in place of Op.run. What does a view share with its"
        " tensor, and what is new? What must a write leave behind for those who read the memory later?",
        "View.run: the kernel gets x.layout and the other arguments; Tensor(x.storage, layout), for fakes as well. A"
        " layout of None is a RuntimeError. Write.run: check the sizes, count the version up, copy, return x.",
        "y fits if broadcast_sizes(x.sizes, y.sizes) is x.sizes. np.copyto(x.numpy(), y.numpy(), casting='unsafe')"
        " unless x is a fake. The version counts for fakes, too. slice_ = View('slice', Layout.narrow).",
    ),
)
SECTION = "An op is a kernel and a promise"
TOGETHER = "One op, put together"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


@OWN_VIEWS.case("views share the storage", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    rows: list[tuple[str, Any, Any]] = [
        ("view(x, (3, 2))", lambda x: ops.view(x, (3, 2)), X.reshape(3, 2)),
        ("permute(x, (1, 0))", lambda x: ops.permute(x, (1, 0)), X.T),
        ("expand(x, (2, 2, 3))", lambda x: ops.expand(x, (2, 2, 3)), np.broadcast_to(X, (2, 2, 3))),
        ("slice(x, 1, 1, 3, 1)", lambda x: ops.slice_(x, 1, 1, 3, 1), X[:, 1:3]),
    ]
    for said, act, wanted in rows:
        x = mini.tensor.tensor(X)
        got = judge(said, partial(act, x), wanted, "A view is x's storage under the layout that its kernel gives.")
        if got.storage is not x.storage:
            why = "The same storage must be under both, or a write into one would not be seen in the other."
            raise WrongAnswer(f"{said}: its storage is another one than x's", why)
    why = "A view of a fake needs no numbers: its layout is all there is to know."
    fake = mini.tensor.fake((10**6, 10**6))
    judge_fake(
        "permute(fake((10**6, 10**6)), (1, 0))", lambda: ops.permute(fake, (1, 0)), (10**6, 10**6), "float32", why
    )


@OWN_VIEWS.case("what would need a copy is refused", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = (
        "Layout.view gave None: no strides read these cells in this order. `view` doesn't copy; that is reshape's work."
    )
    turned = mini.tensor.tensor(X)
    turned.layout = turned.layout.permute((1, 0))
    must_raise("view of a transpose to (6,)", why, lambda: mini.ops.view(turned, (6,)), kind=RuntimeError)


@OWN_VIEWS.case("a write changes the memory, and gives back its first argument", points=2, section=SECTION)
def _(mini: Any) -> None:
    for layout, y in ((((2, 3), (3, 1), 0), X + 10), (((3,), (1,), 3), X[0] + 20), (((2,), (3,), 1), X[0, :1])):
        x = mini.tensor.tensor(X)
        wanted = X.copy().reshape(-1)
        np.lib.stride_tricks.as_strided(wanted[layout[2] :], layout[0], [4 * n for n in layout[1]])[...] = y
        part = mini.tensor.Tensor(x.storage, mini.tensor.Layout(*layout))
        said = f"copy_ of {y.tolist()} into the cells that Layout{layout} names"
        why = "np.copyto writes into memory; x.numpy() is x's memory, whatever its strides."
        got = judge(said, partial(mini.ops.copy_, part, mini.tensor.tensor(y)), part.numpy() * 0 + y, why)
        if got is not part:
            raise WrongAnswer(
                f"{said}: expected the first argument back, got {got!r}", "A write returns its first argument."
            )
        judge_tensor(f"x after {said}", x, wanted.reshape(2, 3), why)
    x, y = mini.tensor.tensor([1, 2]), mini.tensor.tensor([2.7, 3.2])
    why = "What is written takes the dtype of the place: copyto has to be told casting='unsafe'."
    judge("copy_([1, 2], [2.7, 3.2])", lambda: mini.ops.copy_(x, y), np.array([2, 3]), why)


@OWN_VIEWS.case("the version counts writes", points=1, section=TOGETHER)
def _(mini: Any) -> None:
    why = "Whoever kept x for later asks by storage.version whether it was written to, fake or not. Count each write."
    for said, x in (("a tensor", mini.tensor.tensor(X)), ("a fake", mini.tensor.fake((2, 3)))):
        y = mini.tensor.tensor(X[0]) if said == "a tensor" else mini.tensor.fake((3,))
        numbers = "A fake has no memory to write into. Its version is counted, and that is all."
        try:
            mini.ops.copy_(x, y)
            mini.ops.copy_(x, y)
        except TypeError as error:
            raise WrongAnswer(f"copy_ into {said}: it raised {error!r}", numbers) from error
        if x.storage.version != 2:
            raise WrongAnswer(f"after two writes into {said}: expected version 2, got {x.storage.version}", why)


@OWN_VIEWS.case(
    "what doesn't fit is refused, and nothing happens", points=1, section="Broadcasting: sizes that stretch"
)
def _(mini: Any) -> None:
    why = "y is stretched to x's sizes, never the other way round: broadcast_sizes of both must give x.sizes."
    fake = mini.tensor.fake
    for a, b in (((3,), (2, 3)), ((1, 3), (2, 3)), ((2, 3), (2,))):
        x = fake(a)
        must_raise(f"copy_(fake({a}), fake({b}))", why, partial(mini.ops.copy_, x, fake(b)), kind=RuntimeError)
        if x.storage.version:
            raise WrongAnswer(f"copy_(fake({a}), fake({b})) counted a version", "Look at the sizes before you count.")
