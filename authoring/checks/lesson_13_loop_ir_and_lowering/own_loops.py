"""Exercise 13.9: a loop, its variables and what it reads."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_LOOPS = Step(
    "13.9",
    "loops",
    file="loops",
    minutes=15,
    hints=(
        "All sizes are self.sizes + self.reduced. The first of them, as many as there are rows, are counted by i's:"
        " without rows those of self.sizes.",
        "variables('i', sizes[:count]) gives i0, i1, ...; the j's of the others are counted from 0, too.",
        "reads: a Text of self.body at self.index(rows); what it has found.",
    ),
)
SECTION = "The package's own"


def loop_of(mini: Any, sizes: tuple[int, ...], reduced: tuple[int, ...] = (), reduction: Any = None) -> tuple[Any, Any]:
    x = mini.loops.Buffer("x0", (), "float32", None)
    out = mini.loops.Buffer("buf0", (), "float32", None)

    def body(h: Any, index: Any) -> Any:
        return h.load(x, mini.index.flatten(index, sizes + reduced))

    return mini.loops.Loop(out, sizes, body, reduced, reduction), x


@OWN_LOOPS.case("variables", points=1, section=SECTION)
def _(mini: Any) -> None:
    for sizes, reduced, expected in (
        ((4, 8), (), "(i0, i1)"),
        ((4,), (8, 2), "(i0, j0, j1)"),
        ((4, 1, 8), (1,), "(i0, 0, i2, 0)"),
        ((), (3,), "(j0,)"),
    ):
        loop, _ = loop_of(mini, sizes, reduced)
        got = str(tuple(loop.index()))
        if got != expected:
            why = (
                "i0, i1, ... for sizes, j0, j1, ... for reduced, numbered by dimension; where the size is 1, the "
                "index is 0."
            )
            raise WrongAnswer(f"sizes {sizes}, reduced {reduced}: expected {expected}, got {got}", why)
    if not isinstance(got := loop_of(mini, (4,))[0].index(), tuple):
        raise WrongAnswer(f"index() of a loop over (4,) gave {got!r}", "An index is a tuple of formulas.")
    low, high = loop_of(mini, (4,))[0].index()[0].bounds()
    if (low, high) != (0, 3):
        raise WrongAnswer(
            f"i0 < 4 has bounds {(low, high)}", "A variable knows how many values it takes: Index.variable(name, n)."
        )


@OWN_LOOPS.case("variables, in a group", points=1, section=SECTION)
def _(mini: Any) -> None:
    why = (
        "i0, i1, ... for the rows' dimensions; then j0, j1, ..., counted anew inside of the row; 0 where the size is 1."
    )
    for rows, sizes, reduced, expected in (
        ((4,), (4, 8), (), "(i0, j0)"),
        ((4,), (4,), (8, 2), "(i0, j0, j1)"),
        ((4, 8), (4, 8), (), "(i0, i1)"),
        ((1, 4), (1, 4, 1, 8), (), "(0, i1, 0, j1)"),
        ((), (4, 8), (), "(j0, j1)"),
    ):
        got = str(tuple(loop_of(mini, sizes, reduced)[0].index(rows)))
        if got != expected:
            said = why if rows else "() are rows, too: one row, and everything is inside of it."
            raise WrongAnswer(f"rows {rows}, a loop over {sizes} and {reduced}: expected {expected}, got {got}", said)


@OWN_LOOPS.case("what it reads", points=1, section=SECTION)
def _(mini: Any) -> None:
    loop, x = loop_of(mini, (4,), (8,), "sum")
    got = loop.reads()
    if [(buffer, str(index)) for buffer, index in got] != [(x, "i0 * 8 + j0")]:
        why = "Run the body as a Text, for all of its variables: those of the elements, then those that are reduced."
        raise WrongAnswer(f"sum(j0 < 8) of x0[i0 * 8 + j0]: expected x0 at i0 * 8 + j0, got {got}", why)
    loop, _ = loop_of(mini, (4, 8))
    found = [str(index) for _, index in loop.reads((4,))]
    if found != ["i0 * 8 + j0"]:
        why = "Run the body for the group's variables: in the loop's own ones the second would be i1."
        raise WrongAnswer(f"rows (4,), a loop over (4, 8): expected a read at i0 * 8 + j0, got {found}", why)


@OWN_LOOPS.case("a loop is itself", points=1, section=SECTION)
def _(mini: Any) -> None:
    buffer = mini.loops.Buffer("buf0", (), "float32", None)
    one, other = [mini.loops.Loop(buffer, (4,), len) for _ in range(2)]
    if (one.reduced, one.reduction) != ((), None):
        raise WrongAnswer(
            f"a loop without a reduction has {one.reduced!r}, {one.reduction!r}",
            "By default reduced = (), reduction = None.",
        )
    if one == other or one not in {one}:
        raise WrongAnswer("two loops that look alike are equal", "They are two loops, and compared by identity.")
