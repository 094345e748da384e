"""Exercise 11.5: what is written through a view."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried
from ..lesson_08_autograd.nudging import doubles

THROUGH_VIEWS = Step(
    "11.5",
    "what is written through a view",
    file="aot",
    minutes=20,
    hints=(
        "replaced calls itself: the first view of base shows a part; that part, with the value in it"
        " where the other views look, must go"
        " back into base.",
        "A view's derivative rule puts each element of a gradient where it came from:"
        " DERIVATIVES[op](part, None, base, *args)[0]. For"
        " permute and view that is the whole answer.",
        "For a slice there is zero around it, where base must stay: send ones the same way, and take"
        " ops.where(mask, inverse, base)."
        " expand is refused.",
    ),
)
SECTION = "Programs that write"


def judge(mini: Any, text: str, base: np.ndarray, views: list[Any], place: Any, why: str) -> None:
    """`place`: the same views on a NumPy array, of which a write is seen in the array."""
    wanted = base.copy()
    seen = place(wanted)
    value = 100 + np.arange(seen.size, dtype=float).reshape(seen.shape)
    x = doubles(mini, base)
    got = tried(f"follow(base of {base.shape}, {text})", why, mini.aot.follow, x, views)
    expect(f"follow(base of {base.shape}, {text})", seen.tolist(), got.tolist(), "One view after the other.")
    seen[...] = value
    got = tried(
        f"replaced(base of {base.shape}, {text}, value)", why, mini.aot.replaced, x, views, doubles(mini, value)
    )
    expect(f"replaced({base.tolist()}, {text}, {value.tolist()})", wanted.tolist(), got.tolist(), why)
    expect(f"{text}: base afterwards", base.tolist(), x.tolist(), "base itself is not written to.")


@THROUGH_VIEWS.case("each view", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, base = mini.ops, np.arange(6.0).reshape(2, 3)
    turn, flat = (ops.permute, ((1, 0),)), (ops.view, ((3, 2),))
    judge(mini, "[]", base, [], lambda x: x, "No view: all of it is replaced.")
    judge(mini, "[permute(1, 0)]", base, [turn], lambda x: x.T, "Back by the view's gradient.")
    judge(mini, "[view(3, 2)]", base, [flat], lambda x: x.reshape(3, 2), "Back by the view's gradient.")
    around = "Around a slice the gradient is zero, but base keeps everything around it."
    judge(mini, "[slice 1:3 of dim 1]", base, [(ops.slice_, (1, 1, 3, 1))], lambda x: x[:, 1:3], around)
    judge(mini, "[slice ::2 of dim 1]", base, [(ops.slice_, (1, 0, 3, 2))], lambda x: x[:, ::2], around)


@THROUGH_VIEWS.case("views of views", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, base = mini.ops, np.arange(12.0).reshape(3, 4)
    row, turn = (ops.slice_, (0, 1, 3, 1)), (ops.permute, ((1, 0),))
    why = "A view of a view: replace in the part that the first one shows, then put that part back."
    judge(mini, "[slice 1:3, permute(1, 0)]", base, [row, turn], lambda x: x[1:3].T, why)
    judge(mini, "[slice 1:3, slice 1:2]", base, [row, (ops.slice_, (0, 1, 2, 1))], lambda x: x[1:3][1:2], why)
    judge(
        mini,
        "[view(12), slice 2:9:3]",
        base,
        [(ops.view, ((12,),)), (ops.slice_, (0, 2, 9, 3))],
        lambda x: x.reshape(12)[2:9:3],
        why,
    )


@THROUGH_VIEWS.case("what lies otherwise, what is one", points=1, section=SECTION)
def _(mini: Any) -> None:
    ops = mini.ops
    turned = ops.permute(doubles(mini, [[1.0, 2.0], [3.0, 4.0]]), (1, 0))
    why = (
        "This value was computed, and may lie otherwise in memory than the tensor of the program: reshape,"
        " which copies if it must."
    )
    got = tried("follow(a transpose, [view(4)])", why, mini.aot.follow, turned, [(ops.view, ((4,),))])
    expect("follow(a transpose, [view(4)])", [1.0, 3.0, 2.0, 4.0], got.tolist(), why)
    x = doubles(mini, [1.0, 2.0])
    why = "Several elements of an expanded view are one in memory: which value does it have? Refuse."
    must_raise(
        "replaced([1, 2], [expand(3, 2)], value)",
        why,
        mini.aot.replaced,
        x,
        [(ops.expand, ((3, 2),))],
        doubles(mini, np.ones((3, 2))),
    )
