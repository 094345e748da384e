"""Exercise 17.6: a call of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..lesson_16_products_and_epilogues.own_programs import judge_values, tensors

OWN_CALL = Step(
    "17.6",
    "a call",
    file="program",
    minutes=12,
    hints=(
        "memory is a dictionary from buffers to flat arrays: the plan's part is the same at each call of"
        " a batch; the inputs' and the outputs' are added to a copy of it.",
        "An input's array is self.take(flat(tensor, layout)). An output's is new at each call:"
        " self.empty(numel(layout.sizes), dtype).",
        "Then for launch in launches: launch(now), and each output becomes"
        " Tensor(Storage(self.give(array), dtype), layout).",
    ),
)
SECTION = "One program"
FRESH = "Who has the first call's result must not see it change: outputs get new memory at each call."
BATCH = "How many elements a buffer has is another one at another batch: ask self.prepared with the batch of this call."
OFFSET = "The input is a part of a larger storage: take its memory from its own first element on, as flat does."


@OWN_CALL.case("values", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_values(mini, lambda x: x + 1, [(3,)], "Inputs, steps, outputs.")
    judge_values(
        mini, lambda x, y: (x @ y).softmax(1), [(2, 3), (3, 4)], "The arena's buffers belong to the memory, too."
    )


@OWN_CALL.case("several outputs, each its own", points=1, section=SECTION)
def _(mini: Any) -> None:
    graph = mini.graph.trace(lambda x: (x + 1, x.sum(), x * 2), mini.tensor.fake((2, 2)))
    (x,) = tensors(mini, [(2, 2)])
    results = mini.program.Program(graph)(x)
    for got, expected in zip(results, (x + 1, x.sum(), x * 2), strict=True):
        if got.sizes != expected.sizes or not np.allclose(got.numpy(), expected.numpy()):
            raise WrongAnswer(f"outputs (x + 1, x.sum(), x * 2): expected {expected}, got {got}", "In their order.")


@OWN_CALL.case("called again", points=2, section=SECTION)
def _(mini: Any) -> None:
    compiled = mini.program.Program(mini.graph.trace(lambda x: x * 2, mini.tensor.fake((3,))))
    first = compiled(mini.ops.from_numpy(np.array([1, 2, 3], np.float32)))[0]
    compiled(mini.ops.from_numpy(np.array([7, 8, 9], np.float32)))
    if first.tolist() != [2, 4, 6]:
        raise WrongAnswer(f"x * 2 of [1, 2, 3], after a second call with [7, 8, 9], is {first}", FRESH)
    x = mini.ops.from_numpy(np.arange(5, dtype=np.float32))
    got = compiled(x[2:])[0]
    if got.tolist() != [4, 6, 8]:
        raise WrongAnswer(f"x * 2 of x[2:], x = [0, 1, 2, 3, 4], is {got}", OFFSET)


@OWN_CALL.case("another batch", points=1, section=SECTION)
def _(mini: Any) -> None:
    x = mini.tensor.fake((mini.sizes.Size(mini.sizes.Batch(4, lambda text, holds: None)), 3))
    compiled = mini.program.Program(mini.graph.trace(lambda x: (x * 2).sum(1) + 1, x))
    for count in (4, 2, 6, 4):
        (x,) = tensors(mini, [(count, 3)])
        (got,), expected = compiled(x), (x * 2).sum(1) + 1
        if got.sizes != expected.sizes or not np.allclose(got.numpy(), expected.numpy()):
            raise WrongAnswer(f"compiled for s0 rows, called with {count}: expected {expected}, got {got}", BATCH)
