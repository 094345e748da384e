"""The generator, coroutine or async generator of an interpreted function: one of CPython's, whose body steps our frame.

CPython's own objects know how `send`, `throw`, `close`, `await` and the garbage collector treat what is suspended, and
every event loop takes them. So a body here only carries what it is sent into the frame, and what the frame yields out
again; where the frame delegates (`yield from`, `await`), it delegates too.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def squares(n):
...     for i in range(n):
...         yield i * i
>>> generator = interpret(squares, 3)
>>> next(generator), next(generator)
(0, 1)
>>> generator.__name__, interpreted_frame(generator).locals
('squares', {'n': 3, 'i': 1})
>>> list(generator)
[4]
"""

from __future__ import annotations

import inspect
import types
from collections.abc import AsyncGenerator, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias

from minitorch_compile.dynamo.execution.frame import Returned
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter

Suspended: TypeAlias = types.GeneratorType | types.CoroutineType | types.AsyncGeneratorType

KINDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


@dataclass(frozen=True, slots=True)
class Delegated:
    """The frame waits until the receiver of a `yield from` or `await`, whom CPython asks, is done."""

    value: Any


def make_suspended(frame: BytecodeInterpreter, name: str, qualname: str) -> Suspended:
    """The object that a call gives whose frame stops before its first line; it is named like the function called."""
    code = frame.program.code
    body = next(body for flag, body in _BODIES.items() if code.co_flags & flag)
    renamed = body.__code__.replace(
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_filename=code.co_filename,
        co_firstlineno=code.co_firstlineno,
        co_flags=body.__code__.co_flags & ~KINDS | code.co_flags & KINDS,
        co_consts=(*body.__code__.co_consts, code),  # for `interpreted_code`
    )
    made = types.FunctionType(renamed, globals())(frame)
    made.__name__, made.__qualname__ = name, qualname
    return made


def interpreted_frame(suspended: Any) -> BytecodeInterpreter | None:
    """The frame that the object steps, None if it is finished."""
    frame = getattr(suspended, f"{PREFIXES[type(suspended)]}_frame")
    return None if frame is None else frame.f_locals["frame"]


def interpreted_code(suspended: Any) -> types.CodeType | None:
    """The code object of the function that made it, None if that was not interpreted."""
    code = getattr(suspended, f"{PREFIXES[type(suspended)]}_code")
    ours = any(code.co_code == body.__code__.co_code for body in _BODIES.values())
    return code.co_consts[-1] if ours else None


def _go_on(frame: BytecodeInterpreter, sent: Any = None, error: BaseException | None = None) -> bool:
    """Run the frame to its next yield, or to its end; whether it can go on from there."""
    if error is None:
        frame.resume_with(sent)
    else:
        frame.throw(error)
    return not isinstance(frame.outcome, Returned)


def _taken(frame: BytecodeInterpreter) -> Any:
    """What the frame yielded; it belongs to the receiver alone from now on."""
    outcome: Any = frame.outcome
    frame.outcome = None
    return outcome.value


def _generator(frame: BytecodeInterpreter) -> Generator[Any, Any, Any]:
    more = _go_on(frame)
    while more:
        sent = error = None
        try:
            sent = (yield from _taken(frame)) if isinstance(frame.outcome, Delegated) else (yield _taken(frame))
        except BaseException as thrown:  # noqa: BLE001 (whatever it is, it goes on in the frame)
            error = thrown
        more = _go_on(frame, sent, error)
    return _taken(frame)


async def _coroutine(frame: BytecodeInterpreter) -> Any:
    more = _go_on(frame)
    while more:
        sent = error = None
        try:
            sent = await _taken(frame)
        except BaseException as thrown:  # noqa: BLE001
            error = thrown
        more = _go_on(frame, sent, error)
    return _taken(frame)


async def _async_generator(frame: BytecodeInterpreter) -> AsyncGenerator[Any, Any]:
    more = _go_on(frame)
    while more:
        sent = error = None
        try:
            sent = (await _taken(frame)) if isinstance(frame.outcome, Delegated) else (yield _taken(frame))
        except BaseException as thrown:  # noqa: BLE001
            error = thrown
        more = _go_on(frame, sent, error)


_BODIES: dict[int, Callable[..., Any]] = {
    inspect.CO_GENERATOR: _generator,
    inspect.CO_COROUTINE: _coroutine,
    inspect.CO_ASYNC_GENERATOR: _async_generator,
}
PREFIXES: dict[type, str] = {types.GeneratorType: "gi", types.CoroutineType: "cr", types.AsyncGeneratorType: "ag"}
