"""The version-free instruction set: what every CPython bytecode dialect is turned into before anything reads it.

`decode` makes a `Program` of these instructions from a code object of CPython 3.11 to 3.14; the interpreters run it,
`liveness` and `resume` analyse it, and `assemble` turns it back into a code object of the running version.

>>> step = Instruction("POP_JUMP_IF_FALSE", target=7)
>>> print(step)
POP_JUMP_IF_FALSE    to 7
>>> print(Instruction("CALL", (2, ("dim",))))
CALL                 (2, ('dim',))
>>> Instruction("ROT_THREE")
Traceback (most recent call last):
    ...
ValueError: Instruction: 'ROT_THREE' is not one of the normalised instructions; ...

**The stack** holds domain values, plus two things no program can name: `NULL` (the empty half of a callable pair) and,
above an open handler that asked for it, the index of the instruction that raised.

**Slots.** As in CPython, a function has one row of named slots, `locals`: a slot is empty (unbound), holds a value,
or holds a *cell* that holds the value. `MAKE_CELL` puts a slot's value into a cell; `LOAD_FAST` pushes what is in the
slot, cell or not (a closure is built by pushing cells that way), `LOAD_DEREF` pushes what is in the slot's cell. A
slot can change its nature: from 3.12 on an inlined comprehension sets the outer slot aside with `LOAD_FAST_AND_CLEAR`
and restores it with `STORE_FAST`.

**A callable pair** is two stack slots below the arguments: (function, NULL) or (NULL, function), or (function, first
argument).
"""

from __future__ import annotations

import itertools
import types
from dataclasses import dataclass, field, replace
from dis import Positions
from typing import Any, NamedTuple

# The optional parts of a function that MAKE_FUNCTION finds on the stack, in that order, below the code object.
FUNCTION_ATTRIBUTES = ("defaults", "kwdefaults", "annotations", "closure", "annotate")

CONDITIONAL_JUMPS = frozenset({"POP_JUMP_IF_TRUE", "POP_JUMP_IF_FALSE", "POP_JUMP_IF_NONE", "POP_JUMP_IF_NOT_NONE"})
JUMPS = CONDITIONAL_JUMPS | {"JUMP", "FOR_ITER", "SEND"}
NO_FALL_THROUGH = frozenset({"JUMP", "RETURN_VALUE", "RAISE_VARARGS", "RERAISE"})


class Meaning(NamedTuple):
    """A row of the table: what `argval` is, stack before -> after (top on the right), and what the name does not
    say."""

    operand: str
    stack: str
    note: str = ""


INSTRUCTIONS: dict[str, Meaning] = {
    "LOAD_CONST": Meaning("the constant", "-> value"),
    "LOAD_FAST": Meaning("slot name", "-> content", "a value or a cell; an empty slot is an error"),
    "LOAD_FAST_AND_CLEAR": Meaning("slot name", "-> content or NULL", "the slot is left empty"),
    "STORE_FAST": Meaning("slot name", "content ->", "storing NULL empties the slot"),
    "DELETE_FAST": Meaning("slot name", "->", "an empty slot is an error"),
    "MAKE_CELL": Meaning("slot name", "->", "the slot's content goes into a new cell in the slot"),
    "LOAD_DEREF": Meaning("slot name", "-> value", "through the slot's cell"),
    "STORE_DEREF": Meaning("slot name", "value ->"),
    "DELETE_DEREF": Meaning("slot name", "->"),
    "LOAD_GLOBAL": Meaning("name", "-> value", "globals, then builtins"),
    "STORE_GLOBAL": Meaning("name", "value ->"),
    "DELETE_GLOBAL": Meaning("name", "->"),
    "LOAD_NAME": Meaning("name", "-> value", "class or module body: namespace, globals, builtins"),
    "STORE_NAME": Meaning("name", "value ->"),
    "DELETE_NAME": Meaning("name", "->"),
    "LOAD_LOCALS": Meaning("", "-> namespace"),
    "LOAD_FROM_DICT_OR_DEREF": Meaning("name", "mapping -> value", "class body reading an outer function's variable"),
    "LOAD_FROM_DICT_OR_GLOBALS": Meaning("name", "mapping -> value", "annotation scopes"),
    "SETUP_ANNOTATIONS": Meaning("", "->", "make __annotations__ in the namespace"),
    "LOAD_BUILD_CLASS": Meaning("", "-> function"),
    "LOAD_ATTR": Meaning("name", "object -> value"),
    "STORE_ATTR": Meaning("name", "value, object ->"),
    "DELETE_ATTR": Meaning("name", "object ->"),
    "LOAD_SPECIAL": Meaning("name", "object -> method, NULL", "looked up on the type (3.14 `with`)"),
    "BINARY_SUBSCR": Meaning("", "object, key -> value"),
    "STORE_SUBSCR": Meaning("", "value, object, key ->"),
    "DELETE_SUBSCR": Meaning("", "object, key ->"),
    "UNARY_OP": Meaning("'+' '-' '~' 'not'", "a -> value"),
    "BINARY_OP": Meaning("'+' ... or '+=' ...", "a, b -> value"),
    "COMPARE_OP": Meaning("'<' '<=' '==' '!=' ...", "a, b -> value"),
    "IS_OP": Meaning("negated: bool", "a, b -> value"),
    "CONTAINS_OP": Meaning("negated: bool", "item, container -> value"),
    "BUILD_TUPLE": Meaning("n", "v1 ... vn -> container"),
    "BUILD_LIST": Meaning("n", "v1 ... vn -> container"),
    "BUILD_SET": Meaning("n", "v1 ... vn -> container"),
    "BUILD_MAP": Meaning("n", "k1, v1 ... kn, vn -> dict"),
    "BUILD_CONST_KEY_MAP": Meaning("the keys", "v1 ... vn -> dict"),
    "BUILD_STRING": Meaning("n", "s1 ... sn -> str"),
    "BUILD_SLICE": Meaning("2 or 3", "start, stop [, step] -> slice"),
    "LIST_APPEND": Meaning("i", "v ->", "the container is the i-th below v"),
    "SET_ADD": Meaning("i", "v ->", "the container is the i-th below v"),
    "MAP_ADD": Meaning("i", "k, v ->"),
    "LIST_EXTEND": Meaning("i", "iterable ->"),
    "SET_UPDATE": Meaning("i", "iterable ->"),
    "DICT_UPDATE": Meaning("i", "mapping ->", "{**mapping}: later keys win"),
    "DICT_MERGE": Meaning("i", "mapping ->", "f(**a, **b): a repeated key is an error"),
    "LIST_TO_TUPLE": Meaning("", "list -> tuple"),
    "UNPACK_SEQUENCE": Meaning("n", "iterable -> vn ... v1"),
    "UNPACK_EX": Meaning("(before, after)", "iterable -> v(before+1+after) ... v1"),
    "CONVERT_VALUE": Meaning("'str' 'repr' 'ascii'", "v -> str"),
    "FORMAT_VALUE": Meaning("has spec: bool", "v [, spec] -> str"),
    "POP_TOP": Meaning("", "v ->"),
    "COPY": Meaning("i", "-> v", "v is the i-th from the top"),
    "SWAP": Meaning("i", "a ... b -> b ... a", "exchange the top and the i-th from the top"),
    "PUSH_NULL": Meaning("", "-> NULL"),
    "JUMP": Meaning("(target)", "->"),
    "POP_JUMP_IF_TRUE": Meaning("(target)", "v ->", "truth is tested here (no TO_BOOL)"),
    "POP_JUMP_IF_FALSE": Meaning("(target)", "v ->", "truth is tested here (no TO_BOOL)"),
    "POP_JUMP_IF_NONE": Meaning("(target)", "v ->"),
    "POP_JUMP_IF_NOT_NONE": Meaning("(target)", "v ->"),
    "GET_ITER": Meaning("", "iterable -> iterator"),
    "FOR_ITER": Meaning("(target)", "iterator -> iterator, item", "at the end: iterator -> and jump (out of the loop)"),
    "CALL": Meaning("(n, keyword names)", "pair, a1 ... an -> value", "the last len(names) arguments are keywords"),
    "CALL_FUNCTION_EX": Meaning("has kwargs: bool", "pair, args [, kwargs or NULL] -> value"),
    "MAKE_FUNCTION": Meaning("attribute names", "attributes ..., code -> function", "see FUNCTION_ATTRIBUTES"),
    "RETURN_VALUE": Meaning("", "v ->", "the frame ends"),
    "RETURN_GENERATOR": Meaning("", "-> (sent value)", "the frame returns a generator and waits"),
    "YIELD_VALUE": Meaning("delegating: bool", "v -> (sent value)", "delegating: inside `yield from` or `await`"),
    "GET_YIELD_FROM_ITER": Meaning("", "iterable -> iterator"),
    "SEND": Meaning(
        "(target)", "receiver, v -> receiver, yielded", "when the receiver is done: receiver, v -> returned, and jump"
    ),
    "GET_AWAITABLE": Meaning("0, 1 or 2", "v -> awaitable", "0 of `await`, 1 of __aenter__, 2 of __aexit__"),
    "GET_AITER": Meaning("", "iterable -> async iterator"),
    "GET_ANEXT": Meaning("", "async iterator -> async iterator, awaitable"),
    "END_ASYNC_FOR": Meaning("", "async iterator, exc ->", "at the end of the loop, else raise again"),
    "BEFORE_ASYNC_WITH": Meaning("", "manager -> exit, awaitable"),
    "END_SEND": Meaning("", "receiver, v -> v"),
    "CLEANUP_THROW": Meaning("", "receiver, v, exc -> None, value", "of a StopIteration, else raise again"),
    "STOP_ITERATION_ERROR": Meaning("", "exc -> exc", "a StopIteration becomes a RuntimeError"),
    "RAISE_VARARGS": Meaning("0, 1 or 2", "[exc [, cause]] ->"),
    "RERAISE": Meaning("i", "exc ->", "if i > 0, the raising index lies i below exc (for tracebacks only)"),
    "PUSH_EXC_INFO": Meaning("", "exc -> previous, exc"),
    "POP_EXCEPT": Meaning("", "previous ->"),
    "CHECK_EXC_MATCH": Meaning("", "exc, type -> exc, bool"),
    "CHECK_EG_MATCH": Meaning("", "exc, type -> rest or None, matched or None"),
    "PREP_RERAISE_STAR": Meaning("", "exc, list -> exc or None"),
    "BEFORE_WITH": Meaning("", "manager -> exit, entered"),
    "WITH_EXCEPT_START": Meaning(
        "slots of exit (1 or 2)", "exit [, NULL], index, previous, exc -> the same, exit's result"
    ),
    "GET_LEN": Meaning("", "v -> v, len"),
    "MATCH_MAPPING": Meaning("", "v -> v, bool"),
    "MATCH_SEQUENCE": Meaning("", "v -> v, bool"),
    "MATCH_KEYS": Meaning("", "v, keys -> v, keys, values or None"),
    "MATCH_CLASS": Meaning("n positional", "v, class, names -> values or None"),
    "IMPORT_NAME": Meaning("name", "level, fromlist -> module"),
    "IMPORT_FROM": Meaning("name", "module -> module, value"),
    "IMPORT_STAR": Meaning("", "module ->"),
    "PRINT_EXPR": Meaning("", "v ->", "what the prompt does with the value of a line"),
    "TYPE_PARAMETERS": Meaning("a key of TYPE_INTRINSICS", "v [, v] -> value", "of `def f[T]`, `class C[T]`, `type A`"),
}


# What type parameters are made with (PEP 695): how many values it takes, and CPython's number for it.
TYPE_INTRINSICS = {
    "TYPEVAR": (1, 7),
    "PARAMSPEC": (1, 8),
    "TYPEVARTUPLE": (1, 9),
    "SUBSCRIPT_GENERIC": (1, 10),
    "TYPEALIAS": (1, 11),
    "TYPEVAR_WITH_BOUND": (2, 2),
    "TYPEVAR_WITH_CONSTRAINTS": (2, 3),
    "SET_FUNCTION_TYPE_PARAMS": (2, 4),
    "SET_TYPEPARAM_DEFAULT": (2, 5),
}


def slot_names(code: types.CodeType) -> tuple[str, ...]:
    """Arguments and plain locals, then cells that are not arguments, then free variables. Two variables may have one
    name: the `__class__` of a class body and that of the class around it; from 3.12 on, the variable of a comprehension
    and one of an outer function. The free one keeps it.

    >>> def outer():
    ...     class A:
    ...         def method(self):
    ...             class B:
    ...                 around = __class__
    ...                 def method(self):
    ...                     return __class__
    ...             return B
    ...     return A
    >>> A = outer()
    >>> slot_names(next(code for code in A.method.__code__.co_consts if isinstance(code, types.CodeType)))
    ('own___class__', '__class__')
    """
    own = (*code.co_varnames, *(name for name in code.co_cellvars if name not in code.co_varnames))
    taken = {*own, *code.co_freevars}
    return (*(_unused(name, taken) if name in code.co_freevars else name for name in own), *code.co_freevars)


def has_hidden_variables(code: types.CodeType) -> bool:
    """Whether it is the hidden function of a comprehension, or of type parameters: `.0`, `.type_params`."""
    return any(name.startswith(".") for name in slot_names(code))


def _unused(name: str, taken: set[str]) -> str:
    return next(new for count in itertools.count() if (new := f"{'_' * count}own_{name}") not in taken)


class _Null:
    """What PUSH_NULL pushes: the empty half of a callable pair, or an empty slot set aside on the stack."""

    def __repr__(self) -> str:
        return "NULL"


NULL: Any = _Null()


@dataclass(frozen=True, slots=True)
class Instruction:
    """One step. `target` is the index of an instruction of the same program; `offset` the byte offset in the user's
    code object."""

    opname: str
    argval: Any = None
    target: int | None = None
    positions: Positions | None = field(default=None, compare=False, repr=False)
    offset: int | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.opname not in INSTRUCTIONS:
            raise ValueError(
                f"Instruction: {self.opname!r} is not one of the normalised instructions; "
                "dynamo/bytecode/instructions.py lists them."
            )

    @property
    def line(self) -> int | None:
        """The user's line number, None for code that has none (generated prefixes, implicit cleanup)."""
        return self.positions.lineno if self.positions else None

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction can run after this one."""
        return self.opname not in NO_FALL_THROUGH

    def __str__(self) -> str:
        return f"{self.opname:20} {self._operand()}".rstrip()

    def _operand(self) -> str:
        if self.target is not None:
            return f"to {self.target}"
        if isinstance(self.argval, types.CodeType):
            return f"<code {self.argval.co_qualname}>"
        return repr(self.argval) if self.opname == "LOAD_CONST" or self.argval is not None else ""


@dataclass(frozen=True, slots=True)
class ExceptionEntry:
    """While `start <= index < end`, an exception cuts the stack to `depth`, pushes the raising index if `lasti`, then
    the exception, and goes on at `target`. All are instruction indices."""

    start: int
    end: int
    target: int
    depth: int
    lasti: bool


@dataclass(frozen=True, repr=False)
class Program:
    """A decoded code object: normalised instructions, exception table, and the code object for names, flags and file.

    >>> from minitorch_compile.dynamo.bytecode.decode import decode
    >>> decode((lambda x: x + 1).__code__)
      0 LOAD_FAST            'x'
      1 LOAD_CONST           1
      2 BINARY_OP            '+'
      3 RETURN_VALUE
    """

    code: types.CodeType
    instructions: tuple[Instruction, ...]
    exception_table: tuple[ExceptionEntry, ...] = ()

    @property
    def slot_names(self) -> tuple[str, ...]:
        """Every slot, in CPython's order."""
        return slot_names(self.code)

    def handler_of(self, index: int) -> ExceptionEntry | None:
        """The entry that catches an exception raised by the instruction at `index`, if any."""
        return next((entry for entry in self.exception_table if entry.start <= index < entry.end), None)

    def shifted(self, by: int) -> Program:
        """The same program with every instruction index moved by `by`: what it becomes below a prefix of that
        length."""
        moved = tuple(i if i.target is None else replace(i, target=i.target + by) for i in self.instructions)
        table = tuple(
            replace(e, start=e.start + by, end=e.end + by, target=e.target + by) for e in self.exception_table
        )
        return Program(self.code, moved, table)

    def __repr__(self) -> str:
        lines = [f"{index:3} {inst}" for index, inst in enumerate(self.instructions)]
        lines += [
            f"    on error in {e.start}..{e.end - 1}: to {e.target}, depth {e.depth}" for e in self.exception_table
        ]
        return "\n".join(lines)
