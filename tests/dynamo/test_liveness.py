"""Which slots are alive where: straight lines, branches, loops, handlers, cells, locals(); which blocks are open."""

import pytest

from minitorch_compile.dynamo.bytecode.control_flow import handler_depths
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.liveness import live_slots
from minitorch_compile.dynamo.execution.concrete import function_frame
from tests.dynamo.programs import observe, program_id, programs


def live_after(function, opname, argval):
    """The live slots behind the first instruction with that name and operand."""
    program = decode(function.__code__)
    at = next(i for i, inst in enumerate(program.instructions) if (inst.opname, inst.argval) == (opname, argval))
    return set(live_slots(program, at + 1))


def test_what_is_written_before_it_is_read_is_dead():
    def f(a, b):
        x = a
        a = b
        return x, a

    assert live_after(f, "STORE_FAST", "x") == {"x", "b"}
    assert live_after(f, "STORE_FAST", "a") == {"x", "a"}


def test_a_variable_read_in_one_branch_is_alive_before_both():
    def f(flag, a, b):
        x = 1
        if flag:
            return a
        return b

    assert live_after(f, "STORE_FAST", "x") == {"flag", "a", "b"}


def test_a_loop_keeps_alive_what_its_next_round_reads():
    def f(xs, step):
        n = 0
        for x in xs:
            n = n + step
            y = x
        return n

    assert live_after(f, "STORE_FAST", "y") == {"n", "step"}


def test_a_handler_keeps_alive_what_it_reads():
    def f(g, fallback):
        try:
            x = 1
            return g(x)
        except ValueError:
            return fallback

    assert live_after(f, "STORE_FAST", "x") == {"g", "x", "fallback"}


def test_a_cell_is_alive_while_it_can_be_read_or_written():
    def f(n):
        x = n

        def g():
            return n, x

        x = 5
        return g

    assert live_after(f, "STORE_FAST", "g") == {"g", "x"}


def test_locals_reads_everything():
    def f(a, b):
        x = 1
        return locals()

    assert live_after(f, "STORE_FAST", "x") == {"a", "b", "x"}


def test_super_reads_the_first_argument():
    class C:
        def f(self, y):
            x = y
            return super(), x

    assert live_after(C.f, "STORE_FAST", "x") == {"self", "__class__", "x"}


def test_deleting_needs_the_variable():
    def f(a):
        x = 1
        del a
        return x

    assert live_after(f, "STORE_FAST", "x") == {"a", "x"}


def test_handler_depths_count_the_exceptions_being_handled():
    def f():
        one = 1
        try:
            two = int("2")
        except ValueError:
            three = 3
            try:
                four = int("4")
            except KeyError:
                five = 5
            six = 6
        seven = 7
        return one, two, three, four, five, six, seven

    program = decode(f.__code__)
    depths = handler_depths(program)
    stores = {
        inst.argval: depths[index] for index, inst in enumerate(program.instructions) if inst.opname == "STORE_FAST"
    }
    assert stores == {"one": 0, "two": 0, "three": 1, "four": 1, "five": 2, "six": 1, "seven": 0}


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_handler_depths_are_those_of_a_run(program):
    depths = handler_depths(decode(program.__code__))
    frame = function_frame(program, {}, None)
    open_handlers = 0
    seen = []

    def run():
        nonlocal open_handlers
        while frame.outcome is None:
            seen.append((frame.index, open_handlers))
            frame.step()
            opname = frame.instruction.opname
            open_handlers += (opname == "PUSH_EXC_INFO") - (opname == "POP_EXCEPT")

    observe(run)
    assert all(depths[index] == depth for index, depth in seen)
