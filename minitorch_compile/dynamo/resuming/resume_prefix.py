"""The first instructions of a resume function: they put a frame together again.

Cells are taken from the closure. Stack slots are arguments, pushed from the bottom up. Three kinds of slots need more:
an empty one (NULL), the exception that was handled before the one being handled now, and, below it, the place where
that was raised.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
>>> program = decode((lambda x, y: x + y).__code__)
>>> prefix = Prefix(program, index=2)              # before the addition, with x and y on the stack
>>> prefix.push_stack(2)
>>> prefix.jump()
>>> [str(inst) for inst in prefix.instructions][::2]
["LOAD_FAST            '__stack0'", "LOAD_FAST            '__stack1'", 'JUMP                 to 7']
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from minitorch_compile.dynamo.bytecode.instructions import ExceptionEntry, Instruction, Program
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from minitorch_compile.dynamo.execution.stack_shapes import PREVIOUS, RAISED_AT, ends_handler, stack_shapes

CELL = "__cell_"  # before the name of a variable: the closure's cell of it, until the slot of the variable has it


def shared_variable(free_name: str) -> str:
    """The user's variable whose cell a free variable of a resume function is."""
    return free_name.removeprefix(CELL)


class CannotResume(NotImplementedError):
    """The rest of the function cannot be made a function of its own at this place."""


def handled_exceptions(frame: BytecodeInterpreter, index: int) -> dict[int, Any]:
    """The exceptions that the frame is handling at the instruction, which it has come to, outermost first, by their
    stack slots."""
    shape = _shape(frame.program, index, len(frame.stack))
    positions = [position for position, kind in enumerate(shape) if kind is PREVIOUS]
    inner = [*(frame.stack[position] for position in positions[1:]), frame.handled]
    return dict(zip(positions, inner))


def _shape(program: Program, index: int, size: int) -> tuple[Any, ...]:
    """The lowest slots of the stack at the instruction, as far as the program tells their kinds."""
    if any(inst.opname == "PUSH_EXC_INFO" for inst in program.instructions):
        return stack_shapes(program)[index][:size]
    return (None,) * size


class Prefix:
    """The instructions that put a frame together again, before it goes on in `program` at `index`."""

    def __init__(self, program: Program, index: int) -> None:
        self.program = program
        self.index = index
        self.instructions: list[Instruction] = []
        self.exception_table: list[ExceptionEntry] = []
        self.waiting: int | None = None  # the slot of a RAISED_AT, until the exception is known

    def take_cells(self, cells: Collection[str]) -> None:
        """The function's own variables that inner functions share get their cells back, and stay its own: while one is
        empty, reading it is an UnboundLocalError. The closure's slot must have a cell, so it gets another."""
        for name in self.program.code.co_cellvars:
            if name in cells:
                self._take(CELL + name)
                self.instructions += [Instruction("STORE_FAST", name), Instruction("MAKE_CELL", CELL + name)]

    def push_stack(self, size: int, nulls: Collection[int] = ()) -> None:
        """Put the lowest slots of the stack back. `nulls`: those that hold NULL, the empty half of a callable pair."""
        shape = _shape(self.program, self.index, size)
        if ends_handler(shape):
            raise CannotResume(f"{self.program.code.co_qualname}: instruction {self.index} ends a handler.")
        for position, kind in enumerate(shape):
            self._push(position, kind, position in nulls)

    def _push(self, position: int, kind: Any, is_null: bool) -> None:
        if kind is RAISED_AT:
            self.waiting = position
        elif kind is PREVIOUS:
            self._handle(f"__handled{position}")
        elif is_null:
            self.instructions.append(Instruction("PUSH_NULL"))
        else:
            self._take(f"__stack{position}")

    def _take(self, argument: str) -> None:
        """Put an argument on the stack, and only there: `locals()` must not see it, and it must not live longer than
        it would have in the user's frame."""
        self.instructions += [Instruction("LOAD_FAST", argument), Instruction("DELETE_FAST", argument)]

    def _handle(self, argument: str) -> None:
        """The exception becomes the handled one; the slot gets the one that was handled before."""
        self._take(argument)
        if self.waiting is not None:
            entry = ExceptionEntry(0, 0, len(self.instructions) + 1, self.waiting, lasti=True)
            self._reraise(entry)
            self.waiting = None
        self.instructions += [Instruction("PUSH_EXC_INFO"), Instruction("POP_TOP")]

    def _reraise(self, entry: ExceptionEntry) -> None:
        """RERAISE leaves the exception's context and traceback as they are."""
        self._covered(Instruction("RERAISE", 0, positions=self.program.instructions[self.index].positions), entry)

    def _covered(self, instruction: Instruction, entry: ExceptionEntry) -> None:
        """An instruction, and where an exception goes that it raises."""
        at = len(self.instructions)
        self.instructions.append(instruction)
        self.exception_table.append(replace(entry, start=at, end=at + 1))

    def jump(self) -> None:
        """Go on at the instruction."""
        self.instructions.append(Instruction("JUMP", target=len(self.instructions) + 1 + self.index))

    def raise_there(self) -> None:
        """Raise `__raised` as if the instruction had."""
        entry = self.program.handler_of(self.index)
        if entry is None:
            raise CannotResume(
                f"{self.program.code.co_qualname}: nothing handles what instruction {self.index} raises."
            )
        self._take("__raised")
        self._reraise(replace(entry, target=entry.target + len(self.instructions) + 1))

    # --- generators ---------------------------------------------------------------------------------------------------

    def become_generator(self) -> None:
        """Before anything else: the call gives a generator, whose first `next` goes on here."""
        made = next(inst for inst in self.program.instructions if inst.opname == "RETURN_GENERATOR")
        self.instructions += [made, Instruction("POP_TOP", positions=made.positions)]

    def start(self) -> None:
        """Go on at the beginning of the generator, with what is sent first, None, on the stack."""
        self.instructions.append(Instruction("LOAD_CONST", None))
        self.jump()

    def wait(self) -> None:
        """Yield as the program does before this instruction, in the same `try` and `with` blocks, so that send, throw
        and close find it there; then go on, with what is sent on the stack."""
        self.instructions.append(Instruction("LOAD_CONST", None))
        entry = self.program.handler_of(self.index - 1)
        instruction = self.program.instructions[self.index - 1]
        if entry is None:
            self.instructions.append(instruction)
        else:
            whole = len(self.instructions) + 2  # with this and the jump
            self._covered(instruction, replace(entry, target=entry.target + whole))
        self.jump()
