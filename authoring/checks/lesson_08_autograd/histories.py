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
        " gradients (x itself); None.",
        "A leaf has no note, and requires a gradient: both must hold. Of what is no leaf x.grad_fn is the answer,"
        " which is"
        " None where there is none.",
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
    got = tried("history(x)", "", history, x)
    if got is not x:
        why = "No op has made it, and its gradient is wanted. It is where the history begins: x itself."
        raise WrongAnswer(f"x.requires_grad = True: history(x) gave {got!r}", why)


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
