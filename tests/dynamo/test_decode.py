"""Decoding: every version's bytecode becomes the same few instructions."""

import dis
import opcode
import sys
import types

import pytest

from minitorch_compile.dynamo.bytecode import assemble_rules, decode_rules
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.bytecode.instructions import INSTRUCTIONS, JUMPS, Instruction
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from tests.dynamo.programs import program_id, programs
from tools.opcode_coverage import NOT_INTERPRETED, coverage

VERSIONS = [(3, 11), (3, 12), (3, 13), (3, 14)]
# CPython instructions that stand for things which are refused, or that never occur in a code object's own bytecode.
INTERNAL = "CACHE EXTENDED_ARG RESERVED INTERPRETER_EXIT EXIT_INIT_CHECK ENTER_EXECUTOR BINARY_OP_INPLACE_ADD_UNICODE"
OTHER = "BUILD_TEMPLATE BUILD_INTERPOLATION"


def programs_inside(code):
    """The programs of a code object and of all code objects in it."""
    yield decode(code)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from programs_inside(const)


def names(function):
    return [inst.opname for inst in decode(function.__code__).instructions]


def test_every_instruction_of_the_table_has_a_handler_and_every_handler_is_in_the_table():
    handlers = {name for name in dir(BytecodeInterpreter) if name.isupper()}
    assert handlers == set(INSTRUCTIONS)


def test_an_unknown_instruction_name_is_refused():
    with pytest.raises(ValueError, match="'BINARY_ADD' is not one of the normalised instructions"):
        Instruction("BINARY_ADD")


def test_every_opcode_of_this_version_has_a_rule_or_is_refused_on_purpose():
    real = {name for name, number in opcode.opmap.items() if number < 256 and not name.startswith("INSTRUMENTED")}
    pseudo = {name for name in real if name.startswith(("SETUP_", "POP_BLOCK")) and name != "SETUP_ANNOTATIONS"}
    without = real - pseudo - set(decode_rules.rules_for(sys.version_info[:2]))
    specialised = {name for name in without if any(name.startswith(base + "_") for base in real - {name})}
    assert without - specialised <= set(f"{INTERNAL} {OTHER}".split())


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_version_decodes_to_it_can_assemble(version):
    missing = set(INSTRUCTIONS) - set(assemble_rules.rules_for(version))
    only_later_or_earlier = {
        (3, 11): {"LOAD_FAST_AND_CLEAR", "LOAD_SPECIAL", "STOP_ITERATION_ERROR", "TYPE_PARAMETERS"},
        (3, 12): {"LOAD_SPECIAL"},
        (3, 13): {"LOAD_SPECIAL"},
        (3, 14): {"BEFORE_ASYNC_WITH", "BEFORE_WITH", "BUILD_CONST_KEY_MAP"},
    }
    assert missing <= only_later_or_earlier[version]


def test_versions_outside_the_range_are_refused_by_name():
    with pytest.raises(UnsupportedBytecode, match=r"CPython 3\.10"):
        decode_rules.rules_for((3, 10))


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_decoded_programs_are_well_formed(program):
    for decoded in programs_inside(program.__code__):
        count = len(decoded.instructions)
        offsets = [inst.offset for inst in decoded.instructions]
        assert offsets == sorted(offsets)
        for inst in decoded.instructions:
            assert (inst.target is not None) == (inst.opname in JUMPS)
            assert inst.target is None or 0 <= inst.target < count
        for entry in decoded.exception_table:
            assert 0 <= entry.start < entry.end <= count
            assert 0 <= entry.target < count


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_lines_are_those_of_cpython(program):
    for decoded in programs_inside(program.__code__):
        lines = {raw.offset: raw.positions.lineno for raw in dis.get_instructions(decoded.code)}
        assert all(inst.line == lines[inst.offset] for inst in decoded.instructions)


def test_a_method_call_is_an_attribute_and_a_call():
    def f(x):
        return x.sum(1, dim=2)

    program = decode(f.__code__)
    assert Instruction("LOAD_ATTR", "sum") in program.instructions
    assert Instruction("CALL", (2, ("dim",))) in program.instructions
    assert set(names(f)) <= {"LOAD_FAST", "LOAD_ATTR", "PUSH_NULL", "SWAP", "LOAD_CONST", "CALL", "RETURN_VALUE"}


def test_and_or_are_a_copy_and_a_jump():
    def f(a, b):
        return a and b

    assert names(f) == ["LOAD_FAST", "COPY", "POP_JUMP_IF_FALSE", "POP_TOP", "LOAD_FAST", "RETURN_VALUE"]


def test_a_truth_test_is_one_instruction():
    def f(a):
        return 1 if a else 2

    assert names(f)[:2] == ["LOAD_FAST", "POP_JUMP_IF_FALSE"]
    assert "UNARY_OP" not in names(f)


def test_a_for_loop_ends_behind_its_cleanup():
    def f(xs):
        for x in xs:
            pass
        return 5

    program = decode(f.__code__)
    loop = next(inst for inst in program.instructions if inst.opname == "FOR_ITER")
    assert program.instructions[loop.target] == Instruction("LOAD_CONST", 5)
    assert names(f).count("POP_TOP") == 0


def test_a_slice_is_built_and_used():
    def f(x, a, b):
        x[a:b] = x[b:a]

    assert names(f).count("BUILD_SLICE") == 2
    assert {"BINARY_SUBSCR", "STORE_SUBSCR"} <= set(names(f))


def test_function_attributes_are_one_operand():
    def f(y):
        def g(a, b=1, *, c=2):
            return y

        return g

    (make,) = [i for i in decode(f.__code__).instructions if i.opname == "MAKE_FUNCTION"]
    assert make.argval == ("defaults", "kwdefaults", "closure")


def test_yield_from_is_marked():
    def f(xs):
        yield 1
        yield from xs

    yields = [i.argval for i in decode(f.__code__).instructions if i.opname == "YIELD_VALUE"]
    assert yields == [False, True]


def test_a_program_is_decoded_once():
    def f():
        return 1

    assert decode(f.__code__) is decode(f.__code__)


def test_equal_code_objects_of_different_files_have_programs_of_their_own():
    first, second = (compile("x = 1", name, "exec") for name in ("one.py", "two.py"))
    assert decode(first).code.co_filename == "one.py"
    assert decode(second).code.co_filename == "two.py"


def test_the_printed_program_can_be_read():
    def f(x):
        try:
            return x + 1
        except TypeError:
            return None

    text = str(decode(f.__code__))
    assert text.startswith("  0 LOAD_FAST            'x'\n  1 LOAD_CONST           1\n  2 BINARY_OP            '+'")
    assert "on error in 0..2: to 4, depth 0" in text


def test_the_battery_exercises_every_instruction_but_those_with_a_reason():
    found = coverage()
    assert found.missing == ()
    assert len(found.exercised) >= 95
    assert set(found.explained) <= set(NOT_INTERPRETED)
