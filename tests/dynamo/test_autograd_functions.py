"""Subclasses of autograd.Function inside compiled code: one node with its own backward, or a break."""

import pytest

import minitorch_compile as torch
from minitorch_compile.autograd import Function
from minitorch_compile.autograd.function import once_differentiable
from minitorch_compile.dynamo.testing import CompileCounter

SCALE = [3.0]
CALLS = []
WEIGHT = torch.ones(3)


class Cube(Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**3 * k, x + 1

    @staticmethod
    def backward(ctx, grad, other):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2 * ctx.k + other * SCALE[0], None


class StraightThrough(Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad.clamp(-1, 1) * 2


class WithSetup(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0] * 100


class Counts(Function):
    @staticmethod
    def forward(ctx, x):
        CALLS.append("forward")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


class Captures(Function):
    @staticmethod
    def forward(ctx, x):
        return x * WEIGHT

    @staticmethod
    def backward(ctx, grad):
        return grad * WEIGHT


def cube(x):
    y, z = Cube.apply(x * 2, 2.0)
    return (y + z).sum()


PROGRAMS = {
    "several outputs, attributes of ctx": (cube, 1),
    "a gradient unlike the derivative": (lambda x: (StraightThrough.apply(x - 0.5) * x).sum(), 1),
    "setup_context": (lambda x: WithSetup.apply(x).sum(), 1),
    "a side effect in forward": (lambda x: Counts.apply(x * 1).sum(), 2),
    "a tensor that is no argument": (lambda x: Captures.apply(x * 1).sum(), 2),
}


def outcome(function, requires_grad):
    CALLS.clear()
    x = torch.arange(3.0).requires_grad_(requires_grad)
    loss = function(x)
    if requires_grad:
        loss.backward()
    return loss.detach().tolist(), None if x.grad is None else x.grad.tolist(), list(CALLS)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_gradients_and_side_effects_are_those_of_the_plain_function(name, backend):
    function, _ = PROGRAMS[name]
    compiled = torch.compile(function, backend=backend)
    for scale in (3.0, 7.0):
        SCALE[0] = scale
        for requires_grad in (True, False):
            assert outcome(compiled, requires_grad) == outcome(function, requires_grad)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_that_only_computes_is_part_of_the_graph(name):
    function, graphs = PROGRAMS[name]
    counter = CompileCounter()
    torch.compile(function, backend=counter)(torch.arange(3.0).requires_grad_())
    assert counter.frame_count == graphs


def test_without_gradients_forward_is_traced_like_any_function():
    counter = CompileCounter()
    torch.compile(cube, backend=counter)(torch.arange(3.0))
    assert "Cube" not in counter.graphs[0].graph.compact() and counter.op_count == 6
