"""Exercise 07.3: which functions of a program get a graph of their own under the hook."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import Exercise
from minitorch_compile.dynamo import frame_hook
from minitorch_compile.dynamo.testing import eager

from ..predicting import judge_predictions
from .program_text import program_of

CAPTURED_FUNCTIONS = Exercise(
    "07.3",
    "what is captured: predict",
    answer="captured",
    minutes=10,
    hints=(
        "Ask of each frame in turn: may it be captured? If it is, what it calls is in its graph.",
        "Generators pass, and what they call does not. A disabled function switches the hook off below it. A hook"
        " belongs to one thread.",
        "Without a tensor in sight a function isn't traced; and a module's frame is the one of its __call__.",
    ),
)
DEFINITIONS = """
import threading

x = torch.ones(2)
model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

def doubled(x):
    return x * 2

def twice(x):
    return doubled(doubled(x))

def produce(x):
    yield doubled(x)

def count(n):
    return n * 2

@torch.compiler.disable
def outside(x):
    return doubled(x)

class Box:
    def __init__(self, x):
        self.x = x

    @property
    def half(self):
        return self.x / 2

box = Box(x)
thread = threading.Thread(target=doubled, args=(x,))
"""
PROGRAMS = (
    "doubled(x)",
    "twice(x)",
    "list(map(doubled, [x, x]))",
    "count(3)",
    "list(produce(x))",
    "outside(x)",
    "box.half",
    "model(x)",
    "thread.start(), thread.join()",
)
WHY = {
    "doubled(x)": "An ordinary function with a tensor as its argument.",
    "twice(x)": "`doubled` was inlined into the graph of `twice`. It never had a frame of its own.",
    "list(map(doubled, [x, x]))": "`map` is written in C, and calls Python functions like everybody else: by a frame.",
    "count(3)": "There is no tensor in sight, so nothing was traced.",
    "list(produce(x))": "The generator's frame passes. The call that it makes is a call like any other.",
    "outside(x)": "A disabled function switches the hook off for everything that it calls.",
    "box.half": "A property is a function, and reading the attribute calls it. The tensor is inside its argument.",
    "model(x)": "A module is captured where it is called: by Module.__call__, with its hooks and all inner modules.",
    "thread.start(), thread.join()": "A hook belongs to the thread that installed it. Frames of others pass.",
}
FIRST, SECOND, THIRD = PROGRAMS[:3], PROGRAMS[3:6], PROGRAMS[6:]


def with_graphs(program: str) -> list[str]:
    """The names of the functions that got a graph."""
    names = program_of(DEFINITIONS)
    line = compile(program, "<a program>", "eval")
    with frame_hook(eager) as hook:
        eval(line, names)
    return [cache.code.co_name for cache in hook.region.caches if any(entry.graph_module for entry in cache.entries)]


def judge(answer: Any, programs: tuple[str, ...]) -> None:
    judge_predictions(answer, programs, with_graphs, lambda program, predicted: WHY[program])


@CAPTURED_FUNCTIONS.case("calls", points=2, section="Which frames are worth it")
def _(answer: Any) -> None:
    judge(answer, FIRST)


@CAPTURED_FUNCTIONS.case("what passes", points=2, section="Which frames are worth it")
def _(answer: Any) -> None:
    judge(answer, SECOND)


@CAPTURED_FUNCTIONS.case("other ways to be called", points=2, section="On and off")
def _(answer: Any) -> None:
    judge(answer, THIRD)
