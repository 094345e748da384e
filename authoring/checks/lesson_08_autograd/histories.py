"""Exercise 08.2: leaves, and the history of a tensor."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import must_raise, tried
from .nudging import STACK_SECTION

HISTORIES = Step(
    "08.2",
    "where a history begins",
    file="tape",
    minutes=10,
    hints=(
        "Four answers, in this order: it is stale (raise); a note made it (the note); the user asked for"
        " gradients (its leaf); None.",
        "The leaf is kept on the tensor as x.leaf, so that the next question gets the same one:"
        " getattr(x, 'leaf', None) or Leaf(x).",
        "Stale: getattr(x, 'since', 0) < getattr(x.storage, 'noted', 0). Most tensors have neither"
        " attribute: both count as 0.",
    ),
)


@HISTORIES.case("no history, a leaf, a note", points=1, section=STACK_SECTION)
def _(mini: Any) -> None:
    history, x = mini.tape.history, mini.tensor.tensor([1.0])
    if tried("history(x)", "", history, x) is not None:
        raise WrongAnswer(
            f"x = tensor([1.0]): history(x) gave {history(x)!r}", "It wants no gradient: its history is None."
        )
    x.requires_grad = True
    first, second = tried("history(x)", "", history, x), history(x)
    if not isinstance(first, mini.tape.Leaf) or first.tensor is not x or tuple(first.parents):
        why = "A leaf knows its tensor, and was made from nothing: parents are ()."
        raise WrongAnswer(f"x.requires_grad = True: history(x) gave {first!r}", why)
    if first is not second:
        why = "One tensor with two leaves is two variables to the engine: each would get a part of the gradient."
        raise WrongAnswer("history(x) gave another leaf the second time", why)
    if history(mini.tensor.tensor([1.0], requires_grad=True)) is first:
        raise WrongAnswer("two tensors got the same leaf", "A leaf belongs to one tensor.")


@HISTORIES.case("a result of an op", points=1, section=STACK_SECTION)
def _(mini: Any) -> None:
    x, note = mini.tensor.tensor([1.0], requires_grad=True), object()
    x.grad_fn = note
    got = tried("history(x)", "", mini.tape.history, x)
    if got is not note:
        why = "It requires grad, but it is the result of an op: the history begins before it."
        raise WrongAnswer(f"x.grad_fn is set: history(x) gave {got!r}, not x.grad_fn", why)


@HISTORIES.case("a stale history", points=1, section="What can go wrong")
def _(mini: Any) -> None:
    why = "Its history silently lacks a write: the gradient would be a number, and wrong."
    for since, noted in ((None, 1), (1, 2)):
        x = mini.tensor.tensor([1.0])
        x.storage.noted = noted
        if since is not None:
            x.since = since
        must_raise(f"x.since = {since}, x.storage.noted = {noted}: history(x)", why, mini.tape.history, x)
    x.since = x.storage.noted
    fresh = "Noted since the last write, or at it: there is nothing that its history lacks."
    tried(f"x.since = x.storage.noted = {x.since}: history(x)", fresh, mini.tape.history, x)
