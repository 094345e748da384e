"""Exercise 15.6: the loop over the rows of a group."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .kernel_texts import groups_of, judge_program, run_text, wanted_by

ROWS = Step(
    "15.6",
    "the loop over the rows",
    file="emit",
    minutes=20,
    hints=(
        "A kernel gets low and high, and runs the rows between them. One dimension of rows is the loop's variable"
        " itself, i0;"
        " several are counted through in one `row`, and taken apart again.",
        "Of sizes (3, 4): i0 = row // 4 % 3, i1 = row // 1 % 4. So step begins at the number of rows, and each"
        " dimension divides it"
        " by its size before its line is written. A size of 1 is always 0, and 0 must not be divided by.",
        "argument: self.arguments.setdefault(buffer, buffer.name), so each buffer is passed once; before that it"
        " refuses dtypes that"
        " Numba's CPU kernels lack, with Unsupported. The source is written last: only then are all arguments known.",
    ),
)
SECTION = "One generated file, read together"
PART = "A thread runs a part of the rows, from low to high: the loop must begin at low and end before high."
NAMED = "A dictionary: from each buffer to its name. Others ask it for names, and look buffers up in it."
BATCH = "A line that speaks of s0, the batch, needs it: then it is an argument, the last, arguments['s0'] = 's0'."
APART = "Is `row` taken apart rightly? The last dimension runs fastest: i1 = row % 4, i0 = row // 4."


@ROWS.case("one dimension", points=1, section=SECTION)
def _(mini: Any) -> None:
    judge_program(mini, lambda x: x * 2 + 1, [(5,)], "A loop over i0, from low to high.")
    judge_program(mini, lambda x, y: x + y, [(), ()], "No dimension at all is one row.")
    lowering, groups = groups_of(mini, lambda x, y: x + y, [(), ()])
    source = mini.emit.Kernel(groups[0], wanted_by(groups[0], lowering, groups)).source
    if "for row in " not in source:
        why = "Of no dimension there is no i0: only rows of one are counted by it, all others by `row`."
        raise WrongAnswer(f"rows ():\n{source}", why)


@ROWS.case("a part of the rows", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering, groups = groups_of(mini, lambda x: x * 2, [(6,)])
    kernel = mini.emit.Kernel(groups[0], wanted_by(groups[0], lowering, groups))
    x, out = np.arange(6, dtype=np.float32), np.full(6, 77, np.float32)
    memory = {lowering.inputs[0]: x, lowering.outputs[0]: out}
    run_text(mini, kernel.source)(2, 4, *[memory[buffer] for buffer in kernel.arguments])
    if out.tolist() != [77, 77, 4, 6, 77, 77]:
        raise WrongAnswer(f"{kernel.source}\nfor low = 2, high = 4 doubles {x.tolist()} to {out.tolist()}", PART)


@ROWS.case("several dimensions", points=2, section=SECTION)
def _(mini: Any) -> None:
    for sizes in ((3, 4), (2, 3, 4), (2, 1, 3), (1, 1)):
        program = lambda x, y: x + y.permute(*range(y.dim() - 1, -1, -1))
        judge_program(mini, program, [sizes, sizes[::-1]], APART)
    judge_program(mini, lambda x: x.transpose(0, 1).sum(2), [(3, 2, 4)], APART)


@ROWS.case("arguments and refusals", points=1, section=SECTION)
def _(mini: Any) -> None:
    lowering, groups = groups_of(mini, lambda x: (x + x) * x, [(4,)])
    kernel = mini.emit.Kernel(groups[0], wanted_by(groups[0], lowering, groups))
    first = kernel.source.splitlines()[0]
    if first != f"def kernel(low, high, x0, {lowering.outputs[0].name}):" or len(kernel.arguments) != 2:
        raise WrongAnswer(f"(x + x) * x begins {first!r}", "Each buffer that is read or written is passed once.")
    if kernel.arguments != {lowering.inputs[0]: "x0", lowering.outputs[0]: lowering.outputs[0].name}:
        raise WrongAnswer(f"(x + x) * x: its arguments are {kernel.arguments!r}", NAMED)
    if kernel.buffers != list(kernel.arguments):
        raise WrongAnswer(
            f"(x + x) * x: its buffers are {kernel.buffers!r}", "A list of them, in the order of the names."
        )
    if kernel.rows != 4 or kernel.work != 4:
        raise WrongAnswer(
            f"rows {kernel.rows}, work {kernel.work}, of 4 elements", "work: rows times what is inside of one."
        )
    lowering, groups = groups_of(mini, lambda x: x / x.sum(1, True), [(3, 5)])
    staged = mini.emit.Kernel(groups[0], wanted_by(groups[0], lowering, groups))
    if staged.work != 30:
        why = "Stage comes after stage: in a row the work of all of them is added up."
        raise WrongAnswer(f"x / x.sum(1, True) of (3, 5) in two stages: expected work 30, got {staged.work}", why)
    try:
        kernel.argument(mini.loops.Buffer("h", (2,), np.dtype("float16"), mini.tensor.Layout.dense((2,))))
    except mini.interpreter.Unsupported:
        return
    raise WrongAnswer(
        "a float16 buffer is taken", "Numba has no float16 on a CPU: refuse it, by name, with Unsupported."
    )


@ROWS.case("the batch", points=1, section=SECTION)
def _(mini: Any) -> None:
    batch = mini.sizes.Batch(7, lambda text, holds: None)
    size = mini.sizes.Size(batch)
    x = mini.tensor.fake((size, 4))
    lowering = mini.loops.Lowering(mini.prims.decompose(mini.graph.trace(lambda x: x + x.sum((0, 1)), x)))
    for group in mini.fusion.fuse(lowering):
        kernel = mini.emit.Kernel(group, {*lowering.outputs})
        head, *lines = kernel.source.splitlines()
        named = "s0" in "\n".join(lines)
        if named is not head.endswith(", s0):") or named is not ("s0" in kernel.buffers):
            raise WrongAnswer(f"{kernel.source}\nof buffers {kernel.buffers}", BATCH)
