"""Exercise 08.4: the layer that notes."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried
from .nudging import STACK_SECTION

TAPE_LAYER = Step(
    "08.4",
    "the tape is a layer",
    file="tape",
    minutes=25,
    hints=(
        "call: first ask all arguments that are tensors for their histories. Only if any has one, and the"
        " op has a rule, is there"
        " something to note.",
        "out = op(*args) computes it in the layers below. Then out.since = out.storage.version, and if"
        " there is something to note and"
        " out's dtype is a float: requires_grad and grad_fn = Note(...).",
        "A write: refuse if parents[0] is args[0], a leaf; after it the parents are [None, parents[1]], and the"
        " history is None"
        " if both are; out.storage.noted is out.since unless out is a fake.",
    ),
)


@TAPE_LAYER.case("a result is noted", points=1, section=STACK_SECTION)
def _(mini: Any) -> None:
    tape, x, y = mini.tape, mini.tensor.tensor([1.0, 2.0], requires_grad=True), mini.tensor.tensor([3.0, 4.0])
    out = tried("x * y", "", mini.ops.mul, x, y)
    if not isinstance(out, mini.tensor.Tensor):
        raise WrongAnswer(
            f"x * y gave {out!r}", "The layer passes the call on, op(*args), and returns what comes back."
        )
    expect("x * y", [3.0, 8.0], out.tolist(), "What comes back from the layers below is the result.")
    if not out.requires_grad or not isinstance(out.grad_fn, tape.Note) or out.grad_fn.op is not mini.ops.mul:
        raise WrongAnswer(
            f"x requires grad: (x * y).grad_fn is {out.grad_fn!r}", "It is a Note of mul, and requires_grad is True."
        )
    expect(
        "(x * y).grad_fn.parents",
        [tape.history(x), None],
        out.grad_fn.parents,
        "The history of each argument, None for y.",
    )
    third = mini.ops.add(out, 1)
    if third.grad_fn is None or third.grad_fn.parents != [out.grad_fn, None]:
        raise WrongAnswer("(x * y + 1) is not linked to x * y", "Its parent is the note of x * y; a number has None.")


@TAPE_LAYER.case("and nothing else", points=2, section=STACK_SECTION)
def _(mini: Any) -> None:
    ops, x = mini.ops, mini.tensor.tensor([1.0, 2.0], requires_grad=True)
    plain = mini.tensor.tensor([3.0, 4.0])
    for text, f, why in (
        ("y * y, y wants no gradient", lambda: ops.mul(plain, plain), "None of the arguments has a history."),
        ("x < 2", lambda: ops.lt(x, 2), "lt has no rule in DERIVATIVES: there is nothing to note."),
        ("x.detach()", lambda: ops.detach(x), "detach has no rule in DERIVATIVES: that is what it is for."),
        ("x.to('int64')", lambda: ops.to_(x, "int64"), "Its result has whole numbers: they have no slope."),
        ("iota", lambda: ops.iota((2,), 0, "int64"), "It has no argument that is a tensor."),
    ):
        out = tried(text, why, f)
        if out.requires_grad or out.grad_fn is not None:
            raise WrongAnswer(f"{text}: requires_grad {out.requires_grad}, grad_fn {out.grad_fn!r}", why)
    with mini.tape.no_grad():
        out = ops.mul(x, x)
    if out.requires_grad or out.grad_fn is not None:
        raise WrongAnswer(
            "with no_grad(): x * x has a grad_fn", "no_grad sets Tape.enabled to False: nothing is noted."
        )


@TAPE_LAYER.case("those below see the call", points=1, section=STACK_SECTION)
def _(mini: Any) -> None:
    seen = []

    class Below(mini.ops.Layer):
        position = 0

        def call(self, op: Any, args: Any) -> Any:
            seen.append(op)
            return op(*args)

    x = mini.tensor.tensor([1.0, 2.0], requires_grad=True)
    with Below():
        mini.ops.exp(x)
    passed = "The tape is one layer among others: op(*args) asks those below it, op.run would go past them."
    expect("a layer below the tape, exp(x): what it saw", [mini.ops.exp], seen, passed)


@TAPE_LAYER.case("writes", points=2, section="What can go wrong")
def _(mini: Any) -> None:
    ops, tensor = mini.ops, mini.tensor.tensor
    x, y = tensor([1.0], requires_grad=True), tensor([5.0], requires_grad=True)
    why = "x is what the gradient is asked for, a leaf. Written to, it would no longer be what was computed with."
    must_raise("x requires grad: x.copy_(2)", why, ops.copy_, x, tensor([2.0]))
    early = "Refuse before the op is passed on: whoever catches the error has the leaf as it was."
    expect("x = [1], a leaf; after x.copy_(2) was refused: x", [1.0], x.tolist(), early)
    z = ops.mul(x, 2)
    returned = tried("z = x * 2; z.copy_(y)", "", ops.copy_, z, y)
    if returned is not z or z.tolist() != [5.0]:
        raise WrongAnswer(f"z.copy_(y) gave {returned!r}, z is {z!r}, y is {y!r}", "It writes into z, and returns z.")
    if not z.requires_grad or z.grad_fn is None or z.grad_fn.parents != [None, mini.tape.history(y)]:
        raise WrongAnswer(
            f"z = x * 2; z.copy_(y): its parents are {getattr(z.grad_fn, 'parents', None)!r}",
            "What was there before is overwritten: only y's history counts, [None, history(y)].",
        )
    ops.copy_(z, tensor([1.0]))
    if z.requires_grad or z.grad_fn is not None:
        raise WrongAnswer(
            f"z.copy_(a constant): z.requires_grad {z.requires_grad}", "It is a constant from now on, without history."
        )
    with mini.tape.no_grad():
        tried("with no_grad(): x.copy_(3)", "An optimizer writes to leaves in no_grad.", ops.copy_, x, tensor([3.0]))


@TAPE_LAYER.case("writes through views", points=1, section="What can go wrong")
def _(mini: Any) -> None:
    ops, tensor = mini.ops, mini.tensor.tensor
    x, buffer = tensor([1.0], requires_grad=True), tensor([0.0, 0.0])
    view = ops.slice_(buffer, 0, 0, 1, 1)
    ops.copy_(view, ops.mul(x, 2))
    fresh = "The view that was written to knows all: its since is the version after the write."
    tried("view = b[:1]; view.copy_(x * 2); view * 3", fresh, ops.mul, view, 3)
    missed = (
        "b was written to through another view, and its history does not know: note the version in b.storage.noted."
    )
    must_raise("view = b[:1]; view.copy_(x * 2); b * 3", missed, ops.mul, buffer, 3)
    late = ops.view(view, (1, 1))
    tried(
        "view.view(1, 1) * 3",
        "This view was made after the write: note in out.since the version at which.",
        ops.mul,
        late,
        3,
    )
    y = ops.mul(x, 2)
    view = ops.slice_(y, 0, 0, 1, 1)
    ops.copy_(y, ops.mul(y, 3))
    with mini.tape.no_grad():
        ops.copy_(view, tensor([0.0]))
    still = "What view's history lacks, it lacks after a write that is not noted, too. Leave since as it was."
    must_raise("y = x * 2; view = y[:1]; y *= 3; in no_grad: view[0] = 0; then view * 3", still, ops.mul, view, 3)
    with mini.tape.no_grad():
        late = ops.view(ops.slice_(buffer, 0, 0, 1, 1), (1, 1))
    constant = "Its since is the version at which it was made, also where nothing is noted."
    tried("a view made in no_grad after the write, times 3", constant, ops.mul, late, 3)
    plain = tensor([0.0, 0.0])
    ops.copy_(ops.slice_(plain, 0, 0, 1, 1), tensor([5.0]))
    unnoted = "No history came into b by this write: nothing was noted, so b.storage.noted stays as it was."
    tried("b of zeros, without history; b[:1].copy_(5); b * 3", unnoted, ops.mul, plain, 3)
    y = mini.tensor.fake((2,))
    part = ops.slice_(y, 0, 0, 1, 1)
    ops.copy_(part, ops.mul(x, 2))
    why = "Fakes are not refused: while tracing, writes through views are taken apart later."
    tried("the same with a fake b: b * 3", why, ops.mul, y, 3)
