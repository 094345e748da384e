"""Transforms and compile(): around each other, with plain runs as the oracle."""

import minitorch_compile as torch
from minitorch_compile import vmap
from minitorch_compile.func import grad, jacrev


def f(x):
    return (torch.tanh(x) * x).sum()


def test_a_transform_inside_a_compiled_function_runs_as_it_is_between_two_graphs():
    def program(xs):
        scaled = xs * 2
        gradients = vmap(grad(f))(scaled)
        return gradients + scaled

    xs = torch.randn(4, 3)
    counter = torch._dynamo.testing.CompileCounter()
    assert torch.equal(torch.compile(program, backend=counter)(xs), program(xs))
    assert counter.frame_count == 2
    report = torch.compiler.explain(program)(xs)
    assert all("of minitorch_compile.func" in broken.reason for broken in report.break_reasons)


def test_a_compiled_function_inside_a_transform_runs_as_the_plain_one():
    compiled = torch.compile(f, backend="aot_eager")
    xs = torch.randn(4, 3)
    assert torch.allclose(vmap(compiled)(xs), vmap(f)(xs))
    assert torch.allclose(grad(compiled)(xs[0]), grad(f)(xs[0]))
    assert torch.allclose(vmap(jacrev(compiled))(xs), vmap(jacrev(f))(xs))
    assert torch.allclose(compiled(xs[0]), f(xs[0]))  # and outside it is compiled as before


def test_the_tape_can_be_batched_by_hand():
    x = torch.randn(3, requires_grad=True)
    y = torch.tanh(x) * x.sum()
    rows = vmap(lambda g: torch.autograd.grad(y, x, g, retain_graph=True)[0])(torch.eye(3))
    assert torch.allclose(rows, jacrev(lambda x: torch.tanh(x) * x.sum())(x.detach()))
