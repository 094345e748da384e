"""Exceptions in generated code, made to look and behave as if the user's line had run in the user's frame.

A breaking instruction is done by generated code. If it raises, the traceback should name the user's line; if it stands
in an `except` block, it should find the exception that is being handled.

>>> import traceback
>>> def average(items):
...     return sum(items) / len(items)
>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> division = next(inst for inst in decode(average.__code__).instructions if inst.opname == "BINARY_OP")
>>> raise_here = raiser_at(average.__code__, division.positions)
>>> try:
...     raise_here(ZeroDivisionError())
... except ZeroDivisionError as error:
...     frame = traceback.extract_tb(error.__traceback__)[-1]
>>> frame.name, frame.lineno == average.__code__.co_firstlineno + 1
('average', True)
>>> import sys
>>> while_handling(KeyError("k"), lambda: sys.exc_info()[1]), sys.exc_info()[1]
(KeyError('k'), None)
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dis import Positions
from types import CodeType, FunctionType
from typing import Any, NoReturn

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.instructions import ExceptionEntry, Instruction, Program

Raiser = Callable[[BaseException], NoReturn]


# --- the user's line in the traceback ---------------------------------------------------------------------------------


def _raise_again(error: BaseException) -> NoReturn:
    raise error


def raiser_at(code: CodeType, positions: Positions | None) -> Raiser:
    """A function that raises its argument; in the traceback it is the function of that code, at that place."""
    steps = (Instruction("LOAD_FAST", "error"), Instruction("RAISE_VARARGS", 1))
    return moved(_raise_again.__code__, steps, code, positions)


def moved(own: CodeType, steps: tuple[Instruction, ...], code: CodeType, positions: Positions | None) -> FunctionType:
    """The function of code `own`, whose body these instructions are, as if it were that of
    `code`, and at that place."""
    whole = code.co_firstlineno, None, None, None
    line, end_line, column, end_column = positions if positions and positions.lineno else whole
    place = Positions(line, end_line, column, end_column)
    names = {name: getattr(code, name) for name in ("co_filename", "co_firstlineno", "co_name", "co_qualname")}
    header = own.replace(**names)
    there = tuple(Instruction(step.opname, step.argval, positions=place) for step in steps)
    return FunctionType(assemble(Program(header, there)), {})


def raised_at(raise_here: Raiser, error: BaseException) -> BaseException:
    """The exception with the user's place at the head of its traceback, instead of the generated frame's."""
    traceback = error.__traceback__
    try:
        raise_here(error.with_traceback(traceback.tb_next if traceback else None))
    except BaseException as same:  # noqa: BLE001  whatever it is, it goes on
        return same.with_traceback(same.__traceback__.tb_next if same.__traceback__ else None)


# --- the exception that is being handled ------------------------------------------------------------------------------


@functools.cache
def _while_handling() -> FunctionType:
    """PUSH_EXC_INFO makes an exception the handled one without raising it, so its traceback and context stay."""
    signature = (lambda exception, action: None).__code__
    pair = (Instruction("LOAD_FAST", "action"), Instruction("PUSH_NULL"))
    body = [
        Instruction("LOAD_FAST", "exception"),
        Instruction("PUSH_EXC_INFO"),
        Instruction("POP_TOP"),
        *(pair if sys.version_info >= (3, 13) else pair[::-1]),
        Instruction("CALL", (0, ())),
        Instruction("SWAP", 2),
        Instruction("POP_EXCEPT"),
        Instruction("RETURN_VALUE"),
        Instruction("COPY", 3),  # on an exception: previous, index, exception
        Instruction("POP_EXCEPT"),
        Instruction("RERAISE", 1),
    ]
    entry = ExceptionEntry(start=3, end=6, target=9, depth=1, lasti=True)
    return FunctionType(assemble(Program(signature, tuple(body), (entry,))), {})


def while_handling(exception: BaseException, action: Callable[[], Any]) -> Any:
    """`action()`, as it runs inside `except ... as exception:`."""
    return _while_handling()(exception, action)
