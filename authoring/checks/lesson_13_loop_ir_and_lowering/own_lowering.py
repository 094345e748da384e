"""Exercise 13.12: a graph becomes steps."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .own_steps import count, judge, numbers, steps_of

OWN_LOWERING = Step(
    "13.12",
    "a graph becomes steps",
    file="loops",
    minutes=20,
    hints=(
        "Three walks: over graph.inputs, each a box of memory; over graph.nodes, each lowered "
        "with the boxes of"
        " its arguments; over graph.outputs, each a buffer by self.output(box).",
        "How often is a node used? Counter over all inputs of all nodes, and over graph.outputs.",
        "self.boxes[node] = self.store(box) if uses[node] > 1 and self.is_costly(box) else box. An input's layout "
        "is the value's"
        " with offset 0: Layout(sizes, strides).",
    ),
)
SECTION = "When a value has to be stored"


@OWN_LOWERING.case("inputs", points=1, section=SECTION)
def _(mini: Any) -> None:
    whole = mini.tensor.from_numpy(numbers(4, 6))
    part = mini.tensor.Tensor(whole.storage, whole.layout.narrow(0, 1, 3).permute((1, 0)))
    lowering = steps_of(mini, lambda x, y: x + y.sum(), part, mini.tensor.fake((2,)))
    names = [buffer.name for buffer in lowering.inputs]
    if names != ["x0", "x1"]:
        raise WrongAnswer(
            f"two inputs: expected buffers x0 and x1, got {names}", "A buffer for each, in the graph's order."
        )
    layout = lowering.inputs[0].layout
    if (layout.sizes, layout.strides, layout.offset) != ((6, 2), (1, 6), 0):
        why = (
            "Sizes and strides are the tensor's; the offset is 0, as a call passes the memory from the first "
            "element on."
        )
        raise WrongAnswer(f"a part of a tensor, offset 6: expected strides (1, 6) and offset 0, got {layout}", why)


@OWN_LOWERING.case("a node is lowered once", points=2, section=SECTION)
def _(mini: Any) -> None:
    x = numbers(3, 3)
    why = "Compare with the graph: each node in order, arguments looked up in self.boxes, numbers passed as they are."
    judge(mini, lambda x: (x + 1) * 2 - x.t(), [x], "(x + 1) * 2 - x.t()", why)
    cheap = judge(mini, lambda x: (lambda y: y + y.t())(x.exp()), [x], "y + y.t(), y = x.exp()", why)
    count(cheap, 1, "y + y.t(), y = x.exp()", "One call is cheaper than a loop: only what is costly is stored.")
    once = judge(
        mini, lambda x: x.sin().exp().sin().exp().sin().exp() + 1, [x], "sin, exp, sin, exp, sin, exp, + 1", why
    )
    count(once, 1, "six calls, used once", "What has one user is computed where it is used.")

    def twice(x: Any) -> Any:
        y = x.sin().exp().sin().exp().sin().exp()
        return y + y.t()

    both = judge(mini, twice, [x], "y + y.t(), y of six calls", why)
    count(
        both,
        2,
        "y + y.t(), y of six calls",
        "Two users compute it twice: what is costly and used more than once is stored.",
    )

    def with_itself(x: Any) -> Any:
        y = x.sin().exp().sin().exp().sin().exp()
        return y + y

    both = judge(mini, with_itself, [x], "y + y, y of six calls", why)
    count(both, 2, "y + y, y of six calls", "Each argument counts: y + y uses y twice, though it is one node.")

    def given_out(x: Any) -> Any:
        y = x.sin().exp().sin().exp().sin().exp()
        return y + 1, y

    kept = judge(mini, given_out, [x], "(y + 1, y), y of six calls", why)
    steps = [str(step) for step in kept.steps]
    if sum("sin" in step for step in steps) != 1:
        raise WrongAnswer(
            f"(y + 1, y), y of six calls: y is computed in {len(steps)} loops", "An output is a user, too."
        )


@OWN_LOWERING.case("outputs", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge(
        mini,
        lambda x: (x + 1, x.sum(0), x + 1),
        [numbers(2, 3)],
        "(x + 1, x.sum(0), x + 1)",
        "A buffer for each output, in order.",
    )

    def both(x: Any) -> Any:
        y = x @ x
        return y, y

    lowering = judge(mini, both, [numbers(3, 3)], "(y, y), y = x @ x", "Two outputs.")
    if len({id(buffer) for buffer in lowering.outputs}) != 2:
        why = "`output` looks at self.outputs: append each buffer before the next output is asked for."
        raise WrongAnswer("(y, y): one buffer is both outputs", why)
