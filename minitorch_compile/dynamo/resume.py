"""Resume functions: the rest of a function, from one of its instructions on, as a function of its own.

Where a graph breaks, the frame is taken apart: stack, live slots. The resume function takes them as arguments, puts
the stack together again, and jumps into the middle of the user's own bytecode, so that every loop, `try` and line
number stays as it was.

>>> from minitorch_compile.dynamo.decode import decode
>>> def total(prices, tax):
...     subtotal = sum(prices)
...     return subtotal * (1 + tax)
>>> program = decode(total.__code__)
>>> after_the_call = 1 + [inst.opname for inst in program.instructions].index("CALL")
>>> resume = make_resume_code(program, after_the_call, stack_size=1, slots={"tax"})
>>> resume.argument_names
('tax', '__stack0')
>>> resume.function(globals())(0.5, 10)           # as if sum(prices) had returned 10
15.0
>>> decode(resume.code)                             # doctest: +ELLIPSIS
  0 LOAD_FAST            '__stack0'
  1 DELETE_FAST          '__stack0'
  2 JUMP                 to 7
  3 ...

Cells (variables shared with inner functions) are not arguments but free variables: the same cell objects go on being
used.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .assemble import assemble
from .control_flow import handler_depths, open_with_blocks
from .decode import remember
from .instructions import Instruction, Program

_SIGNATURE_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_NESTED
_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class CannotResume(NotImplementedError):
    """The rest of the function cannot be made a function of its own at this place."""


@dataclass(frozen=True)
class ResumeCode:
    """A resume function without its cells. `origin` and `origin_index` are the user's program and where it goes on."""

    code: types.CodeType
    origin: Program
    origin_index: int
    prefix_length: int

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The positional parameters: live slots in the user's order, then the stack from the bottom, without its
        NULLs."""
        return self.code.co_varnames[: self.code.co_argcount]

    @property
    def free_names(self) -> tuple[str, ...]:
        """The variables whose cells `function` needs, in the order of the closure."""
        return self.code.co_freevars

    def function(
        self, module_globals: dict[str, Any], cells: Mapping[str, types.CellType] | None = None
    ) -> types.FunctionType:
        """The callable, over the cells of this call."""
        closure = tuple((cells or {})[name] for name in self.free_names)
        return types.FunctionType(self.code, module_globals, self.code.co_name, None, closure)


_resume_codes: dict[int, ResumeCode] = {}  # by the identity of their code object, which they keep alive
# One for each place and stack: all versions of a function go on in the same one, which has its own versions.
_made: dict[tuple[Any, ...], ResumeCode] = {}


def resume_code_of(code: types.CodeType) -> ResumeCode | None:
    """What a code object that `make_resume_code` made resumes; None for any other code object."""
    return _resume_codes.get(id(code))


def make_resume_code(
    program: Program,
    index: int,
    *,
    stack_size: int,
    nulls: Collection[int] = (),
    slots: Collection[str] = (),
    cells: Collection[str] = (),
    inside_with: bool = False,
) -> ResumeCode:
    """The code that continues `program` at instruction `index`.

    stack_size: how many stack slots there are at that point; nulls: the positions (0 is the bottom) that hold NULL.
    slots: names of the bound slots to pass as arguments; cells: names of those to pass as cells. Other slots start
    unbound. If `program` is itself a resume function, the result continues the user's function directly.
    inside_with: allow a place inside a `with` block; its `__exit__` method is then one of the stack values (from 3.14
    on with a NULL above it), and the caller must have entered the block for real.
    """
    resumed = resume_code_of(program.code)
    if resumed is not None:
        if index < resumed.prefix_length:
            raise CannotResume(f"{program.code.co_qualname}: instruction {index} is in the generated prefix.")
        program, index = resumed.origin, index - resumed.prefix_length
    _check_resumable(program, index, cells, inside_with)

    key = (id(program.code), index, stack_size, frozenset(nulls), frozenset(slots), frozenset(cells))
    if key not in _made:
        _made[key] = _make(program, index, stack_size, nulls, slots, cells)
    return _made[key]


def _make(
    program: Program,
    index: int,
    stack_size: int,
    nulls: Collection[int],
    slots: Collection[str],
    cells: Collection[str],
) -> ResumeCode:
    stack = [None if position in nulls else f"__stack{position}" for position in range(stack_size)]
    arguments = [name for name in program.slot_names if name in slots and name not in cells]
    arguments += [name for name in stack if name is not None]
    prefix = [inst for name in stack for inst in _push(name)]
    prefix.append(Instruction("JUMP", target=len(prefix) + 1 + index))

    rest = program.shifted(len(prefix))
    header = _header(program, index, arguments, cells)
    whole = replace(rest, code=header, instructions=(*prefix, *rest.instructions))
    code = assemble(whole)
    remember(replace(whole, code=code))
    _resume_codes[id(code)] = ResumeCode(code, program, index, len(prefix))
    return _resume_codes[id(code)]


def _push(argument: str | None) -> list[Instruction]:
    """Put an argument on the stack, and only there: `locals()` must not see it, and it must not live longer than it
    would have in the user's frame."""
    if argument is None:
        return [Instruction("PUSH_NULL")]
    return [Instruction("LOAD_FAST", argument), Instruction("DELETE_FAST", argument)]


def _check_resumable(program: Program, index: int, cells: Collection[str], inside_with: bool) -> None:
    code = program.code
    where = f"{code.co_qualname}, line {program.instructions[index].line}"
    if code.co_flags & _GENERATOR_FLAGS:
        raise CannotResume(f"{where}: a generator cannot be split.")
    if open_with_blocks(program, index) and not inside_with:
        raise CannotResume(f"{where}: the place is inside a `with` block.")
    if handler_depths(program).get(index):
        raise CannotResume(
            f"{where}: the place is inside an `except` or `finally` block that is handling an exception."
        )
    calls_super = any(i.opname == "LOAD_GLOBAL" and i.argval == "super" for i in program.instructions)
    if calls_super and code.co_varnames[:1] and code.co_varnames[0] in cells:
        raise CannotResume(f"{where}: super() needs {code.co_varnames[0]!r}, which an inner function shares.")


def _header(program: Program, index: int, arguments: list[str], cells: Iterable[str]) -> types.CodeType:
    """The user's code object with the resume function's name and variables."""
    code = program.code
    free = _ordered((*code.co_freevars, *(name for name in code.co_cellvars if name in cells)))
    rest = (name for name in program.slot_names if name not in free)
    varnames = _ordered((*arguments, *rest))
    flags = code.co_flags & ~_SIGNATURE_FLAGS | (inspect.CO_NESTED if free else 0)
    line = program.instructions[index].line or code.co_firstlineno
    return code.replace(
        co_name=f"resume_in_{code.co_name}_at_{line}",
        co_qualname=f"resume_in_{code.co_qualname}_at_{line}",
        co_argcount=len(arguments),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_varnames=varnames,
        co_nlocals=len(varnames),
        co_cellvars=(),
        co_freevars=free,
        co_flags=flags,
    )


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Without repetitions, in order."""
    return tuple(dict.fromkeys(names))
