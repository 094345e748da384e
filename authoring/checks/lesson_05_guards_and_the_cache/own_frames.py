"""What the steps of `mini/guards.py` are judged with: frames with given local variables, and what is read from them."""

from __future__ import annotations

from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer


def frame_of(mini: Any, **values: Any) -> Any:
    """A frame that has these local variables and an empty stack."""
    frame = mini.interpreter.Frame(lambda: None, (), {})
    frame.locals = values
    return frame


def local(mini: Any, name: str) -> Any:
    return mini.guards.local(name)


def read(mini: Any, **values: Any) -> tuple[Any, Any, dict[str, Any]]:
    """The guards, the frame, and what the trace uses for each variable."""
    guards, frame = mini.guards.Guards(), frame_of(mini, **values)

    def make_input(source: Any, tensor: Any) -> Any:
        return mini.tensor.fake(tensor.sizes, tensor.dtype)

    return guards, frame, {name: guards.read(local(mini, name), value, make_input) for name, value in values.items()}


def shown(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


def judge_worlds(mini: Any, before: dict[str, Any], after: dict[str, Any], holds: bool, why: str) -> None:
    """Guards of a trace that has read `before`: they hold there, and in `after` if `holds`."""
    guards, frame, _ = read(mini, **before)
    texts = [str(guard) for guard in guards]
    failing = guards.first_failing(frame)
    if failing is not None:
        raise WrongAnswer(
            f"{shown(before)} was read, and nothing changed: the guard {str(failing)!r} fails",
            "What was just read must hold until something changes.",
        )
    frame.locals = after
    failing = guards.first_failing(frame)
    if (failing is None) != holds:
        expected = "all guards to hold" if holds else "a guard that fails"
        got = f"{str(failing)!r} fails" if failing is not None else f"all hold: {texts}"
        raise WrongAnswer(f"{shown(before)} was read; now {shown(after)}: expected {expected}, got: {got}", why)
