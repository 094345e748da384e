"""Step 05.8: what holds between paths, and around the call."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer, outcome
from minitorch_compile.course.checking.step import Step

from .own_frames import frame_of, local, read

SHARING = Step(
    "05.8",
    "what no single path tells",
    file="guards",
    minutes=15,
    hints=(
        "sharing gives for each source the position of the first one that leads to the same thing. Which thing is it,"
        " for a tensor, that a write changes?",
        "Two tensors share if their storages are one; anything else if it is the same object. places.index(place) is"
        " the position of the first.",
        "layers(): [(type(layer), getattr(layer, 'enabled', True)) for layer in STACK]. require_same_setting computes"
        " both now, and requires that both give the same later.",
    ),
)
SECTION = "The package's own"


def view_of(mini: Any, x: Any) -> Any:
    return mini.tensor.Tensor(x.storage, x.layout.narrow(0, 0, 1))


def judge_sharing(mini: Any, values: dict[str, Any], expected: list[int], why: str) -> None:
    sources = [local(mini, name) for name in values]
    got = outcome(mini.guards.sharing, (sources, frame_of(mini, **values)))
    if got != expected:
        raise WrongAnswer(f"sharing of {', '.join(values)}: expected {expected}, got {got!r}", why)


@SHARING.case("who is one with whom", points=2, section=SECTION)
def _(mini: Any) -> None:
    x, y, items = mini.tensor.tensor([1.0, 2.0]), mini.tensor.tensor([1.0, 2.0]), [1]
    judge_sharing(mini, {"x": x, "y": y}, [0, 1], "Equal is not one: two tensors, two memories.")
    judge_sharing(mini, {"x": x, "y": y, "x_again": x, "y_again": y}, [0, 1, 0, 1], "For each the first that it is.")
    judge_sharing(mini, {"a": items, "b": [1], "c": items}, [0, 1, 0], "Equal lists are not one list.")
    why = "A view is another tensor, and its storage is the same: a write into x is seen through it."
    judge_sharing(mini, {"x": x, "view": view_of(mini, x), "y": y}, [0, 0, 2], why)
    judge_sharing(mini, {}, [], "No sources, nothing shared.")


def still_holds(mini: Any, before: dict[str, Any], after: dict[str, Any]) -> bool:
    guards, frame, _ = read(mini, **before)
    mini.guards.require_same_setting(guards, frame)
    failing = guards.first_failing(frame)
    if failing is not None:
        raise WrongAnswer(f"nothing has changed, and {str(failing)!r} fails", "Compare what was with what is.")
    frame.locals = {}  # it has come to its end
    return guards.first_failing(frame_of(mini, **after)) is None


@SHARING.case("what was different stays different", points=2, section=SECTION)
def _(mini: Any) -> None:
    x, y = mini.tensor.tensor([1.0]), mini.tensor.tensor([2.0])
    if not still_holds(mini, {"a": x, "b": y}, {"a": y, "b": x}):
        raise WrongAnswer(
            "two tensors a and b were read; exchanged, they fail",
            "Both are different still, and that is all one needs.",
        )
    if still_holds(mini, {"a": x, "b": y}, {"a": x, "b": x}):
        raise WrongAnswer(
            "two tensors a and b were read; now both are the same one, and all guards hold",
            "The graph writes into a and reads b, as if they were two: what was different must stay different.",
        )
    if still_holds(mini, {"a": [1], "b": [1]}, (lambda one: {"a": one, "b": one})([1])):
        raise WrongAnswer(
            "two lists a and b were read; now both are the same one, and all guards hold",
            "Not only tensors can be written to. guards.mutable has the sources of all that can be changed.",
        )
    shared = {"a": x, "b": view_of(mini, x)}
    if still_holds(mini, shared, {"a": x, "b": view_of(mini, y)}):
        raise WrongAnswer(
            "a tensor and a view of it were read; now it is a view of another tensor, and all guards hold",
            "What was one stays one: the new answer of sharing must be the old one.",
        )


@SHARING.case("the same layers see the ops", points=2, section=SECTION)
def _(mini: Any) -> None:
    class Switch(mini.ops.Layer):
        enabled = True

        def call(self, op: Any, args: Any) -> Any:
            return op(*args)

    layer = Switch()
    with layer:
        guards, frame, _ = read(mini, x=1)
        mini.guards.require_same_setting(guards, frame)
        if guards.first_failing(frame) is not None:
            raise WrongAnswer("nothing has changed, and a guard fails", "Compare what was with what is.")
        layer.enabled = False
        if guards.first_failing(frame) is None:
            raise WrongAnswer(
                "a layer was switched off after the trace, and all guards hold",
                "So no_grad works: the tape is there, and its `enabled` is False. Compare both, type and switch.",
            )
        layer.enabled = True
    if guards.first_failing(frame) is None:
        raise WrongAnswer(
            "a layer of the trace is gone, and all guards hold", "A graph that vmap recorded is no graph without vmap."
        )
    with Switch(), Switch():
        if guards.first_failing(frame) is None:
            raise WrongAnswer(
                "the trace had one layer, now there are two of this type, and all guards hold",
                "Two transforms, one in the other, are another program: a list has each as often as it is there.",
            )
    with type("Switch", (Switch,), {})():
        if guards.first_failing(frame) is None:
            raise WrongAnswer(
                "a layer of another class that is named Switch, too, is in its place, and all guards hold",
                "Two classes may have one name: compare the types themselves. Names are for the guard's text.",
            )
    with Switch():
        if guards.first_failing(frame) is not None:
            raise WrongAnswer(
                "another layer of the same type was entered, and a guard fails",
                "Each `with vmap` makes a new layer: compare types, not layers.",
            )
