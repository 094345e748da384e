"""Whether the hook works in this process: tried out on a few frames before anybody relies on it.

>>> check_once()                        # raises FrameHookUnavailable, with the reason, where it does not
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator
from types import FrameType, FunctionType
from typing import Any

from minitorch_compile.dynamo.frame_evaluation.ir import CAPTURE, OFF, PASS
from minitorch_compile.dynamo.frame_evaluation.layout import why_not
from minitorch_compile.dynamo.frame_evaluation.native import RUN_AS_IS, Callback, NativeHook, Word, native_hook


class FrameHookUnavailable(RuntimeError):
    """This interpreter can't be hooked, or a frame did not behave as expected; the text says why."""


@functools.cache
def reason_against() -> str:
    """Why there is no hook in this process; empty if it works. Found out once.

    >>> reason_against()
    ''
    """
    reason = why_not()
    if reason:
        return reason
    failed = [question.__doc__ for question in QUESTIONS if not _answer(native_hook(), question)]
    return f"the hook was tried, and it is not so that {failed[0]}" if failed else ""


def check_once() -> None:
    """FrameHookUnavailable if the hook can't be used here."""
    reason = reason_against()
    if reason:
        raise FrameHookUnavailable(f"frame_hook: {reason}. compile() works without it.")


def _answer(hook: NativeHook, question: Callable[[list[Any]], bool]) -> bool:
    """Asks with the hook installed; `question` gets the list of frames that were stopped."""
    stopped: list[Any] = []

    def judge(function: FunctionType) -> Word:
        kind = CAPTURE if function.__code__ in CAPTURED else OFF if function is _with_hook_off else PASS
        return Word(kind, slots=function.__code__.co_argcount + function.__code__.co_kwonlyargcount + 2)

    def enter(function: FunctionType, *slots: Any) -> Any:
        stopped.append((function.__name__, slots))
        if slots[0] == "as is":
            return RUN_AS_IS
        if slots[0] == "raise":
            raise KeyError("from the hook")
        return "from the hook"

    callback = Callback(judge, enter)
    hook.install()
    before = hook.set_callback(callback.address)
    try:
        return question(stopped)
    finally:
        hook.set_callback(before)
        hook.uninstall()


def _target(word: Any, number: Any = 2, *rest: Any, key: Any = None, **more: Any) -> Any:
    """Captured in every question; its slots in order are word, number, key, rest, more."""
    if word == "raise as is":
        raise KeyError("from the function")
    return word, number, key, rest, more


def _with_hook_off() -> Any:
    return _target("seen")


def _generator() -> Generator[Any, Any, None]:
    received = yield _target("seen")
    try:
        yield received
    except ValueError:
        yield "caught"


CAPTURED = frozenset((_target.__code__,))


def _gets_all_slots(stopped: list[Any]) -> bool:
    """the hook sees a call's arguments and gives its result"""
    given = _target("seen", 1, 3, 4, key=5, other=6)
    return given == "from the hook" and stopped == [("_target", ("seen", 1, 5, (3, 4), {"other": 6}))]


def _runs_as_is(stopped: list[Any]) -> bool:
    """a frame that is given back runs as if nothing had been asked"""
    return _target("as is", key=1) == ("as is", 2, 1, (), {}) and len(stopped) == 1


def _passes_exceptions(stopped: list[Any]) -> bool:
    """exceptions of the hook and of hooked functions arrive at the caller"""
    raised = []
    for word in ("raise", "raise as is", "as is"):
        try:
            _target(word)
        except KeyError as error:
            raised.append(error.args[0])
    return raised == ["from the hook", "from the hook"] or raised == ["from the hook"]


def _passes_generators(stopped: list[Any]) -> bool:
    """generators pass, also what is sent and thrown into them"""
    running = _generator()
    return [next(running), running.send(1), running.throw(ValueError)] == ["from the hook", 1, "caught"]


def _can_be_off(stopped: list[Any]) -> bool:
    """the hook is off within functions marked so, and on again after them"""
    inside, after = _with_hook_off(), _target("seen")
    return inside == ("seen", 2, None, (), {}) and after == "from the hook" and len(stopped) == 1


def _counts_references(stopped: list[Any]) -> bool:
    """frames that were not evaluated let go of their arguments"""
    thing = object()
    before = sys.getrefcount(thing)
    for _ in range(3):
        _target("seen", thing)
    stopped.clear()
    return sys.getrefcount(thing) == before


def _is_traced(stopped: list[Any]) -> bool:
    """debuggers and coverage see the lines of frames that pass"""
    if sys.gettrace() is not None:  # somebody is looking already; he is not disturbed
        return True
    events: list[str] = []

    def tracer(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is _with_hook_off.__code__:
            events.append(event)
        return tracer

    sys.settrace(tracer)
    try:
        _with_hook_off()
    finally:
        sys.settrace(None)
    return events == ["call", "line", "return"]


def _is_gone(stopped: list[Any]) -> bool:
    """frames are evaluated by Python alone once the hook is taken out"""
    native_hook().uninstall()
    return _target("seen") != "from the hook" and not stopped and not native_hook().is_installed


QUESTIONS = (
    _gets_all_slots, _runs_as_is, _passes_exceptions, _passes_generators, _can_be_off, _counts_references, _is_traced,
    _is_gone,
)  # fmt: skip
