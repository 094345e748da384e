"""For the checks of `mini.interpreter`: frames that stand at one instruction, and programs run by it and by Python."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from minitorch_compile.course.checking.exercise import WrongAnswer

from ..comparing import attempt, expect


def frame_of(mini: Any, stack: list[Any], kind: type[Any] | None = None, **slots: Any) -> Any:
    """A frame with this stack and these slots, which is about to run nothing."""

    def nothing() -> None:
        pass

    frame = (kind or mini.interpreter.Frame)(nothing, (), {})
    frame.stack, frame.locals, frame.at = stack, slots, 7
    return frame


def noting(mini: Any) -> type[Any]:
    """A class of frames that note what they are asked to apply."""

    class Noting(mini.interpreter.Frame):
        asked: list[Any] = []

        def apply(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self.asked = [*self.asked, function]
            return function(*args, **kwargs)

    return Noting


def after(frame: Any, op: str, arg: Any) -> Any:
    """The stack after an instruction, or what it raised."""
    raised = attempt(getattr(frame, op), arg)
    return raised if isinstance(raised, str) else frame.stack


def agrees(mini: Any, function: Callable[..., Any], arguments: tuple[Any, ...], why: str) -> None:
    """The function gives the same, interpreted and by Python, and changes its arguments in the same way."""
    mine, plain = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected = attempt(function, *plain)
    got = attempt(mini.interpreter.run, function, *mine)
    call = f"{function.__name__}({', '.join(map(repr, arguments))}), interpreted"
    expect(call, expected, got, why)
    if repr(plain) != repr(mine):
        raise WrongAnswer(f"{call}: afterwards its arguments are {mine!r}, expected {plain!r}", why)
