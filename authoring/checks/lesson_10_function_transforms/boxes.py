"""Exercise 10.3: boxes, and the layer that opens them."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect, must_raise, tried
from ..lesson_08_autograd.nudging import doubles
from .looping import numbers

BOXES = Step(
    "10.3",
    "boxes, and the layer that opens them",
    file="transforms",
    minutes=15,
    hints=(
        "A box is a tensor without numbers: super().__init__(Storage(None, value.dtype), Layout(...)). So"
        " whoever asks it for numbers is told no.",
        "mine says of each argument whether it is a box of this very layer. If there is none, the call is"
        " none of our business: return"
        " op(*args), which the layers below see.",
        "A Write whose first argument is not mine is refused. Else self.rule(op, args, mine, values),"
        " where a box's value has taken the"
        " box's place in values.",
    ),
)
SECTION = "Batches of batches"


def spy(mini: Any) -> tuple[Any, list[Any]]:
    seen: list[Any] = []

    class Spy(mini.transforms.Batch):
        def rule(self, op: Any, args: Any, mine: Any, values: Any) -> Any:
            seen.append((self, op, args, list(mine), list(values)))
            return op(*values)

    return Spy, seen


@BOXES.case("a box is a tensor without numbers", points=1, section="One example stands for all")
def _(mini: Any) -> None:
    value = doubles(mini, numbers((2, 3, 4)))
    turned = mini.ops.permute.run(value, (2, 0, 1))
    why = "It shows one example: all dimensions but the first, and their strides."
    for inside, sizes, strides in ((value, (3, 4), (4, 1)), (turned, (2, 3), (12, 4))):
        box = tried("Box(layer, value)", "", mini.transforms.Box, "layer", inside)
        text = f"a batch of sizes {inside.sizes}, boxed: sizes and strides"
        expect(text, (sizes, strides), (box.sizes, box.strides), why)
        expect("its dtype", "float64", box.dtype.name, "The value's.")
        expect(
            "layer and value", ("layer", True), (box.layer, box.value is inside), "They are kept; nothing is copied."
        )
    if not box.is_fake:
        why = (
            "It shows the numbers of the storage: they would be read as if they were the example's. Give it"
            " one without data."
        )
        raise WrongAnswer("box.is_fake is False", why)


@BOXES.case("opened by its own layer", points=2, section=SECTION)
def _(mini: Any) -> None:
    spy_type, seen = spy(mini)
    ops, x, y = mini.ops, mini.tensor.tensor([1.0]), mini.tensor.tensor([5.0])
    why = "Without a box of its own a layer has nothing to do: the call goes on to the layers below, op(*args)."
    with spy_type() as layer:
        got = tried("x * y, no box", why, ops.mul, x, y)
        if seen or got.tolist() != [5.0]:
            raise WrongAnswer(f"x * y, no box: rule was called {len(seen)} times, the result is {got!r}", why)
        box = mini.transforms.Box(layer, x)
        got = tried("box * y", "", ops.mul, box, y)
    expect("box * y: how often rule was called", 1, len(seen), "It has a box of this layer.")
    _, op, args, mine, values = seen[0]
    expect(
        "rule's op, args and mine",
        (ops.mul, (box, y), [True, False]),
        (op, tuple(args), mine),
        "As they came; and whose they are.",
    )
    if values[0] is not x or values[1] is not y:
        raise WrongAnswer(f"box * y: rule's values are {values!r}", "The box of x is opened: x. What is no box stays.")
    expect("box * y", [5.0], got.tolist(), "What rule gives is the result.")


@BOXES.case("boxes of another layer", points=2, section=SECTION)
def _(mini: Any) -> None:
    spy_type, seen = spy(mini)
    x = mini.tensor.tensor([1.0])
    why = "That box is another layer's: this one must not look inside. The call goes on, and the layer below opens it."
    with spy_type() as below, spy_type() as above:
        tried("a box of the layer below", why, mini.ops.neg, mini.transforms.Box(below, x))
        if [call[0] for call in seen] != [below]:
            raise WrongAnswer(
                f"a box of the layer below: rule was called on {['above' if c[0] is above else 'below' for c in seen]}",
                why,
            )
        seen.clear()
        inner = mini.transforms.Box(below, x)
        tried("a box of each", why, mini.ops.add, mini.transforms.Box(above, x), inner)
        if [call[0] for call in seen] != [above, below] or seen[0][3] != [True, False]:
            raise WrongAnswer("box of above + box of below: the layers did not open them one after the other", why)


@BOXES.case("writes into what is outside", points=1, section="What a rule must not forget")
def _(mini: Any) -> None:
    spy_type, seen = spy(mini)
    shared, x = mini.tensor.tensor([0.0]), mini.tensor.tensor([1.0])
    why = "There is one for all examples: which of them should it hold? Refuse."
    with spy_type() as layer:
        box = mini.transforms.Box(layer, x)
        must_raise("shared.copy_(box)", why, mini.ops.copy_, shared, box)
        tried("box.copy_(shared)", "Into a box of its own anything may be written.", mini.ops.copy_, box, shared)
