"""Resume functions: a program cut anywhere and continued by its resume function does what the whole program does."""

import contextlib
import io
import sys
import traceback
import types
from collections.abc import Callable
from dataclasses import replace
from unittest import mock

import pytest

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.bytecode.liveness import live_slots
from minitorch_compile.dynamo.execution import concrete
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter, function_frame
from minitorch_compile.dynamo.execution.stack_shapes import ends_handler, stack_shapes
from minitorch_compile.dynamo.resuming.resume import ResumeCode, make_resume_code, resume_code_of
from minitorch_compile.dynamo.resuming.resume_prefix import CannotResume, handled_exceptions
from tests.dynamo.programs import observe, program_id, programs

PROGRAMS = list(programs())


def step(frame: ConcreteInterpreter) -> None:
    """One instruction, as `run` steps: what it calls sees what the frame is handling."""
    with mock.patch.object(concrete._running, "frame", frame):
        frame.step()


def first_visits(program: types.FunctionType) -> dict[int, int]:
    """For each instruction that a run of the program comes to, but those that end a handler: after how many steps it
    first does."""
    visits: dict[int, int] = {}
    frame = function_frame(program, {}, None)

    def run() -> None:
        steps = 0
        while frame.outcome is None:
            visits.setdefault(frame.index, steps)
            step(frame)
            steps += 1

    observe(run)
    shapes = stack_shapes(frame.program)
    return {index: steps for index, steps in visits.items() if not ends_handler(shapes[index])}


def cut(
    frame: ConcreteInterpreter, raised: BaseException | None = None
) -> tuple[ResumeCode, types.FunctionType, list[object]]:
    """The resume function for the frame as it stands, or in the handler of what it raised there, and its arguments.
    Only live slots go over."""
    entry = frame.program.handler_of(frame.index) if raised else None
    stack = frame.stack if entry is None else frame.stack[: entry.depth]
    live = live_slots(frame.program, frame.index if entry is None else entry.target)
    bound = {name: frame.locals[name] for name in live if name in frame.locals}
    shared = {*frame.program.code.co_cellvars, *frame.program.code.co_freevars}
    cells = {name: v for name, v in bound.items() if name in shared and isinstance(v, types.CellType)}
    resume = make_resume_code(
        frame.program,
        frame.index,
        stack_size=len(stack),
        nulls={position for position, value in enumerate(stack) if value is NULL},
        slots=set(bound) - set(cells),
        cells=cells,
        raising=raised is not None,
    )
    values = {**bound, **{f"__stack{position}": value for position, value in enumerate(stack)}, "__raised": raised}
    values |= {f"__handled{position}": error for position, error in handled_exceptions(frame, frame.index).items()}
    free = {name: values.get(name) or types.CellType() for name in resume.free_names}
    return resume, resume.function(frame.globals, free), [values[name] for name in resume.argument_names]


def run_cut(program: types.FunctionType, steps: int) -> object:
    """Interpret `steps` instructions, then let CPython run the resume function."""
    frame = function_frame(program, {}, None)
    for _ in range(steps):
        step(frame)
    _, function, arguments = cut(frame)
    return function(*arguments)


def run_cut_twice(program: types.FunctionType, steps: int, more_steps: int) -> object:
    """The same, but the resume function too is interpreted for some steps and then cut."""
    frame = function_frame(program, {}, None)
    for _ in range(steps):
        step(frame)
    resume, function, arguments = cut(frame)
    second = function_frame(function, dict(zip(resume.argument_names, arguments, strict=True)), None)
    for _ in range(resume.prefix_length + more_steps):
        if second.outcome is None:
            step(second)
    if second.outcome is not None or ends_handler(stack_shapes(second.program)[second.index]):
        return second.run()
    _, function, arguments = cut(second)
    return function(*arguments)


def spread(visits: dict[int, int], most: int) -> list[tuple[int, int]]:
    """About `most` of the visits, evenly."""
    return list(visits.items())[:: 1 + len(visits) // most]


@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_a_program_cut_anywhere_does_what_the_whole_one_does(program):
    expected = observe(program)
    for index, steps in spread(first_visits(program), most=12):
        outcome = observe(lambda steps=steps: run_cut(program, steps))
        assert outcome == expected, f"cut at instruction {index}"


@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_a_resume_function_can_be_cut_again(program):
    expected = observe(program)
    for index, steps in spread(first_visits(program), most=4):
        for more in (1, 9):
            outcome = observe(lambda steps=steps, more=more: run_cut_twice(program, steps, more))
            assert outcome == expected, f"cut at {index}, then {more} further"


class Raised(Exception):
    """An instruction raised inside a block."""


def resumed_where_raised(program: types.FunctionType, number: int) -> Callable[[], object] | None:
    """Interprets up to the exception of that number that the function handles, or leaves a block with. What comes then,
    for CPython to run; None if there are not so many."""
    frame = function_frame(program, {}, None)
    seen: list[BaseException] = []
    unwind = frame.unwind

    def stop_or_unwind(exception):
        raised_here = frame.instruction.opname != "RERAISE"
        if raised_here and frame.program.handler_of(frame.current) is not None:
            seen.append(exception)
            if len(seen) > number:
                raise Raised
        return unwind(exception)

    frame.unwind = stop_or_unwind
    while frame.outcome is None and len(seen) <= number:
        before = list(frame.stack), frame.handled
        try:
            step(frame)
        except BaseException as error:
            if not isinstance(error, Raised):
                return None
    if len(seen) <= number:
        return None
    frame.stack, frame.handled = before
    frame.index = frame.current
    _, function, arguments = cut(frame, seen[-1])
    return lambda: function(*arguments)


@pytest.mark.parametrize("program", PROGRAMS, ids=program_id)
def test_what_an_instruction_raised_can_be_raised_again_in_its_place(program):
    expected = observe(program)
    for number in range(4):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            resumed = resumed_where_raised(program, number)
        if resumed is not None:
            outcome = observe(resumed)
            assert replace(outcome, output=printed.getvalue() + outcome.output) == expected


def index_of(program, opname, argval=None):
    """The first instruction with that name (and operand)."""
    return next(
        index
        for index, inst in enumerate(program.instructions)
        if inst.opname == opname and (argval is None or inst.argval == argval)
    )


def weigh(a, b, *rest, scale=2):
    total = a + b
    for r in rest:
        total += r * scale
    return total


def test_arguments_are_the_live_slots_in_order_and_then_the_stack():
    program = decode(weigh.__code__)
    at = index_of(program, "STORE_FAST", "total")
    resume = make_resume_code(program, at, stack_size=1, slots=live_slots(program, at))
    assert resume.argument_names == ("scale", "rest", "__stack0")
    assert resume.function(globals())(2, (10, 20), 5) == 65


def test_the_name_tells_function_and_line():
    program = decode(weigh.__code__)
    at = index_of(program, "STORE_FAST", "total")
    resume = make_resume_code(program, at, stack_size=1, slots={"rest", "scale"})
    assert resume.name == f"resume_in_weigh_at_{weigh.__code__.co_firstlineno + 1}"
    assert (resume.code.co_name, resume.code.co_filename) == ("weigh", __file__)


def test_decoding_a_resume_function_gives_the_users_instructions_behind_the_prefix():
    program = decode(weigh.__code__)
    at = index_of(program, "STORE_FAST", "total")
    resume = make_resume_code(program, at, stack_size=1, slots={"rest", "scale"})
    behind = decode(resume.code).instructions[resume.prefix_length :]
    assert [(i.opname, i.argval, i.line) for i in behind] == [
        (i.opname, i.argval, i.line) for i in program.instructions
    ]


def test_a_resume_of_a_resume_continues_the_users_function():
    program = decode(weigh.__code__)
    at = index_of(program, "STORE_FAST", "total")
    first = make_resume_code(program, at, stack_size=1, slots={"rest", "scale"})
    again = decode(first.code)
    later = index_of(again, "FOR_ITER")
    second = make_resume_code(again, later, stack_size=1, slots={"total", "scale"})
    assert second.origin is program
    assert second.origin_index == index_of(program, "FOR_ITER")
    assert resume_code_of(second.code) is second
    assert second.function(globals())(3, 5, iter([10, 20])) == 95


def test_nulls_on_the_stack_are_pushed_again_and_are_no_arguments():
    def call(f, x):
        return f(x, 1)

    program = decode(call.__code__)
    at = index_of(program, "LOAD_FAST", "x")
    null = 1 if sys.version_info >= (3, 13) else 0
    resume = make_resume_code(program, at, stack_size=2, nulls={null}, slots={"x"})
    assert resume.argument_names == ("x", f"__stack{1 - null}")
    assert resume.function(globals())(5, max) == 5


def test_cells_go_on_being_shared():
    def tally(items):
        count = 0

        def add():
            nonlocal count
            count += 1

        for _ in items:
            add()
        return count

    program = decode(tally.__code__)
    at = index_of(program, "GET_ITER")
    cell = types.CellType(10)

    def add():
        cell.cell_contents += 1

    resume = make_resume_code(program, at, stack_size=1, slots={"add"}, cells={"count"})
    assert resume.free_names == ("count",)
    assert resume.function(globals(), {"count": cell})(add, "ab") == 12
    assert cell.cell_contents == 12


def test_slots_that_are_not_passed_stay_unbound():
    def maybe(flag):
        if flag:
            x = 1
        return x

    program = decode(maybe.__code__)
    resume = make_resume_code(program, index_of(program, "LOAD_FAST", "x"), stack_size=0)
    with pytest.raises(UnboundLocalError, match="'x'"):
        resume.function(globals())()


def test_a_handler_around_the_place_still_catches():
    def guarded(f):
        try:
            value = f() + 1
        except ValueError as error:
            return f"caught {error}"
        return value

    program = decode(guarded.__code__)
    at = index_of(program, "CALL") + 1

    class Number:
        def __add__(self, other):
            raise ValueError("inside")

    resume = make_resume_code(program, at, stack_size=1)
    assert resume.function(globals())(41) == 42
    assert resume.function(globals())(Number()) == "caught inside"
    with pytest.raises(TypeError):
        resume.function(globals())("a")


def test_tracebacks_show_the_users_line():
    def divide(a, b):
        c = a + 1
        return c / b

    program = decode(divide.__code__)
    at = index_of(program, "STORE_FAST", "c")
    resume = make_resume_code(program, at, stack_size=1, slots={"b"})
    with pytest.raises(ZeroDivisionError) as caught:
        resume.function(globals())(0, 5)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.lineno, last.line) == (divide.__code__.co_firstlineno + 2, "return c / b")


def test_inside_an_except_block_the_exception_is_being_handled_again():
    def handle(f):
        try:
            f()
        except ValueError:
            y = f(1)
            return y, sys.exc_info()[1]
        return None

    program = decode(handle.__code__)
    at = index_of(program, "STORE_FAST", "y")
    resume = make_resume_code(program, at, stack_size=2)
    error = ValueError("again")
    assert resume.argument_names == ("__handled0", "__stack1")
    assert resume.function(globals())(error, 5) == (5, error)
    assert sys.exc_info()[1] is None


def test_a_raise_in_the_handler_of_a_resume_function_has_the_context_and_the_traceback():
    def handle(number):
        try:
            return 1 / number
        except ZeroDivisionError:
            raise KeyError("new")

    program = decode(handle.__code__)
    at = index_of(program, "BINARY_OP")
    resume = make_resume_code(program, at, stack_size=0, raising=True)
    error = ZeroDivisionError("old")
    with pytest.raises(KeyError) as caught:
        resume.function(globals())(error)
    assert caught.value.__context__ is error and error.__context__ is None
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.name, last.line) == (resume.code.co_name, 'raise KeyError("new")')


def test_the_same_place_is_the_same_code():
    program = decode(weigh.__code__)
    at = index_of(program, "STORE_FAST", "total")
    first, again, other = (
        make_resume_code(program, at, stack_size=1, slots=slots)
        for slots in ({"rest", "scale"}, ["scale", "rest"], {"rest"})
    )
    assert first is again and first is not other


def test_whether_a_place_is_in_a_loop_is_known():
    program = decode(weigh.__code__)
    before = make_resume_code(program, index_of(program, "STORE_FAST", "total"), stack_size=1)
    inside = make_resume_code(program, index_of(program, "STORE_FAST", "r"), stack_size=2)
    assert (before.is_in_loop, inside.is_in_loop) == (False, True)


def test_a_generator_is_refused():
    def gen(x):
        yield x

    with pytest.raises(CannotResume, match="generator"):
        make_resume_code(decode(gen.__code__), 4, stack_size=0)


def test_a_method_whose_self_is_shared_cannot_call_super_after_the_cut():
    class Base:
        def f(self):
            return 1

    class Child(Base):
        def f(self):
            x = len("abc")
            keep = lambda: self
            return super().f() + x, keep

    program = decode(Child.f.__code__)
    with pytest.raises(CannotResume, match="super"):
        make_resume_code(program, index_of(program, "STORE_FAST", "x"), stack_size=1, cells={"self"})


def test_a_method_that_calls_super_keeps_self_as_its_first_argument():
    class Base:
        def f(self):
            return 1

    class Child(Base):
        def f(self, y):
            x = len("abc")
            return super().f() + x + y

    program = decode(Child.f.__code__)
    at = index_of(program, "STORE_FAST", "x")
    live = live_slots(program, at)
    resume = make_resume_code(program, at, stack_size=1, slots=live - {"__class__"}, cells={"__class__"})
    assert resume.argument_names == ("self", "y", "__stack0")
    assert resume.function(globals(), {"__class__": types.CellType(Child)})(Child(), 100, 3) == 104
