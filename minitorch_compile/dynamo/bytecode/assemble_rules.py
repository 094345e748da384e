"""The rules of assembling: for each normalised instruction, the CPython instructions of one version that mean the same.

The inverse of `decode_rules.py`, in the plainest form each version accepts: no merged instructions, every NULL pushed
by itself, every local checked. A rule takes the assembler and the instruction and emits raw instructions.

>>> from minitorch_compile.dynamo.bytecode.instructions import INSTRUCTIONS
>>> sorted(set(INSTRUCTIONS) - set(rules_for((3, 14))))      # what no program of 3.14 contains
['BEFORE_ASYNC_WITH', 'BEFORE_WITH', 'BUILD_CONST_KEY_MAP']
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from minitorch_compile.dynamo.bytecode.decode_rules import (
    CONVERSIONS,
    NEWEST,
    OLDEST,
    SPECIAL_METHODS,
    UnsupportedBytecode,
    Version,
)
from minitorch_compile.dynamo.bytecode.instructions import FUNCTION_ATTRIBUTES, TYPE_INTRINSICS, Instruction

if TYPE_CHECKING:
    from minitorch_compile.dynamo.bytecode.assemble import Assembler

Rule: TypeAlias = Callable[["Assembler", Instruction], None]

WITHOUT_OPERAND = """
    LOAD_LOCALS SETUP_ANNOTATIONS LOAD_BUILD_CLASS STORE_SUBSCR DELETE_SUBSCR POP_TOP PUSH_NULL GET_ITER RETURN_VALUE
    RETURN_GENERATOR GET_YIELD_FROM_ITER END_SEND CLEANUP_THROW PUSH_EXC_INFO POP_EXCEPT CHECK_EXC_MATCH CHECK_EG_MATCH
    WITH_EXCEPT_START GET_LEN MATCH_MAPPING MATCH_SEQUENCE MATCH_KEYS GET_AITER GET_ANEXT END_ASYNC_FOR
"""
COUNTED = """
    BUILD_TUPLE BUILD_LIST BUILD_SET BUILD_MAP BUILD_STRING BUILD_SLICE LIST_APPEND SET_ADD MAP_ADD LIST_EXTEND
    SET_UPDATE DICT_UPDATE DICT_MERGE UNPACK_SEQUENCE COPY SWAP RAISE_VARARGS RERAISE MATCH_CLASS
    GET_AWAITABLE
"""
SLOTS = "STORE_FAST DELETE_FAST MAKE_CELL LOAD_DEREF STORE_DEREF DELETE_DEREF"
NAMES = """
    STORE_GLOBAL DELETE_GLOBAL LOAD_NAME STORE_NAME DELETE_NAME LOAD_FROM_DICT_OR_GLOBALS STORE_ATTR DELETE_ATTR
    IMPORT_NAME IMPORT_FROM
"""
ARITHMETIC = ("+", "&", "//", "<<", "@", "*", "%", "|", "**", ">>", "-", "/", "^")  # the order of CPython's NB_ numbers
SUBSCRIPT = 26  # 3.14: NB_SUBSCR of BINARY_OP
COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
# From 3.12 the low bits say which outcomes count as true (unordered 1, less 2, greater 4, equal 8); specialised code
# uses them.
COMPARISON_MASKS = (2, 10, 8, 7, 4, 12)
UNARY = {"-": "UNARY_NEGATIVE", "~": "UNARY_INVERT", "not": "UNARY_NOT"}
INTRINSIC_1 = {"PRINT_EXPR": 1, "IMPORT_STAR": 2, "STOP_ITERATION_ERROR": 3, "LIST_TO_TUPLE": 6}
UNARY_PLUS_INTRINSIC = 5
OPPOSITE = {"TRUE": "FALSE", "FALSE": "TRUE", "NONE": "NOT_NONE", "NOT_NONE": "NONE"}

ASYNC_GEN_WRAP: tuple[tuple[str, int], ...] = (("ASYNC_GEN_WRAP", 0), ("CALL_INTRINSIC_1", 4))  # until 3.11, then
ASYNC = inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_versioned: list[tuple[str, Version, Version, Rule]] = []


def rule(names: str, since: Version = OLDEST, until: Version = NEWEST) -> Callable[[Rule], Rule]:
    """Register the decorated function for these normalised instructions, on the versions `since` to `until`
    inclusive."""

    def register(function: Rule) -> Rule:
        _versioned.extend((name, since, until, function) for name in names.split())
        return function

    return register


@functools.cache
def rules_for(version: Version) -> dict[str, Rule]:
    """The rule of each normalised instruction that this CPython version can express."""
    if not OLDEST <= version <= NEWEST:
        raise UnsupportedBytecode(f"CPython {version[0]}.{version[1]}: bytecode is written from 3.11 to 3.14.")
    return {name: function for name, since, until, function in _versioned if since <= version <= until}


# --- one to one -------------------------------------------------------------------------------------------------------


@rule(WITHOUT_OPERAND)
def _plain(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname)


@rule(COUNTED)
def _counted(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname, inst.argval)


@rule(SLOTS)
def _slot(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname, out.slot(inst.argval))


@rule(NAMES)
def _name(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname, out.name(inst.argval))


@rule("LOAD_CONST")
def _load_const(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_CONST", out.const(inst.argval))


# --- slots and names --------------------------------------------------------------------------------------------------


@rule("LOAD_FAST", until=(3, 11))
def _load_fast(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_FAST", out.slot(inst.argval))


@rule("LOAD_FAST", since=(3, 12))
def _load_fast_check(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_FAST_CHECK", out.slot(inst.argval))  # the plain form trusts the compiler that the slot is bound


@rule("LOAD_FAST_AND_CLEAR LOAD_FROM_DICT_OR_DEREF", since=(3, 12))
def _slot_since_3_12(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname, out.slot(inst.argval))


@rule("LOAD_LOCALS", until=(3, 11))
def _load_locals(out: Assembler, inst: Instruction) -> None:
    return None  # part of the LOAD_CLASSDEREF that follows


@rule("LOAD_FROM_DICT_OR_DEREF", until=(3, 11))
def _load_classderef(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_CLASSDEREF", out.slot(inst.argval))


@rule("LOAD_GLOBAL")
def _load_global(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_GLOBAL", out.name(inst.argval) << 1)


@rule("LOAD_ATTR", until=(3, 11))
def _load_attr(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_ATTR", out.name(inst.argval))


@rule("LOAD_ATTR", since=(3, 12))
def _load_attr_not_method(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_ATTR", out.name(inst.argval) << 1)


@rule("LOAD_SPECIAL", since=(3, 14))
def _load_special(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_SPECIAL", SPECIAL_METHODS.index(inst.argval))


# --- operators, strings, containers -----------------------------------------------------------------------------------


@rule("UNARY_OP")
def _unary_op(out: Assembler, inst: Instruction) -> None:
    if inst.argval == "not":
        out.emit_truth_test()
    if inst.argval != "+":
        out.emit(UNARY[inst.argval])
    elif out.version == (3, 11):
        out.emit("UNARY_POSITIVE")
    else:
        out.emit("CALL_INTRINSIC_1", UNARY_PLUS_INTRINSIC)


@rule("BINARY_OP")
def _binary_op(out: Assembler, inst: Instruction) -> None:
    if inst.argval.endswith("="):
        out.emit("BINARY_OP", len(ARITHMETIC) + ARITHMETIC.index(inst.argval[:-1]))
    else:
        out.emit("BINARY_OP", ARITHMETIC.index(inst.argval))


@rule("BINARY_SUBSCR", until=(3, 13))
def _binary_subscr(out: Assembler, inst: Instruction) -> None:
    out.emit("BINARY_SUBSCR")


@rule("BINARY_SUBSCR", since=(3, 14))
def _binary_op_subscr(out: Assembler, inst: Instruction) -> None:
    out.emit("BINARY_OP", SUBSCRIPT)


@rule("COMPARE_OP", until=(3, 11))
def _compare_op(out: Assembler, inst: Instruction) -> None:
    out.emit("COMPARE_OP", COMPARISONS.index(inst.argval))


@rule("COMPARE_OP", since=(3, 12))
def _compare_op_with_mask(out: Assembler, inst: Instruction) -> None:
    index = COMPARISONS.index(inst.argval)
    out.emit("COMPARE_OP", index << (4 if out.version == (3, 12) else 5) | COMPARISON_MASKS[index])


@rule("IS_OP CONTAINS_OP")
def _negatable(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname, int(inst.argval))


@rule("CONVERT_VALUE", until=(3, 12))
def _convert_by_formatting(out: Assembler, inst: Instruction) -> None:
    out.emit("FORMAT_VALUE", CONVERSIONS.index(inst.argval))


@rule("CONVERT_VALUE", since=(3, 13))
def _convert_value(out: Assembler, inst: Instruction) -> None:
    out.emit("CONVERT_VALUE", CONVERSIONS.index(inst.argval))


@rule("FORMAT_VALUE", until=(3, 12))
def _format_value(out: Assembler, inst: Instruction) -> None:
    out.emit("FORMAT_VALUE", 4 if inst.argval else 0)


@rule("FORMAT_VALUE", since=(3, 13))
def _format_simple_or_with_spec(out: Assembler, inst: Instruction) -> None:
    out.emit("FORMAT_WITH_SPEC" if inst.argval else "FORMAT_SIMPLE")


@rule("BUILD_CONST_KEY_MAP", until=(3, 13))
def _build_const_key_map(out: Assembler, inst: Instruction) -> None:
    out.emit("LOAD_CONST", out.const(inst.argval))
    out.emit("BUILD_CONST_KEY_MAP", len(inst.argval))


@rule("UNPACK_EX")
def _unpack_ex(out: Assembler, inst: Instruction) -> None:
    before, after = inst.argval
    out.emit("UNPACK_EX", before | after << 8)


@rule("LIST_TO_TUPLE IMPORT_STAR PREP_RERAISE_STAR PRINT_EXPR", until=(3, 11))
def _not_yet_intrinsic(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname)


@rule("LIST_TO_TUPLE IMPORT_STAR STOP_ITERATION_ERROR PRINT_EXPR", since=(3, 12))
def _intrinsic_1(out: Assembler, inst: Instruction) -> None:
    out.emit("CALL_INTRINSIC_1", INTRINSIC_1[inst.opname])
    if inst.opname in ("IMPORT_STAR", "PRINT_EXPR"):
        out.emit("POP_TOP")


@rule("PREP_RERAISE_STAR", since=(3, 12))
def _intrinsic_2(out: Assembler, inst: Instruction) -> None:
    out.emit("CALL_INTRINSIC_2", 1)


@rule("TYPE_PARAMETERS", since=(3, 12))
def _type_parameters(out: Assembler, inst: Instruction) -> None:
    operands, number = TYPE_INTRINSICS[inst.argval]
    out.emit(f"CALL_INTRINSIC_{operands}", number)


# --- jumps ------------------------------------------------------------------------------------------------------------


@rule("JUMP")
def _jump(out: Assembler, inst: Instruction) -> None:
    out.emit_jump("JUMP_BACKWARD" if out.is_backward(inst) else "JUMP_FORWARD", inst.target)


@rule("POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE", until=(3, 11))
def _pop_jump(out: Assembler, inst: Instruction) -> None:
    direction = "BACKWARD" if out.is_backward(inst) else "FORWARD"
    out.emit_jump(inst.opname.replace("POP_JUMP_", f"POP_JUMP_{direction}_"), inst.target)


@rule("POP_JUMP_IF_TRUE POP_JUMP_IF_FALSE POP_JUMP_IF_NONE POP_JUMP_IF_NOT_NONE", since=(3, 12))
def _pop_jump_forward_only(out: Assembler, inst: Instruction) -> None:
    condition = inst.opname.removeprefix("POP_JUMP_IF_")
    if condition in ("TRUE", "FALSE"):
        out.emit_truth_test()
    if not out.is_backward(inst):
        out.emit_jump(inst.opname, inst.target)
        out.emit_not_taken()
        return
    behind = out.new_label()
    out.emit_jump(f"POP_JUMP_IF_{OPPOSITE[condition]}", behind)
    out.emit_not_taken()
    out.emit_jump("JUMP_BACKWARD", inst.target)
    out.place(behind)


@rule("FOR_ITER SEND", until=(3, 11))
def _jump_when_exhausted(out: Assembler, inst: Instruction) -> None:
    out.emit_jump(inst.opname, inst.target)


@rule("FOR_ITER SEND", since=(3, 12))
def _jump_to_landing(out: Assembler, inst: Instruction) -> None:
    out.emit_jump(inst.opname, out.landing_of(inst))
    if inst.opname == "FOR_ITER":
        out.emit_not_taken()


# --- calls, functions, generators, with -------------------------------------------------------------------------------


@rule("CALL", until=(3, 12))
def _call_with_kw_names(out: Assembler, inst: Instruction) -> None:
    count, names = inst.argval
    if names:
        out.emit("KW_NAMES", out.const(names))
    if out.version == (3, 11):
        out.emit("PRECALL", count)
    out.emit("CALL", count)


@rule("CALL", since=(3, 13))
def _call_or_call_kw(out: Assembler, inst: Instruction) -> None:
    count, names = inst.argval
    if names:
        out.emit("LOAD_CONST", out.const(names))
    out.emit("CALL_KW" if names else "CALL", count)


@rule("CALL_FUNCTION_EX", until=(3, 13))
def _call_function_ex(out: Assembler, inst: Instruction) -> None:
    out.emit("CALL_FUNCTION_EX", int(inst.argval))


@rule("CALL_FUNCTION_EX", since=(3, 14))
def _call_function_ex_with_kwargs_slot(out: Assembler, inst: Instruction) -> None:
    if not inst.argval:
        out.emit("PUSH_NULL")
    out.emit("CALL_FUNCTION_EX")


@rule("MAKE_FUNCTION", until=(3, 12))
def _make_function(out: Assembler, inst: Instruction) -> None:
    out.emit("MAKE_FUNCTION", sum(1 << FUNCTION_ATTRIBUTES.index(name) for name in inst.argval))


@rule("MAKE_FUNCTION", since=(3, 13))
def _make_function_then_set_attributes(out: Assembler, inst: Instruction) -> None:
    out.emit("MAKE_FUNCTION")
    for name in reversed(inst.argval):
        out.emit("SET_FUNCTION_ATTRIBUTE", 1 << FUNCTION_ATTRIBUTES.index(name))


@rule("YIELD_VALUE")
def _yield_value(out: Assembler, inst: Instruction) -> None:
    # 3.12: how deep in handlers; 1 would let close() skip the frame. Later: 1 in `yield from`. RESUME: 1 yield, 2
    # yield from, 3 await.
    operands = {(3, 11): 0, (3, 12): 2}
    if out.program.code.co_flags & inspect.CO_ASYNC_GENERATOR and not inst.argval:
        out.emit(*ASYNC_GEN_WRAP[out.version >= (3, 12)])
    out.emit("YIELD_VALUE", operands.get(out.version, int(inst.argval)))
    out.emit("RESUME", (3 if out.program.code.co_flags & ASYNC else 2) if inst.argval else 1)


@rule("BEFORE_WITH BEFORE_ASYNC_WITH", until=(3, 13))
def _before_with(out: Assembler, inst: Instruction) -> None:
    out.emit(inst.opname)
