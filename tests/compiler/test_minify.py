"""minify() finds the graph that a broken backend gets wrong, and its script shows the failure by itself."""

import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import nn
from minitorch_compile.compiler import minify
from minitorch_compile.fx.targets import short_name
from minitorch_compile.tensor.dispatch import captured_memory, dispatch


def replaces(old, new):
    """A backend that computes `new` instead of `old`."""

    def backend(module, example_inputs):
        for node in module.graph.nodes:
            if node.op == "call_function" and node.target is old:
                node.target = new
        module.recompile()
        return module

    return backend


def refuses(name):
    """A backend that can't compile a graph with such a node."""

    def backend(module, example_inputs):
        if any(short_name(node.target) == name for node in module.graph.nodes):
            raise KeyError(f"no rule for {name}")
        return module

    return backend


def names(found):
    return [short_name(node.target) for node in found.module.graph.nodes if node.op.startswith("call")]


def test_a_wrong_value_in_a_model():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
    found = minify(model, torch.randn(3, 4), backend=replaces(F.gelu, lambda x, approximate: F.relu(x)))
    assert names(found) == ["gelu"]
    assert found.failure.startswith("result 0 differs")


def test_a_wrong_gradient_alone_is_found():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return torch.sin(x)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = torch.randn(5, requires_grad=True)
    found = minify(lambda x: torch.exp(torch.sin(x) + 1), x, backend=replaces(torch.sin, Doubled.apply))
    assert names(found) == ["sin"]
    assert found.inputs[0].requires_grad


def test_an_error_of_the_backend():
    found = minify(lambda x: (torch.exp(x) * 2).cumsum(0) + 1, torch.ones(3), backend=refuses("cumsum"))
    assert names(found) == ["cumsum"]
    assert found.failure == "raises KeyError: 'no rule for cumsum'"


def test_a_write_before_the_failure_stays_out_of_the_way():
    def program(x):
        y = x.clone()
        y.add_(1)
        y[0] = 5
        return torch.sin(y).sum()

    found = minify(program, torch.ones(4), backend=replaces(torch.sin, torch.cos))
    assert names(found) == ["sin"]


def test_the_second_graph_is_searched_too():
    def program(x):
        y = torch.exp(x)
        torch.compiler.graph_break()
        return torch.tanh(torch.sin(y))

    found = minify(program, torch.ones(4), backend=replaces(torch.sin, torch.cos))
    assert names(found) == ["sin"]


def test_right_code_is_said_to_be_right():
    with pytest.raises(ValueError, match="each of the 1 captured graphs gives the same"):
        minify(lambda x: x + 1, torch.ones(2), backend="aot_eager")


def test_the_random_stream_is_left_where_the_program_leaves_it():
    torch.manual_seed(0)
    found = minify(lambda x: F.dropout(torch.sin(x)), torch.ones(50), backend=replaces(torch.sin, torch.cos))
    after = torch.rand(3)
    torch.manual_seed(0)
    F.dropout(torch.ones(50))
    assert names(found) == ["sin"]
    assert torch.equal(after, torch.rand(3))


@pytest.mark.parametrize("make", [lambda: torch.ones(3), lambda: torch.randn(20, 30).t(), lambda: torch.arange(100)])
def test_the_script_shows_the_failure(make):
    broken = replaces(torch.square, torch.neg)
    torch.compiler.register_backend(broken, name="broken")
    try:
        text = str(minify(lambda x: torch.square(x + 1) * 2, make(), backend="broken"))
        assert text.count("\n") < 20
        with pytest.raises(AssertionError, match="not close|not equal"):
            exec(compile(text, "script", "exec"), {"__name__": "script"})
    finally:
        torch.compiler.unregister_backend("broken")


def test_the_script_of_a_right_backend_passes():
    text = str(minify(lambda x: torch.square(x + 1), torch.ones(3), backend=replaces(torch.square, torch.neg)))
    exec(compile(text.replace("backend='backend'", "backend='inductor'"), "script", "exec"), {"__name__": "script"})


def test_settings_of_a_call_are_written_as_a_program_would():
    def program(x):
        return torch.square(x.to(torch.float64)) + torch.zeros(3, dtype=torch.float64, device=torch.device("cpu"))

    text = str(minify(program, torch.ones(3), backend=refuses("zeros")))
    assert "dtype=torch.float64, device=torch.device(type='cpu')" in text
    exec(compile(text.replace("backend='backend'", "backend='eager'"), "script", "exec"), {"__name__": "script"})


def test_a_function_transform_stays_whole():
    def program(x):
        return torch.func.vmap(torch.func.grad(lambda a: (torch.exp(torch.sin(a * 2)) + 1).sum()))(x) * 3

    found = minify(program, torch.ones(3, 2), backend=replaces(torch.sin, torch.cos))
    text = str(found)
    assert text.index("enter_vmap") < text.index("sin = torch.sin(as_argument)") < text.index("leave_vmap")
    assert "torch.exp" not in text and not dispatch.stacks.transforms
    assert torch.ones(2).requires_grad_().requires_grad  # which is refused inside a transform
    assert not captured_memory.recordings.starts and not dispatch.contexts
