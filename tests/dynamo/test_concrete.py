"""The bytecode interpreter does what CPython does: the whole battery, and what the interpreter adds."""

import asyncio
import builtins
import contextlib
import doctest
import io
import sys
import traceback
import types

import pytest

from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.bytecode.decode_rules import UnsupportedBytecode
from minitorch_compile.dynamo.execution import concrete
from minitorch_compile.dynamo.execution import interpreter as interpreter_module
from minitorch_compile.dynamo.execution.concrete import ConcreteInterpreter, function_frame, interpret, interpret_module
from minitorch_compile.dynamo.execution.frame import Returned, Yielded
from minitorch_compile.dynamo.execution.hooks import UnsupportedInstruction
from minitorch_compile.dynamo.execution.interpreter import BytecodeInterpreter
from tests.dynamo import frame_programs
from tests.dynamo.battery.module_code import MODULES, PROMPTS
from tests.dynamo.programs import observe, program_id, programs, programs_of


@pytest.mark.parametrize("program", [*programs(), *programs_of(frame_programs)], ids=program_id)
def test_interpreted_programs_do_what_cpython_does(program):
    assert observe(lambda: interpret(program)) == observe(program)


def scaled_sum(xs, *, scale=1):
    total = 0
    for x in xs:
        total += x * scale
    return total


def test_arguments_are_passed_as_in_a_call():
    assert interpret(scaled_sum, [1, 2], scale=10) == 30


def test_wrong_arguments_raise_cpythons_error():
    with pytest.raises(TypeError, match=r"scaled_sum\(\) missing 1 required positional argument: 'xs'"):
        interpret(scaled_sum)


def test_called_python_functions_are_interpreted_too(monkeypatch):
    interpreted = []
    original = ConcreteInterpreter.run
    monkeypatch.setattr(
        ConcreteInterpreter, "run", lambda self: interpreted.append(self.program.code.co_name) or original(self)
    )

    def helper(x):
        return x + 1

    class Thing:
        def __init__(self, x):
            self.x = helper(x)

        def method(self):
            return self.x

    def program():
        return Thing(1).method()

    assert interpret(program) == 2
    assert interpreted == ["program", "__init__", "helper", "method"]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_runs_in_its_namespace(name):
    code = compile(MODULES[name], name, "exec")
    interpreted, run = ({"__name__": "example", "__builtins__": __builtins__} for _ in range(2))
    interpret_module(code, interpreted)
    exec(code, run)
    assert list(interpreted) == list(run)
    plain = [k for k, value in run.items() if isinstance(value, (int, str, list, tuple)) and not k.startswith("__")]
    assert [interpreted[key] for key in plain] == [run[key] for key in plain]


def test_lines_at_the_prompt_show_their_values(monkeypatch):
    def shown(run):
        monkeypatch.setattr(builtins, "_", "nothing shown yet", raising=False)  # where the prompt keeps what it showed
        names = {"__builtins__": builtins}
        return [observe(lambda: run(compile(line, "prompt", "single"), names)) for line in PROMPTS.values()]

    assert shown(interpret) == shown(exec)


def test_a_frame_runs_step_by_step_and_shows_its_state():
    frame = function_frame(scaled_sum, {"xs": [1, 2], "scale": 3}, None)
    while frame.instructions[frame.index].opname != "FOR_ITER":
        frame.step()
    assert frame.locals["total"] == 0
    assert len(frame.stack) == 1
    assert frame.outcome is None
    while frame.outcome is None:
        frame.step()
    assert frame.outcome == Returned(9)


def test_a_frame_can_be_put_back_to_a_checkpoint():
    frame = function_frame(scaled_sum, {"xs": (1, 2), "scale": 3}, None)
    frame.step()
    state = frame.checkpoint()
    assert frame.run() == 9
    frame.restore(state)
    frame.locals["scale"] = 100
    assert frame.run() == 300


def test_a_generators_frame_yields_and_goes_on():
    def gen():
        x = yield 1
        yield x * 2

    frame = function_frame(gen, {}, None)
    frame.run()
    assert frame.resume_with(None) == 1
    assert frame.outcome == Yielded(1)
    assert frame.resume_with(21) == 42


def test_a_refusal_cannot_be_caught_by_the_program(monkeypatch):
    def refuse(code):
        raise UnsupportedBytecode("an instruction that nobody knows")

    def program():
        monkeypatch.setattr(concrete, "decode", refuse)
        try:
            scaled_sum([1])
        except Exception:
            return "caught"

    with pytest.raises(UnsupportedBytecode):
        interpret(program)


def test_a_code_object_runs_in_globals_and_locals():
    names, variables = {"n": 3}, {}
    assert interpret(compile("m = n + 1", "a module", "exec"), names, variables) is None
    assert interpret(compile("m * n", "an expression", "eval"), names, variables) == 12
    assert (variables, set(names)) == ({"m": 4}, {"n", "__builtins__"})


def test_a_function_made_of_a_modules_code_fills_its_globals():
    names = {}
    interpret(types.FunctionType(compile("total = 1\ntotal += 1", "a module", "exec"), names))
    assert names["total"] == 2


def test_what_is_typed_at_the_prompt_goes_to_the_display_hook(monkeypatch):
    shown = []
    monkeypatch.setattr(sys, "displayhook", shown.append)
    interpret(compile("x = 2; x; x + 1", "the prompt", "single"), {})
    assert shown == [2, 3]


def test_a_code_object_with_free_variables_needs_a_function():
    n = 1
    with pytest.raises(TypeError, match="free variables, which only a function gives it"):
        interpret((lambda: n).__code__)


def test_a_doctest_does_what_it_says():
    examples = doctest.DocTestParser().get_examples(interpreter_module.__doc__)
    names = dict(vars(interpreter_module))
    for example in examples:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            interpret(compile(example.source, "<doctest>", "single"), names)
        assert printed.getvalue() == example.want


def test_a_traceback_shows_the_program_and_not_the_interpreter():
    def fails(n):
        return n / 0

    with pytest.raises(ZeroDivisionError) as caught:
        interpret(lambda: fails(1))
    names = [entry.frame.code.name for entry in caught.traceback]
    assert names == ["test_a_traceback_shows_the_program_and_not_the_interpreter", "<lambda>", "fails"]


def test_a_coroutine_that_an_interpreted_function_makes_runs_in_an_event_loop_outside():
    async def double(x):
        await asyncio.sleep(0)
        return 2 * x

    assert asyncio.run(interpret(double, 4)) == 8


def test_a_coroutine_that_nobody_awaits_is_named():
    async def forgotten():
        return 1

    with pytest.warns(RuntimeWarning, match="coroutine '.*forgotten' was never awaited"):
        interpret(lambda: [forgotten()].clear())


def test_what_async_for_refuses_is_let_go():
    class Odd:
        def __aiter__(self):
            return self

        def __anext__(self):
            return ()

    odd = Odd()
    before = sys.getrefcount(odd)

    async def main():
        async for _ in odd:
            pass

    def run():
        try:
            main().send(None)
        except TypeError as error:
            traceback.clear_frames(error.__traceback__)
            return str(error.__cause__)

    assert "tuple" in interpret(run)
    assert sys.getrefcount(odd) == before


@pytest.mark.skipif(sys.version_info < (3, 14), reason="template strings came with 3.14")
def test_template_strings_are_refused():
    namespace = {}
    exec("def f(x):\n    return t'{x}'", namespace)
    with pytest.raises(UnsupportedBytecode, match="f, line 2: .*template strings"):
        interpret(namespace["f"], 1)


def test_a_domain_that_leaves_out_a_hook_names_it():
    class OnlyConstants(BytecodeInterpreter):
        def load_const(self, value):
            return value

    with pytest.raises(
        UnsupportedInstruction, match=r"OnlyConstants does not interpret get_iter \(asked by GET_ITER, line \d+\)"
    ):
        OnlyConstants(decode(scaled_sum.__code__), {"xs": [1], "scale": 2}).run()


def test_infinite_recursion_ends_in_a_recursion_error():
    def forever(n):
        return forever(n + 1)

    with pytest.raises(RecursionError):
        interpret(forever, 0)


def test_functions_made_by_an_interpreted_program_are_ordinary():
    def make():
        n = 10

        def f(x, y=2, *, z: int = 3) -> int:
            """Adds."""
            return n + x + y + z

        return f

    f = interpret(make)
    assert isinstance(f, types.FunctionType)
    assert (f(1), f.__doc__, f.__defaults__, f.__kwdefaults__) == (16, "Adds.", (2,), {"z": 3})
    assert set(f.__annotations__) == {"z", "return"}


def test_what_has_no_bytecode_is_refused_with_advice():
    with pytest.raises(TypeError, match="expected a Python function, got <built-in function sorted>.*wrap the call"):
        interpret(sorted, [2, 1])
    assert interpret(lambda: sorted([2, 1])) == [1, 2]


def test_a_method_is_interpreted_on_its_object():
    class Counter:
        total = 3

        def plus(self, n=1):
            return self.total + n

    assert interpret(Counter().plus, n=4) == 7
