"""Exercise 09.1: the parameters of a tree of modules, with their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile import nn
from minitorch_compile.course.checking.exercise import Exercise, WrongAnswer, outcome

WALK = Exercise(
    "09.1",
    "the walk through the tree",
    answer="named_parameters",
    minutes=10,
    hints=(
        "First the module's own parameters: module._parameters is a dict. Which values may you have to skip?",
        "Then each child of module._modules, by calling yourself. What has to stand before the names that come back?",
        'For each (inner, parameter) of the child\'s own list the name is f"{child_name}.{inner}". For a shared'
        " parameter, remember the id() of those you have, across all levels.",
    ),
)
SECTION = "A module is a tree"
SHARED = "Names are a contract"
Names = list[str]
Walk = Callable[[nn.Module], Names]


def walker(depth: int = 99, path: str = "whole", once: bool = True, with_none: bool = False) -> Walk:
    """A walk by someone who has the idea that the options say."""

    def pairs(module: Any, prefix: str, level: int) -> list[tuple[str, Any]]:
        found = [(prefix + name, p) for name, p in module._parameters.items() if with_none or p is not None]
        for name, child in module._modules.items() if level < depth else ():
            step = {"whole": f"{prefix}{name}.", "parent": f"{name}.", "none": "", "no dot": prefix + name}[path]
            found += pairs(child, step, level + 1)
        return found

    def names(module: nn.Module) -> Names:
        seen: set[int] = set()
        result = []
        for name, parameter in pairs(module, "", 0):
            if not once or parameter is None or id(parameter) not in seen:
                result.append(name)
            seen.add(id(parameter))
        return result

    return names


MISTAKES: tuple[tuple[str, Walk], ...] = (
    ("You listed the module's own parameters only. Most of them belong to its children: call yourself.", walker(0)),
    ("You went down one level. A child may have children: call yourself for each, instead of reading it.", walker(1)),
    ("These names lack their path: two layers would both be called weight. Put the child's name before.",
     walker(path="none", once=False)),
    ("Your names have only the last step of the path. The prefix of the parent must stand before the child's name.",
     walker(path="parent")),
    ("The steps of a path are joined by dots.", walker(path="no dot")),
    ("A shared parameter came twice. An optimizer would step it twice: give it once, under its first name.",
     walker(once=False)),
    ("A name may be reserved with None, as the bias of Linear(bias=False) is. Skip those.", walker(with_none=True)),
)  # fmt: skip


def judge(answer: Callable[..., Any], text: str, module: nn.Module) -> None:
    expected = list(module.named_parameters())
    got = outcome(lambda: [(name, parameter) for name, parameter in answer(module)], ())
    if not isinstance(got, list):
        why = "Give pairs of a name and a parameter, also where there are none."
        raise WrongAnswer(f"named_parameters of {text}: expected pairs, got {got!r}", why)
    names, right = [name for name, _ in got], [name for name, _ in expected]
    if names != right:
        ideas = [message for message, walk in MISTAKES if walk(module) == names]
        why = ideas[0] if ideas else "Own parameters first, then each child in its order."
        raise WrongAnswer(f"named_parameters of {text}: expected {right}, got {names}", why)
    for (name, parameter), (_, given) in zip(expected, got, strict=True):
        if given is not parameter:
            why = "Give the parameter itself, not a copy: an optimizer has to write into it."
            raise WrongAnswer(f"named_parameters of {text}: {name} is another object", why)


@WALK.case("a layer", points=1, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "nn.Linear(3, 2)", nn.Linear(3, 2))
    judge(answer, "nn.Linear(3, 2, bias=False)", nn.Linear(3, 2, bias=False))


@WALK.case("a tree", points=2, section=SECTION)
def _(answer: Callable[..., Any]) -> None:
    judge(answer, "nn.Sequential(nn.Linear(3, 2), nn.ReLU())", nn.Sequential(nn.Linear(3, 2), nn.ReLU()))
    deep = nn.Sequential(nn.Linear(3, 2), nn.Sequential(nn.ReLU(), nn.Sequential(nn.Linear(2, 2))))
    judge(answer, "a Sequential in a Sequential in a Sequential", deep)


@WALK.case("a shared parameter comes once", points=1, section=SHARED)
def _(answer: Callable[..., Any]) -> None:
    tied = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
    tied[1][0].weight = tied[0].weight
    judge(answer, "two Linear that share their weight", tied)
