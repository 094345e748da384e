"""Exercise 13.13: what is stored, and where."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_steps import count, judge, numbers, steps_of

OWN_STORES = Step(
    "13.13",
    "what is stored",
    file="loops",
    minutes=20,
    hints=(
        "is_costly: a Text of the box's body, for a variable in each dimension; its calls says how many calls "
        "that is. What"
        " is in memory is not costly at all.",
        "store: a Loop over the box's sizes whose body is box.at, filling a new buffer: buf0, buf1, ... by the "
        "number of steps so"
        " far, with a dense layout. add appends the step, and gives the box of its buffer.",
        "output: the box's buffer if some step's buffer is this one, it is no output so far, and the box's layout "
        "is the whole"
        " buffer's; else the buffer of a copy, self.store(box).memory[0].",
    ),
)
SECTION = "When a value has to be stored"


@OWN_STORES.case("buffers of its own", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering = steps_of(mini, lambda x: (x + 1, x.sum(1, True)), mini.tensor.from_numpy(numbers(2, 3)))
    names = [step.buffer.name for step in lowering.steps]
    if names != ["buf0", "buf1"]:
        raise WrongAnswer(
            f"two steps: expected buffers buf0 and buf1, got {names}",
            "Named by how many steps there are; add appends.",
        )
    buffer = lowering.outputs[1]
    if buffer.layout != mini.tensor.Layout.dense((2, 1)):
        raise WrongAnswer(
            f"x.sum(1, True): its buffer lies as {buffer.layout}", "A buffer is dense, of the value's sizes."
        )

    judge(
        mini,
        lambda x: (x < 3, x.sum(1) < 9),
        [numbers(2, 3)],
        "(x < 3, x.sum(1) < 9)",
        "A buffer has its value's dtype.",
    )
    box = lowering.boxes[lowering.graph.nodes[0]]
    row = mini.loops.Box((2,), box.dtype, box.body)
    lowering.store(row, (3,), "sum")
    if (step := lowering.steps[-1]).reduced != (3,) or step.reduction != "sum" or step.sizes != (2,):
        said = f"store(a box of (2,), (3,), 'sum') added a loop over {step.sizes}, {step.reduction} over {step.reduced}"
        raise WrongAnswer(said, "What store is given goes to the loop: Loop(buffer, sizes, body, reduced, reduction).")


@OWN_STORES.case("costly or cheap", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering = steps_of(mini, lambda x: x + 1, mini.tensor.from_numpy(numbers(2, 3)))
    buffer = lowering.inputs[0]
    box = mini.loops.stored(buffer, buffer.layout)
    for calls in range(7):
        expected = calls > lowering.most_calls
        if lowering.is_costly(box) is not expected:
            why = "Costly is what makes more than most_calls calls; 4 are not more than 4."
            raise WrongAnswer(
                f"a box of {calls} calls: expected is_costly {expected}, got {lowering.is_costly(box)!r}", why
            )
        box = mini.loops.Box(
            box.sizes, box.dtype, lambda h, index, x=box: h.call("exp", [x.at(h, index)], x.dtype, [x.dtype])
        )
    lowering.most_calls = 9
    if lowering.is_costly(box):
        why = "How many are many is up to the Lowering: ask self.most_calls."
        raise WrongAnswer("most_calls = 9, and a box of 7 calls is costly", why)
    del lowering.most_calls
    kept = mini.loops.Box(box.sizes, box.dtype, box.body, (buffer, buffer.layout))
    if lowering.is_costly(kept):
        raise WrongAnswer("a box that is in memory is costly", "It is there already: nothing is computed again.")


@OWN_STORES.case("outputs are whole buffers of their own", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = numbers(3, 3)
    done = judge(mini, lambda x: x @ x, [x], "x @ x", "The product's buffer holds it all.")
    count(done, 1, "x @ x", "The product has a buffer of its own already: no copy.")
    given = "An input's memory is the caller's: only a buffer that a step has filled is given out."
    lowering = judge(mini, lambda x: (x, x + 1), [x], "(x, x + 1)", given)
    if lowering.outputs[0] in lowering.inputs:
        raise WrongAnswer("x as an output: its own buffer was given out", given)
    part = "A buffer is given out whole, in order: for a part of it, or another order, a copy is made."
    judge(mini, lambda x: (x @ x)[1:], [x], "(x @ x)[1:]", part)
    judge(mini, lambda x: (x @ x).t(), [x], "(x @ x).t()", part)
    sizes = (
        "That it lies densely is not enough: the layout must be its buffer's own, of the same sizes, or a copy is made."
    )
    judge(mini, lambda x: x.sum(1)[:2], [x], "x.sum(1)[:2]", sizes)
    judge(mini, lambda x: (x @ x).reshape(9), [x], "(x @ x).reshape(9)", sizes)

    def both(x: Any) -> Any:
        y = x @ x
        return y, y

    lowering = judge(mini, both, [x], "(y, y), y = x @ x", "Two outputs.")
    if len({id(buffer) for buffer in lowering.outputs}) != 2:
        raise WrongAnswer(
            "(y, y): one buffer is both outputs", "Who writes into one would change the other: the second is a copy."
        )
