"""Exercise 14.5: stages and groups."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from .run_groups import loop_of

OWN_GROUPS = Step(
    "14.5",
    "stages and groups",
    file="fusion",
    minutes=10,
    hints=(
        "A stage has inner and loops, a group rows and stages. Their texts are joined ones: of loops by ', ', of stages"
        " by ' | '.",
        "A loop's part of the text is its reduction and its buffer's name; of a loop without a reduction, which is"
        " None, the name alone.",
        "loops = property(lambda self: [loop for stage in self.stages for loop in stage.loops]).",
    ),
)
SECTION = "When two loops may be one"


def summing(mini: Any, rows: tuple[int, ...], sizes: tuple[int, ...], reduced: tuple[int, ...] = ()) -> tuple[Any, Any]:
    x = mini.loops.Buffer("x0", (), "float32", None)

    def body(h: Any, index: Any) -> Any:
        return h.load(x, mini.index.flatten(index, sizes + reduced))

    return mini.fusion.Group(rows), loop_of(mini, "buf0", sizes, body, reduced)


@OWN_GROUPS.case("a stage's text", points=2, section=SECTION)
def _(mini: Any) -> None:
    _, plain = summing(mini, (4,), (4, 8))
    _, total = summing(mini, (4,), (4,), (8,))
    stage = mini.fusion.Stage((8,), [total, plain])
    if (stage.inner, stage.loops) != ((8,), [total, plain]):
        raise WrongAnswer(f"Stage((8,), loops) has inner {stage.inner} and loops {stage.loops}", "Keep both.")
    if str(stage) != "sum buf0, buf0":
        why = "A loop that reduces nothing is told by its buffer alone, a reduction by what it does and its buffer."
        raise WrongAnswer(f"a sum and a plain loop: expected the text sum buf0, buf0, got {stage}", why)


@OWN_GROUPS.case("a group's loops, and its text", points=2, section=SECTION)
def _(mini: Any) -> None:
    group, loop = summing(mini, (4,), (4, 8))
    _, other = summing(mini, (4,), (4,), (8,))
    if mini.fusion.Group([4]).rows != (4,) or group.stages != []:
        raise WrongAnswer("Group([4]) has to have rows (4,) and no stages", "rows is a tuple, and stages come by add.")
    group.stages = [mini.fusion.Stage((8,), [other]), mini.fusion.Stage((8,), [loop])]
    if list(group.loops) != [other, loop]:
        raise WrongAnswer(
            (f"loops: expected those of all stages in order, got {group.loops}"), "A flat list, stage after stage."
        )
    if not isinstance(group.loops, list):
        raise WrongAnswer(f"loops is a {type(group.loops).__name__}", "A list keeps the order in which they run.")
    if str(group) != "rows (4,): sum buf0 | buf0":
        raise WrongAnswer(
            (f"expected the text rows (4,): sum buf0 | buf0, got {group}"), "The stages stand between bars."
        )
