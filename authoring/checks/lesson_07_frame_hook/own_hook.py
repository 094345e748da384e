"""Step 07.5: the hook, and frames that ask it."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

from ..comparing import expect

OWN_HOOK = Step(
    "07.5",
    "the hook, and its frames",
    file="frames",
    minutes=10,
    hints=(
        "A subclass of Frame: its __init__ is Frame's, and keeps the hook; its apply has one line.",
        "super().__init__(function, args, kwargs). apply gets what is called and its arguments, by position and by"
        " name;"
        " all of them go on to the hook's call.",
        "return self.hook.call(function, *args, **kwargs). The hook: self.regions, self.backend = {}, backend.",
    ),
)
SECTION = "Four ways to stand in the way"


def f(x: Any) -> Any:
    return max(abs(x), key=len)


def hook_of(mini: Any, *backend: Any) -> tuple[Any, list[Any]]:
    """A hook that notes the calls and answers 42."""
    seen: list[Any] = []

    class Noting(mini.frames.FrameHook):
        def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append((function, args, kwargs))
            return 42

    return Noting(*backend), seen


@OWN_HOOK.case("its frames ask the hook", points=2, section=SECTION)
def _(mini: Any) -> None:
    hook, seen = hook_of(mini)
    try:
        frame = mini.frames.HookedFrame(f, (-3,), {})
        frame.hook = hook
        got = frame.run()[1]
    except TypeError as error:
        got = error
    if not seen or got != 42:
        raise WrongAnswer(
            f"a frame of f(-3) calls abs and max, and gave {got!r}; the hook's `call` was asked for {seen}",
            "apply, of a function and its arguments, gives what self.hook.call gives.",
        )
    why = "Arguments by name are passed on by name: max(42, key=len) is no max(42, len)."
    expect("what the hook was asked for", [(abs, (-3,), {}), (max, (42,), {"key": len})], seen, why)


@OWN_HOOK.case("and no others", points=1, section="On and off")
def _(mini: Any) -> None:
    frame, hooked = mini.interpreter.Frame, mini.frames.HookedFrame
    hooked(f, (-3,), {}).hook = hook_of(mini)[0]
    if frame.apply is hooked.apply:
        raise WrongAnswer(
            "a HookedFrame was made, and a plain Frame asks the hook, too",
            "All other frames are as they were: the answer is the subclass's own.",
        )


@OWN_HOOK.case("what it begins with", points=1, section=SECTION)
def _(mini: Any) -> None:
    first, second = (mini.frames.FrameHook("backend") for _ in range(2))
    expect("FrameHook(backend): its regions and backend", ({}, "backend"), (first.regions, first.backend), "Both kept.")
    first.regions["place"] = "region"
    if second.regions:
        raise WrongAnswer("one hook's regions are another's, too", "Two hooks remember apart.")
