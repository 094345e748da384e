"""Which stack slots hold NULL before each instruction: the interpreter run over values that are nothing at all.

A callable pair is (function, NULL) or (NULL, function), or (function, first argument); which one it is, the instruction
does not say. Running the handlers on every path, without values, tells.

>>> from minitorch_compile.dynamo.decode import decode
>>> def f(x, g):
...     return g(x if x else -x)
>>> program = decode(f.__code__)
>>> call = [inst.opname for inst in program.instructions].index("CALL")
>>> sorted(map(repr, stack_shapes(program)[call]))
['NULL', 'None', 'None']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.dynamo.instructions import NULL, Program
from minitorch_compile.dynamo.interpreter import BytecodeInterpreter

Shape = tuple[Any, ...]  # NULL or None for each slot, from the bottom


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
            reached[frame.index] = tuple(NULL if value is NULL else None for value in frame.stack)
    return list(reached.items())


def _in_handler(program: Program, index: int, shape: Shape) -> list[tuple[int, Shape]]:
    entry = program.handler_of(index)
    if entry is None:
        return []
    return [(entry.target, (*shape[: entry.depth], *[None] * (2 if entry.lasti else 1)))]
