"""Functions that stay plain Python, with their callees compiled: they do what they did; the callees are captured."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.bytecode.decode import decode
from minitorch_compile.dynamo.execution.stack_shapes import stack_shapes
from minitorch_compile.dynamo.frame_evaluation.call_wrapping import wrapping_calls
from minitorch_compile.dynamo.testing import CompileCounter
from tests.dynamo.compiled import assert_same, matrix
from tests.dynamo.programs import observe, program_id, programs


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_a_program_that_calls_through_does_what_it_did(program):
    assert observe(wrapping_calls(program, lambda function: function)) == observe(program)


@pytest.mark.parametrize("program", programs(), ids=program_id)
def test_every_reachable_instruction_has_one_stack(program):
    instructions = decode(program.__code__).instructions
    shapes = stack_shapes(decode(program.__code__))
    assert {i for i in shapes if instructions[i].opname in ("CALL", "CALL_FUNCTION_EX")} <= set(shapes)
    assert all(len(shapes[i]) >= 1 for i in shapes if instructions[i].opname == "RETURN_VALUE")


def test_every_kind_of_call_goes_through():
    seen = []

    def note(function):
        seen.append(function)
        return function

    def f(x, g):
        return [g(x), x.upper(), g(*[x]), g(**{"x": x}), (lambda: g(x if x else "b"))(), max(x, key=lambda c: ord(c))]

    def g(x):
        return x

    assert wrapping_calls(f, note)("a", g)[:2] == ["a", "A"]
    assert [getattr(function, "__name__", "") for function in seen] == ["g", "upper", "g", "g", "<lambda>", "max"]


def test_a_training_loop_is_captured_around_its_breaks():
    def train(model, optimizer, batches):
        losses = []
        for x in batches:
            optimizer.zero_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def losses(train):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 3), nn.Tanh() if hasattr(nn, "Tanh") else nn.ReLU())
        return train(model, torch.optim.SGD(model.parameters(), lr=0.1), [matrix() + k for k in range(4)])

    counter = CompileCounter()
    compiled = optimize(train, counter)
    assert losses(compiled) == losses(train)
    assert counter.frame_count == 2  # the first step, and any other, which finds gradients to drop
    assert region_of(compiled).breaks[0].code == "MTC-B07"


def test_a_module_that_breaks_inside_a_sequence_leaves_the_others_compiled():
    class Loud(nn.Module):
        def forward(self, x):
            print("loud")
            return x * 2

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), Loud(), nn.Linear(3, 3))
    region = assert_same(lambda m, x: m(x), lambda: (model, matrix()), graphs=None, breaks=1)
    assert sum("linear" in str(module.graph.compact()) for module in region.graph_modules) >= 1
