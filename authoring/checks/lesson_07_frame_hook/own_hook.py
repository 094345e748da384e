"""Step 07.7: the hook is entered and left."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer
from minitorch_compile.course.checking.step import Step

OWN_HOOK = Step(
    "07.7",
    "the hook",
    file="frames",
    minutes=12,
    hints=(
        "Frame.apply is an attribute of a class: set it to another function, and every frame calls by that one.",
        "The function that you set gets the frame as its first argument, as a method does, and passes the rest to"
        " self.call. Keep what was there in a list: a hook may be entered twice.",
        "self.backend = lambda graph: quiet(quiet(backend)(graph)): quiet while it compiles, and what it made is quiet"
        " while it runs.",
    ),
)
SECTION = "On and off"


def f(x: Any) -> Any:
    return abs(x)


def run(mini: Any, value: int) -> Any:
    return mini.interpreter.Frame(f, (value,), {}).run()[1]


def hook_of(mini: Any, *backend: Any) -> tuple[Any, list[Any]]:
    """A hook that notes the calls and answers 42."""
    seen: list[Any] = []

    class Noting(mini.frames.FrameHook):
        def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append((function, args, kwargs))
            return 42

    return Noting(*backend), seen


@OWN_HOOK.case("while it is entered it answers", points=2, section="Four ways to stand in the way")
def _(mini: Any) -> None:
    hook, seen = hook_of(mini)
    if run(mini, -3) != 3:
        raise WrongAnswer("a hook was made, and answers before it is entered", "It is on from __enter__ to __exit__.")
    with hook as entered:
        if entered is not hook:
            raise WrongAnswer(f"with hook as h: h is {entered!r}", "__enter__ gives the hook, for `as`.")
        got = run(mini, -3)
    if (abs, (-3,), {}) not in seen or got != 42:
        raise WrongAnswer(
            f"within the hook a frame called abs(-3) and got {got!r}; the hook's `call` was asked for {seen}",
            "Set Frame.apply to a function of (frame, function, *args, **kwargs) that gives what self.call gives.",
        )
    if run(mini, -3) != 3:
        raise WrongAnswer("the hook was left, and answers still", "__exit__ puts back what was there.")


@OWN_HOOK.case("nested, the innermost is asked", points=2, section=SECTION)
def _(mini: Any) -> None:
    before = mini.interpreter.Frame.apply
    (outer, seen_outer), (inner, _) = hook_of(mini), hook_of(mini)
    try:
        with outer:
            with inner:
                run(mini, -3)
            if seen_outer:
                raise WrongAnswer("two hooks were entered, and the outer one was asked", "The innermost is asked.")
            run(mini, -3)
            if not seen_outer:
                raise WrongAnswer(
                    "the inner one of two hooks was left, and nobody is asked",
                    "Leaving a hook puts back what was there when it was entered: the outer hook.",
                )
            with outer:
                pass
        if mini.interpreter.Frame.apply is not before:
            raise WrongAnswer(
                "a hook was entered twice and left twice, and is on still",
                "One place to remember what was there is not enough: keep a list, and take from its end.",
            )
    finally:
        mini.interpreter.Frame.apply = before


@OWN_HOOK.case("the compiler's work is quiet", points=2, section="The hook that calls itself")
def _(mini: Any) -> None:
    frame, states = mini.interpreter.Frame, []

    def backend(graph: Any) -> Any:
        states.append(("compiling", frame.apply))

        def compiled(*inputs: Any) -> str:
            states.append(("running", frame.apply))
            return "result"

        return compiled

    hook, _ = hook_of(mini, backend)
    with hook:
        result = hook.backend("graph")(1)
    for what, state in states:
        if state is not mini.frames.ORIGINAL:
            raise WrongAnswer(
                f"while {what} the hook was on",
                "A backend that calls compiled functions itself would call itself for ever: quiet, both it and its"
                " work.",
            )
    if result != "result" or [what for what, _ in states] != ["compiling", "running"]:
        raise WrongAnswer(f"hook.backend(graph)(1) gave {result!r}", "It compiles once, and gives what was compiled.")
