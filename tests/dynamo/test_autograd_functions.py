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


class Reverse(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -grad


class ReverseItself(Reverse):
    @staticmethod
    def forward(ctx, x):
        return x


class Turned(Function):
    @staticmethod
    def forward(ctx, x):
        return x.flip(0), x[1:]

    @staticmethod
    def backward(ctx, grad, other):
        return grad * 2


def cube(x):
    y, z = Cube.apply(x * 2, 2.0)
    return (y + z).sum()


PROGRAMS = {
    "several outputs, attributes of ctx": (cube, 1),
    "a gradient unlike the derivative": (lambda x: (StraightThrough.apply(x - 0.5) * x).sum(), 1),
    "setup_context": (lambda x: WithSetup.apply(x).sum(), 1),
    "a side effect in forward": (lambda x: Counts.apply(x * 1).sum(), 2),
    "a tensor that is no argument": (lambda x: Captures.apply(x * 1).sum(), 2),
    "the argument, seen as it is": (lambda x: (Reverse.apply(x * 2) * x).sum(), 1),
    "a part of the argument": (lambda x: Turned.apply(x * 2)[1].sum(), 2),
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


RETURNED_ARGUMENTS = {
    "it is returned": lambda f, x: (f(x),),
    "a view of it": lambda f, x: (f(x).t(), x.sum()),
    "twice": lambda f, x: (f(f(x * 2)) * x,),
    "both are returned": lambda f, x: (lambda y: (f(y), y))(x * 2),
    "the argument is written to": lambda f, x: (lambda y: (lambda z: (y.mul_(3), z * z))(f(y)))(x * 2),
    "the result is written to": lambda f, x: (lambda y: (f(y).mul_(3), y * y))(x * 2),
    "of a view": lambda f, x: (f((x * 2)[:, 1:]),),
}


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
@pytest.mark.parametrize("cls", [Reverse, ReverseItself])
@pytest.mark.parametrize("name", RETURNED_ARGUMENTS)
def test_a_result_in_the_memory_of_the_argument_has_a_history_of_its_own(name, cls, backend):
    """A layer that reverses gradients, which finds features that don't tell two domains apart."""

    def run(function):
        x = torch.arange(6.0).view(2, 3).requires_grad_()
        results = function(x)
        seen = [x.is_leaf, *((y.tolist(), y.data_ptr() == x.data_ptr(), y is x) for y in results)]
        sum((y * y).sum() * (i + 1) for i, y in enumerate(results)).backward()
        return seen, x.grad.tolist()

    program = lambda x: RETURNED_ARGUMENTS[name](cls.apply, x)
    compiled = torch.compile(program, backend=backend, fullgraph=True)
    if "written" in name and cls is Reverse:  # as plainly: it is not clear what history a view without one should get
        with pytest.raises(RuntimeError, match="view was created in no_grad mode"):
            compiled(torch.ones(2, 3, requires_grad=True))
    else:
        assert run(compiled) == run(program)


class TwiceAndANumber(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, 3

    @staticmethod
    def backward(ctx, grad, of_the_number):
        return grad * 2


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_a_result_that_is_no_tensor_breaks_the_graph(backend):
    """A node of the graph can't give it: compiling failed instead."""

    def run(function):
        x = torch.arange(3.0).requires_grad_()
        y, number = function(x)
        y.sin().sum().backward()
        return y.tolist(), number, x.grad.tolist()

    program = lambda x: TwiceAndANumber.apply(x + 1)
    assert run(torch.compile(program, backend=backend)) == run(program)
