"""What kind of slots the stack has before each instruction: the interpreter run over values that are nothing at all.

A callable pair is (function, NULL) or (NULL, function), or (function, first argument); which one it is, the instruction
does not say. Nor can one see from an instruction in an `except` block which slot keeps the exception that was handled
before. Running the handlers on every path, without values, tells.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> def f(x, g):
...     return g(x if x else -x)
>>> program = decode(f.__code__)
>>> call = [inst.opname for inst in program.instructions].index("CALL")
>>> sorted(map(repr, stack_shapes(program)[call]))
['NULL', 'None', 'None']
>>> def g():
...     try:
...         h()
...     except KeyError:
...         print("missing")
>>> program = decode(g.__code__)
>>> text = [inst.argval for inst in program.instructions].index("missing")
>>> stack_shapes(program)[text][0]
PREVIOUS
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.dynamo.bytecode.control_flow import NEVER_RAISES
from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction, Program
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter

Shape = tuple[Any, ...]  # one of KINDS, or None, for each slot, from the bottom


class _Kind:
    """A slot of a special kind."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


PREVIOUS: Any = _Kind("PREVIOUS")  # what PUSH_EXC_INFO sets aside: the exception that was handled outside of this block
RAISED: Any = _Kind("RAISED")  # an exception that is on its way, before PUSH_EXC_INFO makes it the handled one
RAISED_AT: Any = _Kind("RAISED_AT")  # below it: the instruction that raised
KINDS = (NULL, PREVIOUS, RAISED, RAISED_AT)


class _Raised(Exception):
    """The path ends here; the way into the handler is walked by itself."""


class _Slots(dict[str, Any]):
    """Every slot is bound."""

    def __missing__(self, name: str) -> None:
        return None

    def __delitem__(self, name: str) -> None:
        """Nothing to delete."""


class _Nothing(BytecodeInterpreter):
    """A domain of one value, None. Hooks that are left out give it; `answer` is what every jump finds."""

    answer = True

    def unsupported(self, hook: str) -> Any:
        return None

    def load_slot(self, name: str) -> None:
        return None

    def truth(self, value: Any) -> bool:
        return self.answer

    def is_none(self, value: Any) -> bool:
        return self.answer

    def next_item(self, iterator: Any) -> tuple[bool, Any]:
        return self.answer, None

    def send(self, receiver: Any, value: Any) -> tuple[bool, Any]:
        return self.answer, None

    def lookup(self, mapping: Any, name: str) -> Any:
        return None

    def unpack(self, iterable: Any, count: int) -> Sequence[Any]:
        return [None] * count

    def unpack_ex(self, iterable: Any, before: int, after: int) -> Sequence[Any]:
        return [None] * (before + 1 + after)

    def PUSH_EXC_INFO(self, inst: Instruction) -> None:
        self.stack[-1:] = [PREVIOUS, None]

    def RETURN_GENERATOR(self, inst: Instruction) -> None:
        self.push(None)  # what is sent first; the frame goes on

    def YIELD_VALUE(self, inst: Instruction) -> None:
        self.stack[-1] = None  # what is sent

    def exception_group_split(self, exception: Any, classes: Any) -> tuple[Any, Any]:
        return None, None

    def stop_iteration_value(self, exception: Any) -> tuple[bool, Any]:
        return True, None

    def exception_info(self, exception: Any) -> list[Any]:
        return [None] * 3

    def raise_(self, exception: Any, cause: Any) -> NoReturn:
        raise _Raised

    def reraise(self, exception: Any) -> NoReturn:
        raise _Raised


def ends_handler(shape: Shape) -> bool:
    """Whether an exception is on its way to a handler, or has just been dealt with: between the instructions that only
    move these slots around."""
    return any(
        kind is RAISED or kind is RAISED_AT and above is not PREVIOUS for kind, above in zip(shape, (*shape[1:], None))
    )


def stack_shapes(program: Program) -> dict[int, Shape]:
    """The stack before each instruction that can be reached."""
    shapes: dict[int, Shape] = {}
    pending: list[tuple[int, Shape]] = [(0, ())]
    while pending:
        index, shape = pending.pop()
        if index not in shapes:
            shapes[index] = shape
            pending += [*_after(program, index, shape), *_in_handler(program, index, shape)]
    return shapes


def _after(program: Program, index: int, shape: Shape) -> list[tuple[int, Shape]]:
    """Where the instruction goes, both ways if it is a jump."""
    reached = {}
    for answer in (True, False):
        frame = _Nothing(program, _Slots())
        frame.index, frame.stack, frame.answer = index, list(shape), answer
        try:
            frame.step()
        except _Raised:
            continue
        if frame.outcome is None:
            reached[frame.index] = tuple(value if value in KINDS else None for value in frame.stack)
    return list(reached.items())


def _in_handler(program: Program, index: int, shape: Shape) -> list[tuple[int, Shape]]:
    entry = program.handler_of(index)
    if entry is None or program.instructions[index].opname in NEVER_RAISES:
        return []
    return [(entry.target, (*shape[: entry.depth], *([RAISED_AT] if entry.lasti else []), RAISED))]
