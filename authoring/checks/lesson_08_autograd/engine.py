"""Exercise 08.8: the engine."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, tried

ENGINE = Step(
    "08.8",
    "the walk",
    file="tape",
    minutes=25,
    hints=(
        "Two dictionaries: `found`, the answers, and `pending`, what waits at notes. And pairs that arrive: at first"
        " zip(map(history, outputs), grads).",
        "In a loop: each pair that arrives at a node other than None is added, add_to(found, ...) for a leaf or one of"
        " `ends`, else add_to(pending, ...). Then, if nothing is pending, return found.",
        "Then take_latest(pending) gives a note and its gradient, and the next pairs are"
        " zip(note.parents, note.backward(grad)). Unless keep is True, its args, out and kept become None: so memory is"
        " freed as the walk goes.",
    ),
)
SECTION = "The walk back"


def walked(
    mini: Any, text: str, outputs: list[Any], ends: tuple[Any, ...] = (), why: str = "", **options: Any
) -> dict[Any, Any]:
    grads = [mini.ops.full(out.sizes, 1, out.dtype) for out in outputs]
    found = tried(text, why, lambda: mini.tape.walk_back(outputs, grads, ends, **options))
    if not isinstance(found, dict):
        raise WrongAnswer(f"{text}: got {found!r}", "A dictionary: the gradient of each leaf, by the leaf.")
    return found


def leaf_grads(mini: Any, text: str, outputs: list[Any], leaves: list[Any], wanted: list[float], why: str) -> None:
    found = walked(mini, text, outputs, why=why)
    histories = [mini.tape.history(x) for x in leaves]
    expect(f"{text}: how many gradients", len(wanted), len(found), "One for each leaf: " + why)
    for x, history, number in zip(leaves, histories, wanted, strict=True):
        if history not in found:
            raise WrongAnswer(f"{text}: no gradient for the leaf of {x!r}", "Leaves are what the walk is for.")
        expect(f"{text}: the gradient of {x!r}", [number], found[history].tolist(), why)


@ENGINE.case("to the leaves", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, x, y = mini.ops, *[mini.tensor.tensor([n], requires_grad=True) for n in (3.0, 5.0)]
    why = "Follow the notes: each gives gradients to its parents, to all of them."
    leaf_grads(mini, "x", [x], [x], [1.0], "It is its own leaf.")
    leaf_grads(mini, "x * 2", [ops.mul(x, 2)], [x], [2.0], why)
    leaf_grads(mini, "x * y", [ops.mul(x, y)], [x, y], [5.0, 3.0], why)
    leaf_grads(mini, "exp(x * 0) * y", [ops.mul(ops.exp(ops.mul(x, 0)), y)], [x, y], [0.0, 1.0], why)


@ENGINE.case("what is used several times", points=2, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.tensor([3.0], requires_grad=True)
    why = "What is used twice gets a gradient from each use: add them."
    leaf_grads(mini, "x * x", [ops.mul(x, x)], [x], [6.0], why)
    y = ops.mul(x, x)
    leaf_grads(mini, "y = x * x; y * y * x", [ops.mul(ops.mul(y, y), x)], [x], [405.0], why)
    y, late = ops.mul(x, 2), "The latest note comes next: then what has come there is complete."
    leaf_grads(mini, "y = x * 2; y * 3 + y", [ops.add(ops.mul(y, 3), y)], [x], [8.0], late)
    y = ops.mul(x, 2)
    leaf_grads(mini, "y = x * 2; y + y * 3", [ops.add(y, ops.mul(y, 3))], [x], [8.0], late)
    leaf_grads(mini, "the outputs x * 2 and x * 3", [ops.mul(x, 2), ops.mul(x, 3)], [x], [5.0], why)
    y = ops.mul(x, 2)
    leaf_grads(mini, "y = x * 2; the outputs y and y", [y, y], [x], [4.0], why)


@ENGINE.case("ends", points=1, section=SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.tensor([3.0], requires_grad=True)
    y = ops.mul(x, 2)
    end = mini.tape.history(y)
    found = walked(mini, "y = x * 2; y * y, ends [y]", [ops.mul(y, y)], (end,))
    why = "The walk stops at y: its gradient is an answer, and x's is not asked for."
    expect("y = x * 2; y * y, ends [y]: found", [end], list(found), why)
    expect("the gradient of y", [12.0], found[end].tolist(), "2 y.")
    if end.args is None:
        raise WrongAnswer("an end was freed", "It was not walked through: what it kept is still needed.")


@ENGINE.case("what is freed", points=1, section="What can go wrong")
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.tensor([3.0], requires_grad=True)
    for keep in (False, True):
        out = ops.mul(x, x)
        note = out.grad_fn
        found = walked(mini, f"x * x, keep={keep}", [out], keep=keep)
        expect(f"x * x, keep={keep}", [[6.0]], [grad.tolist() for grad in found.values()], "2 x.")
        if (note.args is None and note.out is None and note.kept is None) == keep:
            why = "A note frees args, out and kept after its turn, unless keep says that it will be walked again."
            raise WrongAnswer(f"keep={keep}: afterwards args {note.args!r}, out {note.out!r}, kept {note.kept!r}", why)
