"""Exercise 15.8: one element of a loop, and whether it has to be in memory."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .kernel_texts import groups_of, judge_program, wanted_by

STORES = Step(
    "15.8",
    "a value, and where it is kept",
    file="emit",
    minutes=15,
    hints=(
        "loop.body(w, loop.index(self.group.rows)) writes the lines of one element and gives its name. A reduction"
        " takes it into its"
        " variable with REDUCTIONS; anything else is stored.",
        "store: note the name in self.made, so that who reads this element right here need not read memory. Write the"
        " line only if"
        " the buffer is in self.wanted, or a later stage of this group reads it.",
        "read_later: the number of the stage that has the loop; then, of all loops in the stages after it, whether"
        " other.reads() has the loop's buffer. A reduction's result has a variable and needs no memory for"
        " that.",
    ),
)
SECTION = "Rows and columns"
TRAFFIC = (
    "Nobody outside reads this buffer, and this kernel has its elements by name: memory that is written for nobody"
    " costs most."
)
LATER = (
    "A later stage runs over the inside again, when the names of the first loop are gone: it must find the"
    " elements in memory."
)
OWN_STAGE = "Who reads in the same stage has it by name: read_later asks the loops of other stages only."
KNOWN = "It was computed a line before: note its name in self.made."


def arguments_of(mini: Any, program: Any, shapes: list[tuple[int, ...]]) -> tuple[Any, Any]:
    lowering, groups = groups_of(mini, program, shapes)
    kernel = mini.emit.Kernel(groups[0], wanted_by(groups[0], lowering, groups))
    return kernel, lowering


@STORES.case("values are right", points=2, section=SECTION)
def _(mini: Any) -> None:
    judge_program(mini, lambda x: x + 1, [(4,)], "What the group is for must be stored.")
    judge_program(mini, lambda x: x.sum(1), [(2, 3)], "A reduction takes each element in: name = name + element.")
    judge_program(mini, lambda x: costly(x) + costly(x).sum(1, True), [(2, 3)], LATER)


@STORES.case("nothing is written for nobody", points=2, section=SECTION)
def _(mini: Any) -> None:
    kernel, lowering = arguments_of(mini, lambda x: x / x.sum(1, True), [(2, 3)])
    names = list(kernel.arguments.values())
    if names != ["x0", lowering.outputs[0].name]:
        raise WrongAnswer(f"{kernel.source}\npasses {names}", TRAFFIC)


@STORES.case("what was just made is known", points=1, section=SECTION)
def _(mini: Any) -> None:
    def program(x: Any) -> Any:
        y = costly(x)  # used twice, so it gets a buffer
        return y * y.exp()

    kernel, lowering = arguments_of(mini, program, [(4,)])
    made = [loop.buffer.name for loop in kernel.group.loops if loop.buffer is not lowering.outputs[0]]
    read = [line for line in kernel.source.splitlines() for name in made if f"= {name}[" in line]
    if read:
        raise WrongAnswer(f"{kernel.source}\nreads {read[0].strip()!r}", KNOWN)
    passed = [
        name for name in kernel.arguments.values() if name in {buffer.name for buffer in made_by(kernel, lowering)}
    ]
    if passed:
        raise WrongAnswer(f"{kernel.source}\nstores {passed[0]}, which its own stage reads by name", OWN_STAGE)

    def later(x: Any) -> Any:
        y = costly(x - x.sum(1, True))
        return y * y.exp()

    kernel, lowering = arguments_of(mini, later, [(4, 3)])
    if len(kernel.arguments) != 2:
        text = f"{kernel.source}\nstores what its own stage, the second, reads by name"
        raise WrongAnswer(text, "It may be any stage of the group that has the loop: read_later leaves out that one.")


def made_by(kernel: Any, lowering: Any) -> list[Any]:
    return [loop.buffer for loop in kernel.group.loops if loop.buffer not in lowering.outputs]


def costly(x: Any) -> Any:
    """More calls than the lowering computes twice."""
    return ((x + 1) * x + 2) * x * x + 3 * x.exp()
