"""Exercise 08.9: backward and grad."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried

WHAT_USERS_CALL = Step(
    "08.9",
    "what users call",
    file="tape",
    minutes=25,
    hints=(
        "Both are walk_back with ones for a gradient: backward adds what it finds to each leaf's .grad, grad gives"
        " back what arrived at its argument.",
        "backward walks in no_grad: the gradient is not derived again, so its ops are not noted. grad"
        " does the contrary: `with Tape(),"
        " enable_grad():`, and keep=True.",
        "grad works on mine = ops.clone(x), mine.requires_grad = True, so that x stays as it was and the"
        " walk has an end:"
        " [history(mine)]. If nothing arrived there, the gradient is zeros.",
    ),
)
SECTION = "The package's own tape"
AGAIN = "Slopes of slopes"
OUTSIDE = "grad notes in enable_grad, whatever is outside."
LOST = RuntimeError, LookupError  # what a walk raises that was not noted, or was freed; other errors have other reasons


@WHAT_USERS_CALL.case("backward", points=2, section=SECTION)
def _(mini: Any) -> None:
    tape, tensor, ops = mini.tape, mini.tensor.tensor, mini.ops
    x = tensor([1.0, 2.0], requires_grad=True)
    tried("(x * x).sum().backward()", "", tape.backward, ops.sum(ops.mul(x, x)))
    if x.grad is None:
        raise WrongAnswer(
            "x = [1, 2]: after backward x.grad is None", "walk_back found {x: its gradient}: put it into x.grad."
        )
    expect("x = [1, 2]; (x * x).sum().backward(): x.grad", [2.0, 4.0], x.grad.tolist(), "2 x.")
    if x.grad.requires_grad or x.grad.grad_fn is not None:
        raise WrongAnswer("x.grad requires grad", "It has no history of its own: backward walks in no_grad.")
    tape.backward(ops.sum(ops.mul(x, 10)))
    expect("then (x * 10).sum().backward()", [12.0, 14.0], x.grad.tolist(), "A gradient is added to what is there.")
    single = tensor([3.0], requires_grad=True)
    brackets = (
        "One number is one, in however many brackets: count with numel(). The walk begins with ones of its sizes."
    )
    tried("z = [3]: (z * 2).backward()", brackets, tape.backward, ops.mul(single, 2), about=RuntimeError)
    expect("z = [3]; (z * 2).backward(): z.grad", [2.0], single.grad.tolist(), brackets)
    alone = tensor(3.0, requires_grad=True)
    tried("z = tensor(3.0, requires_grad=True): z.backward()", "", tape.backward, alone)
    dtype = "The gradient with which a walk begins has the dtype of the loss: here nothing turns it into another."
    expect("z.backward(), z a leaf itself: the dtype of z.grad", "float32", str(alone.grad.dtype), dtype)
    y = tensor([1.0, 2.0], requires_grad=True)
    given = "A gradient may be given: backward(loss, gradient)."
    tried("(y * 3).backward(tensor([1.0, 10.0]))", given, tape.backward, ops.mul(y, 3), tensor([1.0, 10.0]))
    expect(
        "(y * 3).backward(tensor([1.0, 10.0])): y.grad",
        [3.0, 30.0],
        y.grad.tolist(),
        "It is what the walk begins with.",
    )


@WHAT_USERS_CALL.case("each grad is a memory of its own", points=1, section=SECTION)
def _(mini: Any) -> None:
    tensor, ops = mini.tensor.tensor, mini.ops
    x, y, weight = [tensor([1.0, 2.0], requires_grad=True) for _ in range(3)]
    tried("(x + y).sum().backward()", "", mini.tape.backward, ops.sum(ops.add(x, y)))
    given = tensor([1.0, 10.0])
    tried("weight.clone().backward(g)", "", mini.tape.backward, ops.clone(weight), given)
    one = "What arrived at both is one tensor: a write to one is seen in the other. Begin a grad with a copy."
    for text, written, other in (
        ("(x + y).sum().backward(); x.grad.copy_(7): y.grad", x.grad, y.grad),
        ("weight.clone().backward(g); weight.grad.copy_(7): g", weight.grad, given),
    ):
        before = other.tolist()
        ops.copy_(written, tensor([7.0]))
        expect(text, before, other.tolist(), one)
    ops.copy_(ops.slice_(y.grad, 0, 0, 1, 1), tensor([3.0]))
    stretched = "The gradient of a sum is one number, stretched: its elements are one in memory. A copy has them all."
    expect("(x + y).sum().backward(); y.grad[0] = 3: y.grad", [3.0, 1.0], y.grad.tolist(), stretched)


@WHAT_USERS_CALL.case("what has no gradient", points=1, section="What can go wrong")
def _(mini: Any) -> None:
    x = mini.tensor.tensor([1.0, 2.0], requires_grad=True)
    why = "A gradient is of one number. Of two, there are two: which is meant?"
    must_raise("x = [1, 2]: (x * 2).backward()", why, mini.tape.backward, mini.ops.mul(x, 2))
    why = "It has no history: the walk would find nothing, and say nothing."
    must_raise("tensor([1.0]).backward()", why, mini.tape.backward, mini.tensor.tensor([1.0]))


@WHAT_USERS_CALL.case("grad", points=1, section=AGAIN)
def _(mini: Any) -> None:
    tape, tensor, ops = mini.tape, mini.tensor.tensor, mini.ops
    x, y = tensor([1.0, 2.0]), tensor([5.0, 7.0])
    got = tried("grad(lambda x, y: (x * y).sum())(x, y)", "", tape.grad(lambda x, y: ops.sum(ops.mul(x, y))), x, y)
    expect("grad(lambda x, y: (x * y).sum())([1, 2], [5, 7])", [5.0, 7.0], got.tolist(), "The slopes in x are y.")
    if x.requires_grad or x.grad is not None:
        raise WrongAnswer(
            "grad(f)(x): x was changed: it requires grad, or has a .grad", "Work on a copy: ops.clone(x)."
        )
    why = "f does not depend on x: a nudge of x changes nothing, so the gradient is zeros of its sizes."
    expect(
        "grad(lambda x: tensor(1.0))(x)",
        [0.0, 0.0],
        tried("a constant f", why, tape.grad(lambda x: tensor(1.0)), x, about=LOST).tolist(),
        why,
    )
    with tape.no_grad():
        got = tried("in no_grad", OUTSIDE, tape.grad(lambda v: ops.mul(v, v)), tensor(3.0), about=LOST)
    expect("with no_grad(): grad(lambda v: v * v)(3)", 6.0, got.item(), OUTSIDE)
    expect("Tape.enabled after it", True, tape.Tape.enabled, "no_grad and enable_grad put back what they found.")
    must_raise("grad(lambda x: x * 2)([1, 2])", "A gradient is of one number.", tape.grad(lambda x: ops.mul(x, 2)), x)


@WHAT_USERS_CALL.case("grad of grad", points=2, section=AGAIN)
def _(mini: Any) -> None:
    tape, ops = mini.tape, mini.ops

    def cube(x: Any) -> Any:
        return ops.mul(ops.mul(x, x), x)

    again = (
        "It must be possible to derive it again: the walk keeps what it walked through (keep=True), and its"
        " ops are noted."
    )
    x = mini.tensor.tensor(2.0)
    for f, number, text in (
        (tape.grad(cube), 12.0, "grad(cube)(2)"),
        (tape.grad(tape.grad(cube)), 12.0, "grad(grad(cube))(2)"),
        (tape.grad(tape.grad(tape.grad(cube))), 6.0, "grad(grad(grad(cube)))(2)"),
    ):
        expect(text, number, tried(text, again, f, x, about=LOST).item(), again)
    leaf = mini.tensor.tensor(2.0, requires_grad=True)
    tried("grad(cube)(x).backward()", again, lambda: tape.backward(tape.grad(cube)(leaf)), about=LOST)
    expect("grad(cube)(x).backward(), x = 2: x.grad", 12.0, None if leaf.grad is None else leaf.grad.item(), again)
