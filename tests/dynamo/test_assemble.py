"""Assembling what was decoded gives code that behaves as the original; tables are read by CPython itself."""

import dis
import traceback
import types
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitorch_compile.dynamo.bytecode.assemble import assemble
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.exception_table import ByteRange, encode_exception_table, parse_exception_table
from minitorch_compile.dynamo.bytecode.instructions import Instruction, Program
from minitorch_compile.dynamo.bytecode.location_table import encode_location_table
from tests.dynamo.programs import observe, program_id, programs


def reassembled(code: types.CodeType) -> types.CodeType:
    """The code object decoded and assembled again, with every code object inside it."""
    inner = tuple(reassembled(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return assemble(decode(code.replace(co_consts=inner)))


def rebuilt(function: types.FunctionType) -> types.FunctionType:
    return types.FunctionType(reassembled(function.__code__), function.__globals__, function.__name__)


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_reassembled_programs_do_what_the_originals_do(program):
    assert observe(rebuilt(program)) == observe(program)


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_lines_survive(program):
    again = decode(assemble(decode(program.__code__)))
    assert [i.line for i in again.instructions if i.opname == "CALL"] == [
        i.line for i in decode(program.__code__).instructions if i.opname == "CALL"
    ]


def test_a_traceback_of_reassembled_code_shows_line_and_columns():
    def divide(a, b):
        first = a + b
        return first + (a / b)

    with pytest.raises(ZeroDivisionError) as caught:
        rebuilt(divide)(1, 0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.line == "return first + (a / b)"
    assert last.line[last.colno - 8 : last.end_colno - 8] == "a / b"


def test_the_docstring_stays_and_no_other_constant_becomes_one():
    def with_docstring():
        """Documented."""
        return "text"

    def without():
        return "text"

    assert rebuilt(with_docstring).__doc__ == "Documented."
    assert rebuilt(without).__doc__ is None


def program_of(template, instructions, table=()):
    return Program(template.__code__, tuple(instructions), table)


def test_a_conditional_jump_may_go_backward():
    def countdown(n):
        return n

    code = assemble(
        program_of(
            countdown,
            [
                Instruction("LOAD_FAST", "n"),
                Instruction("LOAD_CONST", 1),
                Instruction("BINARY_OP", "-"),
                Instruction("COPY", 1),
                Instruction("STORE_FAST", "n"),
                Instruction("POP_JUMP_IF_TRUE", target=0),
                Instruction("LOAD_CONST", "liftoff"),
                Instruction("RETURN_VALUE"),
            ],
        )
    )
    assert types.FunctionType(code, {})(5) == "liftoff"


def test_a_loop_may_be_entered_at_its_end_from_elsewhere():
    def f(flag, xs):
        return flag

    code = assemble(
        program_of(
            f,
            [
                Instruction("LOAD_FAST", "flag"),
                Instruction("POP_JUMP_IF_TRUE", target=6),
                Instruction("LOAD_FAST", "xs"),
                Instruction("GET_ITER"),
                Instruction("FOR_ITER", target=6),
                Instruction("POP_TOP"),
                Instruction("LOAD_CONST", "end"),
                Instruction("RETURN_VALUE"),
            ],
        )
    )
    function = types.FunctionType(code, {})
    assert function(True, None) == "end"
    assert function(False, []) == "end"


def test_a_jump_over_more_than_65536_units_gets_its_prefixes():
    def f(x):
        return x

    filler = [Instruction("LOAD_FAST", "x"), Instruction("POP_TOP")] * 40_000
    end = len(filler) + 2
    instructions = [
        Instruction("LOAD_FAST", "x"),
        Instruction("POP_JUMP_IF_TRUE", target=end),
        *filler,
        Instruction("LOAD_CONST", "end"),
        Instruction("RETURN_VALUE"),
    ]
    function = types.FunctionType(assemble(program_of(f, instructions)), {})
    assert function(1) == function(0) == "end"


def test_the_stack_is_deep_enough():
    def f(x):
        return x

    loads = [Instruction("LOAD_FAST", "x")] * 500
    code = assemble(program_of(f, [*loads, Instruction("BUILD_LIST", 500), Instruction("RETURN_VALUE")]))
    assert code.co_stacksize >= 500
    assert types.FunctionType(code, {})(1) == [1] * 500


def test_constants_keep_their_types():
    def f():
        return None

    values = (1, 1.0, True, -0.0, 0.0, (1,), (1.0,))
    loads = [Instruction("LOAD_CONST", value) for value in values]
    code = assemble(program_of(f, [*loads, Instruction("BUILD_TUPLE", len(values)), Instruction("RETURN_VALUE")]))
    assert repr(types.FunctionType(code, {})()) == repr(values)


def test_changed_programs_run_changed():
    def f(x):
        return x * 2

    program = decode(f.__code__)
    tripled = [replace(i, argval=3) if i.argval == 2 else i for i in program.instructions]
    f.__code__ = assemble(replace(program, instructions=tuple(tripled)))
    assert f(5) == 15


ranges = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 100_000), st.integers(0, 300), st.booleans())
)


@given(ranges)
def test_exception_tables_are_read_back_as_written(rows):
    start, entries = 0, []
    for gap, length, target, depth, lasti in rows:
        entries.append(ByteRange(2 * (start + gap), 2 * (start + gap + length), 2 * target, depth, lasti))
        start += gap + length
    assert list(parse_exception_table(encode_exception_table(entries))) == entries


positions = st.one_of(
    st.none(),
    st.builds(
        lambda line, more, col, end: dis.Positions(line, line + more, col, end),
        st.integers(1, 100_000),
        st.integers(0, 200),
        st.integers(0, 300),
        st.integers(0, 300),
    ),
    st.builds(lambda line: dis.Positions(line, None, None, None), st.integers(1, 100_000)),
)


@given(st.lists(st.tuples(positions, st.integers(1, 40)), min_size=1), st.integers(1, 5000))
def test_cpython_reads_the_location_table_as_it_was_meant(spans, first_line):
    units = sum(count for _, count in spans)
    table = encode_location_table(spans, first_line)
    template = compile("pass", "example", "exec")
    code = template.replace(co_linetable=table, co_firstlineno=first_line, co_code=bytes(2 * units))
    expected = [tuple(where) if where else (None,) * 4 for where, count in spans for _ in range(count)]
    line_only = [
        (line, line, col, end) if more is None and line else (line, more, col, end) for line, more, col, end in expected
    ]
    assert list(code.co_positions()) == line_only
