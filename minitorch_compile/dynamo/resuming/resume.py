"""Resume functions: the rest of a function, from one of its instructions on, as a function of its own.

Where a graph breaks, the frame is taken apart: stack, live slots. The resume function takes them as arguments, puts
the stack together again, and jumps into the middle of the user's own bytecode, so that every loop, `try` and line
number stays as it was.

>>> from minitorch_compile.dynamo.bytecode.decode import decode
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

Cells (variables shared with inner functions) are not arguments but come in the closure: the same cell objects go on
being used. From 3.11 on, an open `with` or `try` is nothing but a range of the exception table and some stack slots,
so the place may be inside of any block. In an `except` block Python also knows which exception is being handled; that
one is an argument too, and the generated prefix makes it current again.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.control_flow import can_come_back
from minitorch_compile.dynamo.bytecode.decode import remember
from minitorch_compile.dynamo.bytecode.instructions import Program
from minitorch_compile.dynamo.resuming.resume_prefix import CELL, CannotResume, Prefix, shared_variable

_SIGNATURE_FLAGS = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_NESTED
_GENERATOR_FLAGS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class ResumeCode:
    """A resume function without its cells. `origin` and `origin_index` are the user's program and where it goes on.

    `name` is for generated code and pictures. The code object has the user's name, which a program may ask its frame
    for.
    """

    name: str
    code: types.CodeType
    origin: Program
    origin_index: int
    prefix_length: int

    @property
    def argument_names(self) -> tuple[str, ...]:
        """The positional parameters: live slots in the user's order, then the stack from the bottom, without its
        NULLs: `__stack0`, and `__handled0` for an exception that is being handled; then `__raised`."""
        return self.code.co_varnames[: self.code.co_argcount]

    @property
    def free_names(self) -> tuple[str, ...]:
        """The variables whose cells `function` needs, in the order of the closure."""
        return tuple(map(shared_variable, self.code.co_freevars))

    @cached_property
    def is_in_loop(self) -> bool:
        """Whether the user's program can come to this place again: resume functions may call each other in circles."""
        return can_come_back(self.origin, self.origin_index)

    def function(
        self, module_globals: dict[str, Any], cells: Mapping[str, types.CellType] | None = None
    ) -> types.FunctionType:
        """The callable, over the cells of this call."""
        closure = tuple((cells or {})[name] for name in self.free_names)
        return types.FunctionType(self.code, module_globals, self.code.co_name, None, closure)

    def closing_over(self, module_globals: dict[str, Any]) -> Callable[..., types.FunctionType]:
        """A function from the cells, in the order of `free_names`, to the callable."""
        return lambda *cells: self.function(module_globals, dict(zip(self.free_names, cells)))


_resume_codes: dict[int, ResumeCode] = {}  # by the identity of their code object, which they keep alive
_made: dict[Hashable, ResumeCode] = {}  # by what they were asked for


def resume_code_of(code: types.CodeType) -> ResumeCode | None:
    """What a code object that `make_resume_code` made resumes; None for any other code object."""
    return _resume_codes.get(id(code))


def shown_name(code: types.CodeType) -> str:
    """A code object's name in generated code and pictures, where a resume function is told from the user's."""
    resumed = resume_code_of(code)
    return code.co_qualname if resumed is None else resumed.name


def make_resume_code(
    program: Program,
    index: int,
    *,
    stack_size: int,
    nulls: Collection[int] = (),
    slots: Collection[str] = (),
    cells: Collection[str] = (),
    raising: bool = False,
) -> ResumeCode:
    """The code that continues `program` at instruction `index`.

    stack_size: how many stack slots there are at that point; nulls: the positions (0 is the bottom) that hold NULL.
    slots: names of the bound slots to pass as arguments; cells: names of those to pass as cells. Other slots start
    unbound. If `program` is itself a resume function, the result continues the user's function directly.
    raising: the instruction has raised the exception `__raised`; the code goes on in the handler around it, with the
    part of the stack that the handler keeps.

    Asked for the same again, it is the same: rounds of a loop, and compiled versions of a function, share what follows.
    """
    resumed = resume_code_of(program.code)
    if resumed is not None:
        if index < resumed.prefix_length:
            raise CannotResume(f"{program.code.co_qualname}: instruction {index} is in the generated prefix.")
        program, index = resumed.origin, index - resumed.prefix_length
    _check_resumable(program, index, cells)
    key = id(program), index, stack_size, frozenset(nulls), frozenset(slots), frozenset(cells), raising
    if key not in _made:
        _made[key] = _make(program, index, stack_size, nulls, slots, cells, raising)
    return _made[key]


def _make(
    program: Program,
    index: int,
    stack_size: int,
    nulls: Collection[int],
    slots: Collection[str],
    cells: Collection[str],
    raising: bool,
) -> ResumeCode:
    """A new one."""
    prefix = Prefix(program, index)
    prefix.take_cells(cells)
    prefix.push_stack(stack_size, nulls)
    prefix.raise_there() if raising else prefix.jump()
    line = program.instructions[index].line or program.code.co_firstlineno
    resume = assembled(prefix, slots, cells, f"resume_in_{program.code.co_name}_at_{line}")
    _resume_codes[id(resume.code)] = resume
    return resume


def assembled(prefix: Prefix, slots: Collection[str], cells: Collection[str], name: str) -> ResumeCode:
    """The prefix and the whole program as a code object."""
    program, length = prefix.program, len(prefix.instructions)
    arguments = [name for name in program.slot_names if name in slots and name not in cells]
    taken = [i.argval for i in prefix.instructions if i.opname == "LOAD_FAST"]
    arguments += [name for name in taken if not name.startswith(CELL)]
    rest = program.shifted(length)
    header = _header(program, arguments, cells)
    table = (*prefix.exception_table, *rest.exception_table)
    whole = Program(header, (*prefix.instructions, *rest.instructions), table)
    code = assemble(whole)
    remember(replace(whole, code=code))
    return ResumeCode(name, code, program, prefix.index, length)


def _check_resumable(program: Program, index: int, cells: Collection[str]) -> None:
    code = program.code
    where = f"{code.co_qualname}, line {program.instructions[index].line}"
    if code.co_flags & _GENERATOR_FLAGS:
        raise CannotResume(f"{where}: a generator cannot be split.")
    calls_super = any(i.opname == "LOAD_GLOBAL" and i.argval == "super" for i in program.instructions)
    if calls_super and code.co_varnames[:1] and code.co_varnames[0] in cells:
        raise CannotResume(f"{where}: super() needs {code.co_varnames[0]!r}, which an inner function shares.")
    hidden = {i.argval for i in program.instructions if i.opname == "LOAD_FAST_AND_CLEAR"} & set(cells)
    if hidden:  # the slot is a cell here, and will be none after the comprehension
        raise CannotResume(f"{where}: the comprehension shares its {min(hidden)!r} with an inner function.")


def _header(program: Program, arguments: list[str], cells: Iterable[str]) -> types.CodeType:
    """The user's code object with the resume function's variables."""
    code = program.code
    own = tuple(name for name in code.co_cellvars if name in cells)
    free = (*code.co_freevars, *(CELL + name for name in own))
    rest = (name for name in program.slot_names if name not in (*free, *own))
    varnames = _ordered((*arguments, *rest))
    flags = code.co_flags & ~_SIGNATURE_FLAGS | (inspect.CO_NESTED if free else 0)
    return code.replace(
        co_argcount=len(arguments),
        co_posonlyargcount=0,
        co_kwonlyargcount=0,
        co_varnames=varnames,
        co_nlocals=len(varnames),
        co_cellvars=own,
        co_freevars=free,
        co_flags=flags,
    )


def _ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Without repetitions, in order."""
    return tuple(dict.fromkeys(names))
