"""Exercise 11.9: a backward pass as one step of the tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried
from ..lesson_08_autograd.nudging import doubles

CALL_NOTES = Step(
    "11.9",
    "a backward pass as one step of the tape",
    file="aot",
    minutes=25,
    hints=(
        "An OutputNote's only parent is the call, and its backward gives one thing:"
        " [Slots({index: grad})]. The engine adds Slots by +, as"
        " it adds gradients.",
        "A CallNote's parents are the histories of the inputs that require grad, in order: the compiled"
        " function gives a gradient for each"
        " of these.",
        "kept: (x, x.storage.version) of each saved tensor; None after the walk. backward: check both,"
        " make a tangent for each output (zeros"
        " where no gradient came), and call compiled(*saved, *tangents).",
    ),
)
SECTION = "Both passes, one graph"


@CALL_NOTES.case("slots", points=1, section=SECTION)
def _(mini: Any) -> None:
    slots = mini.aot.Slots
    got = tried("Slots + Slots", "", lambda: slots({0: 1, 1: 10}) + slots({1: 100, 2: 1000}))
    why = "An output that was used twice gets two gradients: they are added up, and nothing is lost."
    expect("Slots({0: 1, 1: 10}) + Slots({1: 100, 2: 1000})", {0: 1, 1: 110, 2: 1000}, dict(got), why)
    expect("what it is", True, isinstance(got, slots), "Slots again: a third may come.")


def called(mini: Any) -> tuple[Any, list[Any], Any]:
    """x * y and x + y as one call, by hand; what the compiled backward was given."""
    x, y = (mini.tensor.from_numpy(np.array([n]), requires_grad=True) for n in (3.0, 5.0))
    seen: list[Any] = []

    def compiled(saved_x: Any, saved_y: Any, first: Any, second: Any) -> list[Any]:
        seen.append([part.tolist() for part in (saved_x, saved_y, first, second)])
        return [first * saved_y + second, first * saved_x + second]

    with mini.tape.no_grad():
        outputs = [x * y, x + y]
    plain = doubles(mini, [7.0])
    note = tried("CallNote", "", mini.aot.CallNote, [x, plain, y], outputs, [x, y], compiled)
    for i, out in enumerate(outputs):
        out.requires_grad, out.grad_fn = True, tried("OutputNote", "", mini.aot.OutputNote, note, i)
    return [x, y], outputs, seen


@CALL_NOTES.case("gradients go through", points=3, section=SECTION)
def _(mini: Any) -> None:
    (x, y), (a, b), seen = called(mini)
    tried("(x * y * 2 + (x + y) * 3).backward()", "", mini.tape.backward, a * 2 + b * 3)
    expect(
        "the compiled backward was called with",
        [[[3.0], [5.0], [2.0], [3.0]]],
        seen,
        "Once: saved values, then a gradient for each output.",
    )
    expect(
        "x.grad and y.grad",
        ([13.0], [9.0]),
        (x.grad.tolist(), y.grad.tolist()),
        "One for each input that requires grad, in order.",
    )
    (x, y), (a, b), seen = called(mini)
    why = "No gradient came for x * y: its tangent is zeros."
    tried("(x + y).backward()", why, mini.tape.backward, b)
    expect("only x + y was used: the compiled backward got", [[[3.0], [5.0], [0.0], [1.0]]], seen, why)
    (x, y), (a, b), seen = called(mini)
    tried("a + a", "", mini.tape.backward, a + a * 10)
    expect("x * y used twice: x.grad", [55.0], x.grad.tolist(), "Both gradients, added up.")


@CALL_NOTES.case("what it refuses", points=1, section=SECTION)
def _(mini: Any) -> None:
    (x, _y), (a, b), _ = called(mini)
    with mini.tape.no_grad():
        x.copy_(doubles(mini, [100.0]))
    why = "x was saved, and written to since: the gradient would be of other numbers. Compare versions."
    must_raise("x is written to after the call, then backward", why, mini.tape.backward, a)
    _, (a, b), _ = called(mini)
    mini.tape.backward(a)
    again = "It was walked a second time: what it kept was freed (kept is None). Say so."
    must_raise("backward of the other output after that of the first", again, mini.tape.backward, b)
