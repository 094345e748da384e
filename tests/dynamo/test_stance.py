"""set_stance and suppress_errors: what compiled functions do when they can't, or may not, be compiled."""

import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.compiler import set_stance
from minitorch_compile.dynamo import BackendCompilerFailed, stance
from minitorch_compile.dynamo.testing import CompileCounter


def counted(function):
    counter = CompileCounter()
    return torch.compile(function, backend=counter), counter


def is_traced(x):
    return x + (1 if torch.compiler.is_compiling() else 2)


def test_force_eager_runs_plainly_and_keeps_what_was_compiled():
    f, counter = counted(is_traced)
    assert f(torch.zeros(1)) == 1
    with set_stance("force_eager"):
        assert f(torch.zeros(1)) == 2
        assert f(torch.zeros(3))[0] == 2
    assert f(torch.zeros(1)) == 1
    assert counter.frame_count == 1


def test_eager_on_recompile_uses_what_there_is():
    f, counter = counted(is_traced)
    f(torch.zeros(1))
    with set_stance("eager_on_recompile"):
        assert f(torch.zeros(1)) == 1
        assert f(torch.zeros(3))[0] == 2
    assert f(torch.zeros(3))[0] == 1
    assert counter.frame_count == 2


def test_fail_on_recompile_names_the_function():
    f, _ = counted(is_traced)
    f(torch.zeros(1))
    with set_stance("fail_on_recompile"):
        assert f(torch.zeros(1)) == 1
        with pytest.raises(RuntimeError, match="'fail_on_recompile'") as caught:
            f(torch.zeros(3))
    first, second, reason = str(caught.value).splitlines()
    assert first.endswith(
        f"filename: '{__file__}', function name: 'is_traced', line number: {is_traced.__code__.co_firstlineno}"
    )
    assert second == "    triggered by the following guard failure(s):"
    assert reason.startswith("    - ") and "x.sizes == (1,)" in reason


def test_functions_after_a_break_obey_too():
    def program(x):
        y = is_traced(x)
        torch.compiler.graph_break()
        return is_traced(y)

    f, _ = counted(program)
    assert f(torch.zeros(1)) == 2
    with set_stance("force_eager"):
        assert f(torch.zeros(1)) == 4
    assert f(torch.zeros(1)) == 2


def test_it_is_a_decorator_and_a_call_and_nests():
    f, _ = counted(is_traced)
    f(torch.zeros(1))

    @set_stance("force_eager")
    def plainly():
        with set_stance("default"):
            inside = f(torch.zeros(1))
        return f(torch.zeros(1)), inside

    assert f(torch.zeros(1)) == 1
    assert plainly() == (2, 1)
    assert f(torch.zeros(1)) == 1
    set_stance("force_eager")
    try:
        assert f(torch.zeros(1)) == 2
    finally:
        set_stance("default")
    assert f(torch.zeros(1)) == 1


def test_the_version_used_last_is_found_again():
    f, counter = counted(is_traced)
    for size in (1, 2):
        f(torch.zeros(size))
    with set_stance("force_eager"):
        f(torch.zeros(2))
    assert f(torch.zeros(2))[0] == 1 and f(torch.zeros(1)) == 1
    assert counter.frame_count == 2


def test_an_unknown_stance_is_refused():
    with pytest.raises(ValueError, match="no stance 'eager'. Choose one of: default, force_eager"):
        set_stance("eager")


def failing(module, example_inputs):
    raise KeyError("no such kernel")


def test_errors_of_the_backend_are_raised_unless_suppressed():
    f = torch.compile(is_traced, backend=failing)
    with pytest.raises(BackendCompilerFailed, match="no such kernel"):
        f(torch.zeros(1))
    with config.patch(suppress_errors=True), pytest.warns(UserWarning, match="runs as plain Python.*no such kernel"):
        assert f(torch.zeros(1)) == 2


@set_stance("force_eager")
def plainly(x):
    return x + 1


def with_a_block(x):
    with set_stance("force_eager"):
        return x + 1


@pytest.mark.parametrize("program", [with_a_block, lambda x: plainly(x), lambda x: set_stance("default")])
@pytest.mark.parametrize("fullgraph", [False, True])
def test_a_compiled_function_does_not_change_the_stance(program, fullgraph):
    with pytest.raises(AssertionError, match="Attempt to trace forbidden callable .*; call it outside") as told:
        torch.compile(program, backend="eager", fullgraph=fullgraph)(torch.zeros(1))
    assert "from user code: " in str(told.value) and "test_stance.py" in str(told.value)
    assert stance.state.stance == "default"


def test_functions_of_the_program_may_be_forbidden():
    @torch._dynamo.forbid_in_graph
    def measure(x):
        return x

    with pytest.raises(AssertionError, match="forbidden callable <function .*measure"):
        torch.compile(lambda x: measure(x), backend="eager")(torch.zeros(1))
    assert measure(1) == 1
    with pytest.raises(AssertionError, match="only to callables"):
        torch._dynamo.forbid_in_graph(1)


def test_what_runs_only_compiled_code_may_be_called_in_compiled_code():
    f = torch.compile(lambda x: x + 1, backend="eager")
    assert torch.compile(lambda x: torch._dynamo.run(f)(x) * 2, backend="eager")(torch.zeros(1)) == 2
