"""The rules of decoding: for each CPython instruction, the normalised instructions that mean the same.

A rule takes the decoder and the raw instruction and emits. Most instructions keep name and
operand; a table holds those that only rename; what is left are the real differences between versions, each rule with
the versions it is for. `rules_for(version)` puts one version's rules together, also for a version that is not
running.

>>> "LOAD_METHOD" in rules_for((3, 11)), "LOAD_SPECIAL" in rules_for((3, 11)), "LOAD_SPECIAL" in rules_for((3, 14))
(True, False, True)
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from dis import Positions
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from minitorch_compile.dynamo.bytecode.instructions import FUNCTION_ATTRIBUTES, TYPE_INTRINSICS

if TYPE_CHECKING:
    from minitorch_compile.dynamo.bytecode.decode import Decoder

Version: TypeAlias = tuple[int, ...]
Rule: TypeAlias = Callable[["Decoder", "RawInstruction"], None]

OLDEST: Version = (3, 11)
NEWEST: Version = (3, 14)


class RawInstruction(NamedTuple):
    """An instruction as CPython has it: the operand as a number, and what `dis` says it means."""

    opname: str
    arg: int
    argval: Any
    argrepr: str
    offset: int
    positions: Positions | None


class UnsupportedBytecode(NotImplementedError):
    """The code object uses something that is not interpreted: template strings."""


# What says nothing to an interpreter: caches, tracing marks, what a frame does before its first instruction, and how
# CPython tells the values of an async generator from those that it awaits.
DROPPED = "NOP RESUME PRECALL COPY_FREE_VARS NOT_TAKEN ASYNC_GEN_WRAP"

# Same name, and the operand that `dis` resolves (a name, a constant, a count).
KEPT = """
    LOAD_CONST LOAD_FAST STORE_FAST DELETE_FAST LOAD_FAST_AND_CLEAR MAKE_CELL LOAD_DEREF STORE_DEREF DELETE_DEREF
    STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME LOAD_LOCALS LOAD_FROM_DICT_OR_DEREF
    LOAD_FROM_DICT_OR_GLOBALS SETUP_ANNOTATIONS LOAD_BUILD_CLASS STORE_ATTR DELETE_ATTR BINARY_SUBSCR STORE_SUBSCR
    DELETE_SUBSCR COMPARE_OP BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_STRING BUILD_SLICE LIST_APPEND SET_ADD
    MAP_ADD LIST_EXTEND SET_UPDATE DICT_UPDATE DICT_MERGE LIST_TO_TUPLE UNPACK_SEQUENCE POP_TOP COPY SWAP PUSH_NULL
    GET_ITER RETURN_VALUE RETURN_GENERATOR GET_YIELD_FROM_ITER END_SEND CLEANUP_THROW RAISE_VARARGS RERAISE
    PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH CHECK_EG_MATCH PREP_RERAISE_STAR BEFORE_WITH GET_LEN MATCH_MAPPING
    MATCH_SEQUENCE MATCH_KEYS MATCH_CLASS IMPORT_NAME IMPORT_FROM IMPORT_STAR PRINT_EXPR GET_AITER GET_ANEXT
    GET_AWAITABLE BEFORE_ASYNC_WITH END_ASYNC_FOR
"""

# CPython's name -> normalised name, same operand.
RENAMED = {
    "LOAD_CLOSURE": "LOAD_FAST",  # the slot's cell itself
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FAST_BORROW": "LOAD_FAST",
    "LOAD_SMALL_INT": "LOAD_CONST",
    "POP_ITER": "POP_TOP",
}

# CPython's name -> normalised name and a fixed operand.
SPELLED_OUT = {
    "UNARY_NEGATIVE": ("UNARY_OP", "-"),
    "UNARY_POSITIVE": ("UNARY_OP", "+"),
    "UNARY_INVERT": ("UNARY_OP", "~"),
    "UNARY_NOT": ("UNARY_OP", "not"),
    "FORMAT_SIMPLE": ("FORMAT_VALUE", False),
    "FORMAT_WITH_SPEC": ("FORMAT_VALUE", True),
    "LOAD_ASSERTION_ERROR": ("LOAD_CONST", AssertionError),
}

JUMP_NAMES = {
    "JUMP_FORWARD": "JUMP",
    "JUMP_BACKWARD": "JUMP",
    "JUMP_BACKWARD_NO_INTERRUPT": "JUMP",
    "FOR_ITER": "FOR_ITER",
    **{
        f"POP_JUMP_{direction}IF_{condition}": f"POP_JUMP_IF_{condition}"
        for direction in ("", "FORWARD_", "BACKWARD_")
        for condition in ("TRUE", "FALSE", "NONE", "NOT_NONE")
    },
}

CONVERSIONS = ("", "str", "repr", "ascii")
COMMON_CONSTANTS = (AssertionError, NotImplementedError, tuple, all, any)
SPECIAL_METHODS = ("__enter__", "__exit__", "__aenter__", "__aexit__")
INTRINSIC_1: dict[int, tuple[str, str | None]] = {
    1: ("PRINT_EXPR", None),
    2: ("IMPORT_STAR", None),
    3: ("STOP_ITERATION_ERROR", None),
    4: ("ASYNC_GEN_WRAP", None),
    5: ("UNARY_OP", "+"),
    6: ("LIST_TO_TUPLE", None),
}
INTRINSIC_2: dict[int, tuple[str, str | None]] = {1: ("PREP_RERAISE_STAR", None)}
for name, (operands, number) in TYPE_INTRINSICS.items():
    (INTRINSIC_1 if operands == 1 else INTRINSIC_2)[number] = "TYPE_PARAMETERS", name

_versioned: list[tuple[str, Version, Version, Rule]] = []


def rule(names: str, since: Version = OLDEST, until: Version = NEWEST) -> Callable[[Rule], Rule]:
    """Register the decorated function as the rule of these CPython instructions, from version `since` to `until`
    inclusive."""

    def register(function: Rule) -> Rule:
        _versioned.extend((name, since, until, function) for name in names.split())
        return function

    return register


@functools.cache
def rules_for(version: Version) -> dict[str, Rule]:
    """The rule of each instruction that this CPython version can have."""
    if not OLDEST <= version <= NEWEST:
        raise UnsupportedBytecode(f"CPython {version[0]}.{version[1]}: bytecode is understood from 3.11 to 3.14.")
    return {name: function for name, since, until, function in _versioned if since <= version <= until}


# --- what only renames ------------------------------------------------------------------------------------------------


@rule(DROPPED)
def _drop(decoder: Decoder, raw: RawInstruction) -> None:
    return None


@rule(KEPT)
def _keep(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit(raw.opname, raw.argval)


@rule(" ".join(RENAMED))
def _rename(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit(RENAMED[raw.opname], raw.argval)


@rule(" ".join(SPELLED_OUT))
def _spell_out(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit(*SPELLED_OUT[raw.opname])


@rule(" ".join(JUMP_NAMES))
def _jump(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit(JUMP_NAMES[raw.opname], target=raw.argval)


# --- slots, names, constants ------------------------------------------------------------------------------------------


@rule("LOAD_FAST_LOAD_FAST LOAD_FAST_BORROW_LOAD_FAST_BORROW STORE_FAST_LOAD_FAST STORE_FAST_STORE_FAST", since=(3, 13))
def _two_slots_at_once(decoder: Decoder, raw: RawInstruction) -> None:
    first, second = raw.argval
    decoder.emit("STORE_FAST" if raw.opname.startswith("STORE") else "LOAD_FAST", first)
    decoder.emit("STORE_FAST" if raw.opname.endswith("STORE_FAST") else "LOAD_FAST", second)


@rule("LOAD_GLOBAL", until=(3, 12))
def _load_global_after_null(decoder: Decoder, raw: RawInstruction) -> None:
    if raw.arg & 1:
        decoder.emit("PUSH_NULL")
    decoder.emit("LOAD_GLOBAL", raw.argval)


@rule("LOAD_GLOBAL", since=(3, 13))
def _load_global_before_null(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_GLOBAL", raw.argval)
    if raw.arg & 1:
        decoder.emit("PUSH_NULL")


@rule("LOAD_CLASSDEREF", until=(3, 11))
def _load_classderef(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_LOCALS")
    decoder.emit("LOAD_FROM_DICT_OR_DEREF", raw.argval)


@rule("LOAD_COMMON_CONSTANT", since=(3, 14))
def _load_common_constant(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_CONST", COMMON_CONSTANTS[raw.arg])


@rule("RETURN_CONST", since=(3, 12), until=(3, 13))
def _return_const(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_CONST", raw.argval)
    decoder.emit("RETURN_VALUE")


# --- attributes, operators, strings -----------------------------------------------------------------------------------


@rule("LOAD_ATTR", until=(3, 11))
def _load_attr(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_ATTR", raw.argval)


@rule("LOAD_METHOD", until=(3, 11))
def _load_method(decoder: Decoder, raw: RawInstruction) -> None:
    _emit_method(decoder, raw.argval, null_first=True)


@rule("LOAD_ATTR", since=(3, 12), until=(3, 12))
def _load_attr_or_method_after_null(decoder: Decoder, raw: RawInstruction) -> None:
    _emit_attr_or_method(decoder, raw, null_first=True)


@rule("LOAD_ATTR", since=(3, 13))
def _load_attr_or_method_before_null(decoder: Decoder, raw: RawInstruction) -> None:
    _emit_attr_or_method(decoder, raw, null_first=False)


@rule("LOAD_SUPER_ATTR", since=(3, 12), until=(3, 12))
def _load_super_attr_after_null(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL", (1, ()))  # super, class, self: a callable pair and one argument
    _emit_attr_or_method(decoder, raw, null_first=True)


@rule("LOAD_SUPER_ATTR", since=(3, 13))
def _load_super_attr_before_null(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL", (1, ()))
    _emit_attr_or_method(decoder, raw, null_first=False)


def _emit_attr_or_method(decoder: Decoder, raw: RawInstruction, null_first: bool) -> None:
    if raw.arg & 1:
        _emit_method(decoder, raw.argval, null_first)
    else:
        decoder.emit("LOAD_ATTR", raw.argval)


def _emit_method(decoder: Decoder, name: str, null_first: bool) -> None:
    """A bound method and NULL make the callable pair; CPython's (function, self) only saves making the bound method."""
    decoder.emit("LOAD_ATTR", name)
    decoder.emit("PUSH_NULL")
    if null_first:
        decoder.emit("SWAP", 2)


@rule("LOAD_SPECIAL", since=(3, 14))
def _load_special(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("LOAD_SPECIAL", SPECIAL_METHODS[raw.arg])


@rule("BINARY_OP")
def _binary_op(decoder: Decoder, raw: RawInstruction) -> None:
    if raw.argrepr == "[]":  # 3.14
        decoder.emit("BINARY_SUBSCR")
    else:
        decoder.emit("BINARY_OP", raw.argrepr)


@rule("BINARY_SLICE", since=(3, 12))
def _binary_slice(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("BUILD_SLICE", 2)
    decoder.emit("BINARY_SUBSCR")


@rule("STORE_SLICE", since=(3, 12))
def _store_slice(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("BUILD_SLICE", 2)
    decoder.emit("STORE_SUBSCR")


@rule("IS_OP CONTAINS_OP")
def _negatable(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit(raw.opname, bool(raw.arg))


@rule("FORMAT_VALUE", until=(3, 12))
def _format_value(decoder: Decoder, raw: RawInstruction) -> None:
    conversion, has_spec = CONVERSIONS[raw.arg & 3], bool(raw.arg & 4)
    if conversion and has_spec:
        decoder.emit("SWAP", 2)
    if conversion:
        decoder.emit("CONVERT_VALUE", conversion)
    if conversion and has_spec:
        decoder.emit("SWAP", 2)
    decoder.emit("FORMAT_VALUE", has_spec)


@rule("CONVERT_VALUE", since=(3, 13))
def _convert_value(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CONVERT_VALUE", CONVERSIONS[raw.arg])


@rule("BUILD_CONST_KEY_MAP", until=(3, 13))
def _build_const_key_map(decoder: Decoder, raw: RawInstruction) -> None:
    keys = decoder.emitted.pop().argval
    decoder.emit("BUILD_CONST_KEY_MAP", keys)


@rule("UNPACK_EX")
def _unpack_ex(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("UNPACK_EX", (raw.arg & 0xFF, raw.arg >> 8))


@rule("CALL_INTRINSIC_1", since=(3, 12))
def _intrinsic_1(decoder: Decoder, raw: RawInstruction) -> None:
    _emit_intrinsic(decoder, raw, INTRINSIC_1)


@rule("CALL_INTRINSIC_2", since=(3, 12))
def _intrinsic_2(decoder: Decoder, raw: RawInstruction) -> None:
    _emit_intrinsic(decoder, raw, INTRINSIC_2)


def _emit_intrinsic(decoder: Decoder, raw: RawInstruction, table: dict[int, tuple[str, str | None]]) -> None:
    opname, argval = table[raw.arg]
    if opname == "ASYNC_GEN_WRAP":
        return
    decoder.emit(opname, argval)
    if opname in ("IMPORT_STAR", "PRINT_EXPR"):
        decoder.skip_following()  # the POP_TOP of the intrinsic's result


# --- jumps and loops --------------------------------------------------------------------------------------------------


@rule("TO_BOOL", since=(3, 13))
def _to_bool(decoder: Decoder, raw: RawInstruction) -> None:
    if decoder.following.opname.startswith("POP_JUMP") or decoder.following.opname == "UNARY_NOT":
        return  # these test truth themselves here
    decoder.emit("UNARY_OP", "not")
    decoder.emit("UNARY_OP", "not")


@rule("JUMP_IF_TRUE_OR_POP JUMP_IF_FALSE_OR_POP", until=(3, 11))
def _jump_or_pop(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("COPY", 1)
    decoder.emit("POP_" + raw.opname.removesuffix("_OR_POP"), target=raw.argval)
    decoder.emit("POP_TOP")


@rule("END_FOR", since=(3, 12), until=(3, 12))
def _end_for(decoder: Decoder, raw: RawInstruction) -> None:
    return None  # FOR_ITER pops the iterator itself and jumps here, that is, behind it


@rule("END_FOR", since=(3, 13))
def _end_for_and_pop(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.skip_following()  # the POP_TOP or POP_ITER of the iterator


# --- calls and functions ----------------------------------------------------------------------------------------------


@rule("KW_NAMES", until=(3, 12))
def _kw_names(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.keyword_names = decoder.code.co_consts[raw.arg]


@rule("CALL", until=(3, 12))
def _call_after_kw_names(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL", (raw.arg, decoder.keyword_names))
    decoder.keyword_names = ()


@rule("CALL", since=(3, 13))
def _call(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL", (raw.arg, ()))


@rule("CALL_KW", since=(3, 13))
def _call_kw(decoder: Decoder, raw: RawInstruction) -> None:
    names = decoder.emitted.pop().argval  # the LOAD_CONST just before
    decoder.emit("CALL", (raw.arg, names))


@rule("CALL_FUNCTION_EX", until=(3, 13))
def _call_function_ex(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL_FUNCTION_EX", bool(raw.arg & 1))


@rule("CALL_FUNCTION_EX", since=(3, 14))
def _call_function_ex_with_kwargs_slot(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("CALL_FUNCTION_EX", True)


@rule("MAKE_FUNCTION", until=(3, 12))
def _make_function(decoder: Decoder, raw: RawInstruction) -> None:
    names = tuple(name for bit, name in enumerate(FUNCTION_ATTRIBUTES) if raw.arg >> bit & 1)
    decoder.emit("MAKE_FUNCTION", names)


@rule("MAKE_FUNCTION", since=(3, 13))
def _make_bare_function(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("MAKE_FUNCTION", ())


@rule("SET_FUNCTION_ATTRIBUTE", since=(3, 13))
def _set_function_attribute(decoder: Decoder, raw: RawInstruction) -> None:
    make = decoder.emitted[-1]  # the attribute lies on the stack below those already taken
    name = FUNCTION_ATTRIBUTES[raw.arg.bit_length() - 1]
    decoder.emitted[-1] = replace(make, argval=(name, *make.argval))


# --- generators and with ----------------------------------------------------------------------------------------------


@rule("YIELD_VALUE")
def _yield_value(decoder: Decoder, raw: RawInstruction) -> None:
    # RESUME says what the yield was for: 1 a plain yield, 2 a step of `yield from`, 3 an await
    decoder.emit("YIELD_VALUE", decoder.following.arg & 3 > 1)


@rule("SEND", until=(3, 11))
def _send(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("SEND", target=raw.argval)


@rule("SEND", since=(3, 12))
def _send_before_end_send(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("SEND", target=raw.argval + 2)  # our SEND pops the receiver, so jump behind the END_SEND


@rule("WITH_EXCEPT_START", until=(3, 13))
def _with_except_start(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("WITH_EXCEPT_START", 1)


@rule("WITH_EXCEPT_START", since=(3, 14))
def _with_except_start_two_slots(decoder: Decoder, raw: RawInstruction) -> None:
    decoder.emit("WITH_EXCEPT_START", 2)
