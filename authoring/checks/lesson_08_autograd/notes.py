"""Exercise 08.3: a note, and broadcasting turned round."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried
from .nudging import STACK_SECTION, doubles

NOTES = Step(
    "08.3",
    "a note",
    file="tape",
    minutes=25,
    hints=(
        "Two things are noted: what the rule needs (op, args, out), and where its results go (parents,"
        " one for each argument).",
        "DERIVATIVES[op].__code__.co_varnames begins with the rule's parameters: the gradient, the"
        " output, the op's arguments. Zip it"
        " with (None, out, *args) and keep (x, x.storage.version) of tensors whose name has no underscore in front.",
        "backward: refuse if args is None, or if a version is another than noted. Then zip the rule's"
        " gradients, the arguments and the"
        " parents: ops.to(sum_to(g, arg.sizes), arg.dtype), or None where the parent is None.",
    ),
)
OUT = -1  # the result comes last, after the arguments
MIRROR = "Broadcasting, turned round"
STRETCHED = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2, 3), (2, 1)),
    ((2, 3), (1, 3)),
    ((2, 3), ()),
    ((2, 1), (1,)),
    ((4, 0, 2), (1, 2)),
]


@NOTES.case("sum_to", points=1, section=MIRROR)
def _(mini: Any) -> None:
    for big, small in STRETCHED:
        grad = np.arange(1.0, 1 + np.prod(big)).reshape(big)
        wanted = np.zeros(small)
        came_from = np.broadcast_to(np.arange(wanted.size).reshape(small), big)
        np.add.at(
            wanted.reshape(-1), came_from.reshape(-1), grad.reshape(-1)
        )  # each copy's gradient, where it was copied from
        text = f"sum_to(a gradient of sizes {big}, {small})"
        why = "A dimension of size 1 was stretched, too: its copies are added up, and the size 1 stays."
        got = tried(text, why, mini.tape.sum_to, doubles(mini, grad), small)
        expect(f"{text}.sizes", small, got.sizes, why)
        expect(text, wanted.tolist(), got.tolist(), "Each copy had its share: add them up.")


@NOTES.case("gradients for the arguments", points=2, section=STACK_SECTION)
def _(mini: Any) -> None:
    tape, mul = mini.tape, mini.ops.mul
    x, y = mini.tensor.tensor([[1.0, 2.0]]), doubles(mini, [[3.0], [4.0]])
    note = tape.Note(mul, (x, y), mul.run(x, y), [x, None])
    if list(note.parents) != [x, None]:
        raise WrongAnswer(
            f"Note(mul, (x, y), x * y, [x, None]).parents: {note.parents!r}", "They are kept for the engine."
        )
    text = "the gradient of mul for x of sizes (1, 2), y of sizes (2, 1)"
    got = tried(text, "", note.backward, doubles(mini, [[1.0, 10.0], [100.0, 1000.0]]))
    if len(got) != 2 or got[1] is not None:
        raise WrongAnswer(
            f"Note(..., [x, None]).backward(g) gave {got!r}", "One for each argument; None where no parent wants it."
        )
    expect(f"{text}: its sizes", (1, 2), got[0].sizes, "A gradient is of its argument's sizes: sum_to.")
    expect(text, [[403.0, 4030.0]], got[0].tolist(), "g * y, summed over the rows that x was copied to.")
    expect(
        f"{text}: its dtype",
        "float32",
        got[0].dtype.name,
        "x is float32, y is float64. A gradient has its argument's dtype.",
    )
    note = tape.Note(mul, (x, 3), mul.run(x, 3), [x, None])
    got = tried("the gradient of x * 3", "A plain number is an argument, too, and no tensor.", note.backward, x)
    expect("the gradient of x * 3, g = [[1, 2]]", [[3.0, 6.0]], got[0].tolist(), "g * y.")


@NOTES.case("what is written to afterwards", points=2, section="What can go wrong")
def _(mini: Any) -> None:
    ops, g = mini.ops, mini.tensor.tensor([1.0])
    for name, read, spared in (("mul", 1, None), ("exp", OUT, 0), ("add", None, 0), ("log", 0, OUT)):
        for written, refused in ((read, True), (spared, False)):
            if written is None:
                continue
            op = getattr(ops, name)
            args = tuple(mini.tensor.tensor([2.0]) for _ in range(2 if name in ("add", "mul") else 1))
            out = op.run(*args)
            note = mini.tape.Note(op, args, out, list(args))
            ops.copy_.run((*args, out)[written], g)
            text = (
                f"{name}, then its {'result' if written == OUT else f'argument {written}'} is written to, then backward"
            )
            if refused:
                why = "The rule reads it: its formula would be filled with other numbers than it was computed with."
                must_raise(text, why, note.backward, g)
            else:
                tried(text, "The rule reads no numbers of it: there is no reason to refuse.", note.backward, g)


@NOTES.case("a note that was freed", points=1, section="What can go wrong")
def _(mini: Any) -> None:
    x = mini.tensor.tensor([2.0])
    note = mini.tape.Note(mini.ops.exp, (x,), x, [x])
    note.args = note.out = note.kept = None  # as the engine frees it
    must_raise(
        "args, out and kept are None: backward(g)",
        "The engine freed it: say so, it was walked a second time.",
        note.backward,
        x,
    )
