"""Programs as loop graphs and as schedules, for the exercises of lesson 14.

>>> planned(lambda x: x.exp() + 1, (4, 4))
kernel 0: buf0 = exp(arg0) + 1.0  [i0:16]  reads arg0; writes buf0
1 kernel, 128 bytes moved
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile import prims
from minitorch_compile.aot.passes import simplify
from minitorch_compile.aot.tracing import trace
from minitorch_compile.course.checking.exercise import NotWritten, WrongAnswer
from minitorch_compile.course.far.there import there
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import empty_fake

Program = Callable[..., Any]
Sizes = tuple[tuple[int, ...], ...]


def loops_of(program: Program, *sizes: tuple[int, ...]) -> LoopGraph:
    """A function of float32 tensors as loops. What the learner's program raises is told as a wrong answer."""
    try:
        graph = traced(program, sizes)
    except NotImplementedError as error:
        raise NotWritten(str(error)) from error
    except Exception as error:
        text = f"with tensors of {', '.join(map(str, sizes))} the program raised {type(error).__name__}: {error}"
        raise WrongAnswer(text, "It is run with tensors that have sizes and no numbers, as for compiling.") from error
    loops: LoopGraph = lowered(graph)
    return loops


@there
def traced(program: Program, sizes: Sizes) -> Any:
    return trace(lambda *xs: tuple(tree_leaves(program(*xs))), [empty_fake(each) for each in sizes])


@there
def lowered(graph: Any) -> LoopGraph:
    return lower(simplify(prims.decompose(graph)))


@there
def scheduled(loops: LoopGraph) -> Schedule:
    return schedule(loops)


def planned(program: Program, *sizes: tuple[int, ...]) -> Schedule:
    """The schedule that the package makes of a program."""
    found: Schedule = scheduled(loops_of(program, *sizes))
    return found
