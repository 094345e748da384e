"""Exercise 15.4: a handler that writes a line for each value."""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.course.checking.step import Step

from ..comparing import expect
from .kernel_texts import SECTION, writer_of

WRITER = Step(
    "15.4",
    "a handler that writes lines",
    file="emit",
    minutes=12,
    hints=(
        "State first: the kernel, an empty memo (boxes look into it), the lines, a depth of 1, and how many names"
        " there are.",
        "line puts four spaces a level before the text. name writes a line 't0 = ...' and returns 't0'; the next is"
        " t1.",
        "load asks self.kernel.made first, with the key (buffer, str(index)): there it stands if this kernel has just"
        " computed"
        " it. Else it is self.kernel.argument(buffer), an index in brackets, and a name.",
    ),
)
NAMES = "A value that is used twice would be computed twice: write a line for it, and give back the name."
DEPTH = "Four spaces for each level of depth: 1 is the inside of the function."
MADE = "This kernel has just computed the element, and knows it by name: look into kernel.made before you read memory."


class Named:
    """A buffer, as far as a load asks."""

    def __init__(self, name: str) -> None:
        self.name = name


@WRITER.case("names and lines", points=2, section=SECTION)
def _(mini: Any) -> None:
    w = writer_of(mini)
    expect("name('a + b') of a new writer", "t0", w.name("a + b"), NAMES)
    expect("the lines after it", ["    t0 = a + b"], w.lines, NAMES)
    w.depth = 3
    expect("the next name", "t1", w.name("t0 * t0"), "Each name is used once: count them.")
    expect("its line, at depth 3", "            t1 = t0 * t0", w.lines[-1], DEPTH)
    w.line("pass")
    expect("line('pass') at depth 3", "            pass", w.lines[-1], DEPTH)
    expect(
        "index(i0 * 8, int64)", "np.int64(i0 * 8)", w.index("i0 * 8", np.dtype("int64")), "A position becomes a value."
    )


@WRITER.case("loads", points=2, section=SECTION)
def _(mini: Any) -> None:
    index = mini.index.Index.variable("i0", 4) * 2
    asked: list[Named] = []

    def argument(buffer: Named) -> str:
        asked.append(buffer)
        return buffer.name

    buffer = Named("x0")
    w = writer_of(mini, argument=argument)
    expect("load(x0, i0 * 2)", "t0", w.load(buffer, index), NAMES)
    expect("the line of the load", ["    t0 = x0[i0 * 2]"], w.lines, "The argument's name, the index in brackets.")
    expect("the kernel was asked for its argument", [buffer], asked, "kernel.argument notes that the buffer is passed.")
    w.kernel.made[buffer, "i0 * 2"] = "t7"
    expect("load(x0, i0 * 2) where made has it as t7", "t7", w.load(buffer, index), MADE)
    expect("the lines after it", 1, len(w.lines), MADE)
