"""The frame objects that an interpreted program sees: in tracebacks, from `sys._getframe()`, as `gi_frame`.

CPython makes a frame object only for code that it runs itself. So for each frame that is to be seen, a *stand-in* runs:
a code object with the name, the file and the variables of the interpreted one, all of whose instructions stand at the
place where the interpreted one is, and which only says who it is. It is what the frame was like at that moment.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def half(n):
...     return n / 0
>>> try:
...     interpret(half, 3)
... except ZeroDivisionError as error:
...     last = error.__traceback__.tb_next.tb_frame
>>> last.f_code.co_name, last.f_locals, last.f_lineno - half.__code__.co_firstlineno
('half', {'n': 3}, 1)
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from dis import Positions
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import Instruction
from minitorch_compile.dynamo.bytecode.location_table import encode_location_table
from minitorch_compile.dynamo.execution import generators
from minitorch_compile.dynamo.execution.generators import PREFIXES, interpreted_code, interpreted_frame

if TYPE_CHECKING:
    from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter

HOST = __file__.rpartition("frame_objects")[0]  # the interpreter's own code, whose frames the program does not see
SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE
STARS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS


def snapshot(frame: ConcreteInterpreter, raised_at: Positions | None = None) -> types.FrameType:
    """The frame as it is now, alone, as in a traceback. Its last instruction stands where it raised, if that is
    elsewhere."""
    return _stand_in(frame, _suspended(), raised_at)().gi_frame


def frame_object(frame: ConcreteInterpreter) -> types.FrameType:
    """The frame as it is now; `f_back` leads through those that called it."""
    look: Callable[[], types.FrameType] = sys._getframe
    for each in callers(frame):
        look = _stand_in(each, _calling(look))
    return look()


def view_of(suspended: Any, name: str) -> Any:
    """An attribute of a generator, a coroutine or an async generator: its frame and code are those of the program."""
    kind = name.removeprefix(PREFIXES[type(suspended)])
    code = interpreted_code(suspended) if kind in ("_frame", "_code") else None
    if code is None:
        return getattr(suspended, name)
    frame: Any = interpreted_frame(suspended) if kind == "_frame" else None
    if kind == "_code" or frame is None:
        return code if kind == "_code" else None
    return frame_object(frame) if frame.caller is not None else snapshot(frame)


def callers(frame: ConcreteInterpreter | None) -> Iterator[ConcreteInterpreter]:
    """The frame, the one that called it, and so on."""
    while frame is not None:
        yield frame
        frame = frame.caller


def _stand_in(
    frame: ConcreteInterpreter, body: types.CodeType, raised_at: Positions | None = None
) -> Callable[[], Any]:
    """Called, it runs the body's instructions in a frame like this one."""
    here = frame.instruction.positions
    places = [(here, len(body.co_code) // 2 - 1), (raised_at or here, 1)]
    if frame.namespace is not None:
        return functools.partial(eval, _code(frame, (), body, places), frame.globals, frame.namespace)
    variables = frame.visible()
    function = types.FunctionType(_code(frame, tuple(variables), body, places), frame.globals)
    return functools.partial(function, *variables.values())


def _code(
    frame: ConcreteInterpreter,
    names: tuple[str, ...],
    body: types.CodeType,
    places: list[tuple[Positions | None, int]],
) -> types.CodeType:
    own = frame.program.code
    return own.replace(
        co_code=body.co_code,
        co_consts=body.co_consts,
        co_stacksize=body.co_stacksize,
        co_exceptiontable=body.co_exceptiontable,
        co_linetable=encode_location_table(places, own.co_firstlineno),
        co_names=(),
        co_varnames=names,
        co_nlocals=len(names),
        co_argcount=len(names),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_cellvars=(),
        co_freevars=(),
        co_flags=own.co_flags & ~SUSPENDS & ~STARS | body.co_flags & SUSPENDS,
    )


@functools.cache
def _suspended() -> types.CodeType:
    """The instructions of a frame that has stopped."""
    return (lambda: (yield)).__code__


def _calling(look: Callable[[], types.FrameType]) -> types.CodeType:
    """The instructions of a frame that calls `look` and returns what it gives."""
    body = _call()
    return body.replace(co_consts=tuple(look if const is sys._getframe else const for const in body.co_consts))


@functools.cache
def _call() -> types.CodeType:
    program = decode((lambda: look()).__code__)  # type: ignore[name-defined]  # noqa: F821 (never run as it is)
    called = Instruction("LOAD_CONST", sys._getframe)
    steps = tuple(called if step.opname == "LOAD_GLOBAL" else step for step in program.instructions)
    return assemble(replace(program, instructions=steps))


# --- tracebacks -------------------------------------------------------------------------------------------------------


def traceback_here(frame: ConcreteInterpreter, error: BaseException) -> types.TracebackType:
    """The error's traceback as the program sees it, with one more entry: this frame, which it has just reached."""
    seen = snapshot(frame)
    frame.shown.append(seen)
    line = frame.instruction.line
    return types.TracebackType(without_host(error.__traceback__), seen, _last(seen), -1 if line is None else line)


def traceback_left(frame: ConcreteInterpreter, trace: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback of an exception that leaves the frame from a `finally` or `except` block: the frame object shows
    where it was left, the entry where it was raised."""
    step = frame.instruction
    if step.opname not in ("RERAISE", "RAISE_VARARGS"):
        return trace
    if step.opname == "RERAISE" and step.argval:
        frame.current = frame.stack[-step.argval]
    entries = list(entries_of(trace))
    trace = None
    for entry in reversed(entries):
        shown = entry.tb_frame
        if shown in frame.shown:
            shown = snapshot(frame, Positions(*list(shown.f_code.co_positions())[-1]))
        trace = types.TracebackType(trace, shown, entry.tb_lasti, entry.tb_lineno)
    return trace


def _last(frame: types.FrameType) -> int:
    """The offset of its last instruction."""
    return len(frame.f_code.co_code) - 2


def entries_of(trace: types.TracebackType | None) -> Iterator[types.TracebackType]:
    """From the outermost frame to the one that raised."""
    while trace is not None:
        yield trace
        trace = trace.tb_next


def without_host(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The traceback without the interpreter's own frames."""
    entries = list(entries_of(trace))
    trace = None
    for entry in reversed(entries):
        if not is_host(entry.tb_frame):
            trace = types.TracebackType(trace, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return trace


def is_host(frame: types.FrameType) -> bool:
    """Whether this is a frame of the interpreter."""
    return frame.f_code.co_filename.startswith(HOST) or frame.f_globals is vars(generators)


def outer_frame(depth: int) -> types.FrameType:
    """What `sys._getframe(depth)` gives below all interpreted frames: the frames that called the interpreter."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        if not is_host(frame):
            if depth == 0:
                return frame
            depth -= 1
        frame = frame.f_back
    raise ValueError("call stack is not deep enough")
