"""Going back through a compiled function in all the ways that autograd offers: as through the plain one."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import config, nn
from minitorch_compile.autograd.graph import saved_tensors_hooks
from minitorch_compile.testing import assert_close
from minitorch_compile.utils.checkpoint import checkpoint

BACKENDS = pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
Program = Callable[..., Any]


def leaf(*sizes: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def both(program: Program, backend: str = "aot_eager") -> list[Program]:
    """The plain function and the compiled one."""
    return [program, torch.compile(program, backend=backend, fullgraph=True)]


def same(scenario: Callable[[Program], Any], program: Program, backend: str) -> None:
    """The scenario gives equal tensors, Nones and errors with both."""
    plain, compiled = (_outcome(scenario, f) for f in both(program, backend))
    assert [type(x) for x in compiled] == [type(x) for x in plain]
    for a, b in zip(compiled, plain, strict=True):
        if isinstance(b, torch.Tensor):
            assert_close(a, b, rtol=1e-4, atol=1e-5)
        else:
            assert a == b


def _outcome(scenario: Callable[[Program], Any], function: Program) -> list[Any]:
    try:
        return list(scenario(function))
    except RuntimeError as error:
        return [type(error).__name__, str(error).partition(":")[0][:60]]


# ------------------------------------------------------------------------------------------ partial gradients


def two_outputs(x, w):
    return (x @ w).sin(), x.exp() * 2


@BACKENDS
@pytest.mark.parametrize("used", [(0,), (1,), (0, 1)])
def test_gradients_of_some_outputs(used, backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        outputs = f(x, w)
        sum(outputs[i].sum() for i in used).backward()
        return x.grad, w.grad

    same(scenario, two_outputs, backend)


@BACKENDS
def test_gradients_of_some_inputs(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        return (*torch.autograd.grad(f(x, w)[0].sum(), w), x.grad, w.grad)

    same(scenario, two_outputs, backend)


@BACKENDS
def test_an_input_that_an_output_does_not_depend_on_has_no_gradient(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        return torch.autograd.grad(f(x, w)[1].sum(), [x, w], allow_unused=True)

    same(scenario, two_outputs, backend)


@pytest.mark.parametrize("function", [torch.median, torch.nanmedian])
def test_elements_equal_to_the_median_share_its_gradient(function):
    x = torch.tensor([1.0, 2.0, 2.0, 3.0], requires_grad=True)
    torch.compile(lambda x: function(x), backend="aot_eager")(x).backward()
    assert x.grad.tolist() == [0.0, 0.5, 0.5, 0.0]


def test_an_input_that_needs_no_gradient_costs_nothing():
    x, w = leaf(3, 3).detach(), leaf(3, 3, seed=1)
    partition = torch.compiler.inspect(lambda x, w: (x @ w).relu(), x, w).partition
    assert [getattr(node.target, "name", "") for node in partition.backward.graph.nodes].count("mm") == 1
    assert "w" not in [node.name for node in partition.saved]


# ------------------------------------------------------------------------------------------ gradients that come in


@BACKENDS
@pytest.mark.parametrize(
    "tangent",
    [
        lambda: torch.ones(3, 4).t(),
        lambda: torch.ones(1, 1).expand(4, 3),
        lambda: torch.arange(24.0).view(4, 6)[:, ::2],
        lambda: torch.ones(4, 3, dtype=torch.float64),
        lambda: torch.zeros(4, 3),
    ],
    ids=["transposed", "expanded", "every second", "float64", "zeros"],
)
def test_a_tangent_of_any_layout(tangent, backend):
    def scenario(f):
        x, w = leaf(4, 3), leaf(3, 3, seed=1)
        f(x, w)[0].backward(tangent())
        return x.grad, w.grad, x.grad.stride(), x.grad.dtype

    same(scenario, two_outputs, backend)


@BACKENDS
def test_a_hook_on_what_a_compiled_function_gives(backend):
    def scenario(f):
        x, w, seen = leaf(3, 3), leaf(3, 3, seed=1), []
        out = f(x, w)[0]
        out.register_hook(lambda g: seen.append(g.clone()) or g * 3)
        x.register_hook(lambda g: g * 2)
        out.sum().backward()
        return x.grad, w.grad, *seen

    same(scenario, two_outputs, backend)


@BACKENDS
def test_between_two_compiled_functions(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        first = f(x, w)[0]
        first.retain_grad()
        f(first, w)[1].sum().backward()
        return x.grad, w.grad, first.grad

    same(scenario, two_outputs, backend)


# ------------------------------------------------------------------------------------------ several times


@BACKENDS
def test_the_graph_can_be_retained_twice(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        loss = f(x, w)[0].sum()
        for retain in (True, True, False):
            loss.backward(retain_graph=retain)
        return x.grad, w.grad

    same(scenario, two_outputs, backend)


@BACKENDS
def test_a_second_backward_pass_needs_a_retained_graph(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        loss = f(x, w)[0]
        loss.backward(torch.ones(3, 3))
        loss.backward(torch.ones(3, 3))

    same(scenario, two_outputs, backend)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        scenario(both(two_outputs, backend)[1])


@BACKENDS
def test_a_graph_that_saved_nothing_may_be_walked_again(backend):
    def scenario(f):
        x = leaf(3)
        out = f(x)
        out.backward(torch.ones(3))
        out.backward(torch.ones(3))
        return (x.grad,)

    same(scenario, lambda x: x * 2 + 1, backend)


@BACKENDS
def test_a_second_call_before_the_backward_pass_of_the_first(backend):
    def scenario(f):
        x, y, w = leaf(3, 3), leaf(3, 3, seed=2), leaf(3, 3, seed=1)
        first, second = f(x, w)[0], f(y, w)[0]
        first.sum().backward()
        second.sum().backward()
        return x.grad, y.grad, w.grad

    same(scenario, two_outputs, backend)


@BACKENDS
def test_a_recurrence_through_one_compiled_step(backend):
    def scenario(f):
        state, w = leaf(3, 3), leaf(3, 3, seed=1)
        first = state
        for _ in range(4):
            state = f(state, w)[0]
        state.sum().backward()
        return first.grad, w.grad

    same(scenario, two_outputs, backend)


# ------------------------------------------------------------------------------------------ written to in between


@BACKENDS
def test_a_saved_argument_that_is_overwritten_is_an_error(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        out = f(x, w)[0]
        with torch.no_grad():
            w.mul_(2)
        out.sum().backward()

    same(scenario, two_outputs, backend)


@BACKENDS
def test_a_saved_result_that_is_overwritten_is_an_error(backend):
    def scenario(f):
        x = leaf(3)
        out = f(x)
        out.detach().mul_(2)
        out.sum().backward()

    with config.patch(partitioner="default"):
        same(scenario, lambda x: x.exp(), backend)


# ------------------------------------------------------------------------------------------ what is kept


def test_a_result_that_nobody_differentiates_is_freed_at_once():
    compiled = torch.compile(lambda x: x.exp(), backend="aot_eager")
    out = compiled(leaf(3))
    alive = weakref.ref(out)
    gc.disable()
    try:
        del out
        assert alive() is None
    finally:
        gc.enable()


def test_the_backward_graph_is_compiled_at_the_first_backward_pass():
    compiled: list[str] = []

    def compiler(graph: Any, inputs: Any) -> Any:
        compiled.append("graph")
        return graph

    from minitorch_compile.aot import aot_function

    f = torch.compile(lambda x: x.exp(), backend=lambda gm, inputs: aot_function(gm, inputs, compiler))
    x = leaf(3)
    out = f(x)
    assert len(compiled) == 1
    out.sum().backward()
    f(x).sum().backward()
    assert len(compiled) == 2


@BACKENDS
def test_saved_tensors_hooks_see_what_a_compiled_function_saves(backend):
    x, w, packed = leaf(3, 3), leaf(3, 3, seed=1), []
    compiled = both(two_outputs, backend)[1]
    with saved_tensors_hooks(lambda t: packed.append(t) or t.clone(), lambda t: t * 1):
        out = compiled(x, w)[0]
    assert packed
    out.sum().backward()
    y, v = leaf(3, 3), leaf(3, 3, seed=1)
    two_outputs(y, v)[0].sum().backward()
    assert_close(x.grad, y.grad)
    assert_close(w.grad, v.grad)


def test_checkpoint_around_a_compiled_function_keeps_none_of_its_tensors():
    compiled, x, w = torch.compile(two_outputs, backend="aot_eager"), leaf(3, 3), leaf(3, 3, seed=1)
    out = checkpoint(compiled, x, w, use_reentrant=False)[0]
    assert not any(isinstance(p.content, torch.Tensor) for p in out.grad_fn.saved)
    out.sum().backward()
    y, v = leaf(3, 3), leaf(3, 3, seed=1)
    two_outputs(y, v)[0].sum().backward()
    assert_close(x.grad, y.grad)


@BACKENDS
def test_threads_that_go_back_at_the_same_time(backend):
    compiled, errors = torch.compile(two_outputs, backend=backend), []
    y, v = leaf(3, 3), leaf(3, 3, seed=1)
    two_outputs(y, v)[0].sum().backward()

    def work() -> None:
        try:
            for _ in range(5):
                x, w = leaf(3, 3), leaf(3, 3, seed=1)
                compiled(x, w)[0].sum().backward()
                assert_close(x.grad, y.grad)
        except Exception as error:  # of a thread it would be lost
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


# ------------------------------------------------------------------------------------------ twice


@BACKENDS
def test_gradients_of_gradients(backend):
    def scenario(f):
        x, w = leaf(3, 3), leaf(3, 3, seed=1)
        (gx,) = torch.autograd.grad(f(x, w)[0].square().sum(), x, create_graph=True)
        gx.square().sum().backward()
        return gx.detach(), x.grad, w.grad

    same(scenario, two_outputs, backend)


@BACKENDS
def test_third_derivatives(backend):
    def scenario(f):
        x = leaf(4)
        out = f(x).sum()
        for _ in range(3):
            (out,) = torch.autograd.grad(out.sum(), x, create_graph=True)
        return (out.detach(),)

    same(scenario, lambda x: x.sin() * x.exp(), backend)


@BACKENDS
def test_gradients_of_gradients_with_respect_to_the_incoming_one(backend):
    def scenario(f):
        x, w, v = leaf(3, 3), leaf(3, 3, seed=1), leaf(3, 3, seed=2)
        (gx,) = torch.autograd.grad(f(x, w)[0], x, v, create_graph=True)
        return (*torch.autograd.grad(gx.sum(), [v, w]),)

    same(scenario, two_outputs, backend)


@BACKENDS
def test_twice_through_arguments_that_depend_on_each_other(backend):
    def scenario(f):
        x = leaf(3, 3)
        y = x.cos()
        (gx,) = torch.autograd.grad(f(x, y)[0].sum(), x, create_graph=True)
        return gx.detach(), *torch.autograd.grad(gx.square().sum(), x)

    same(scenario, two_outputs, backend)


@BACKENDS
def test_a_gradient_penalty_trains_as_in_the_plain_program(backend):
    def scenario(compile_):
        torch.manual_seed(0)
        critic = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Dropout(0.5), nn.Linear(8, 1))
        judge = compile_(critic)
        x = leaf(5, 4)
        (gradient,) = torch.autograd.grad(judge(x).sum(), x, create_graph=True)
        (gradient.norm(2, dim=1) - 1).square().mean().backward()
        return [p.grad for p in critic.parameters()]

    plain, compiled = scenario(lambda model: model), scenario(lambda model: torch.compile(model, backend=backend))
    for a, b in zip(compiled, plain, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert_close(a, b, rtol=1e-4, atol=1e-5)


@BACKENDS
def test_twice_through_views_that_are_returned(backend):
    def program(x):
        doubled = x * 2
        return doubled.t(), doubled[0]

    def scenario(f):
        x = leaf(2, 3)
        a, b = f(x)
        (g,) = torch.autograd.grad(a.square().sum() + b.pow(3).sum(), x, create_graph=True)
        return torch.autograd.grad(g.square().sum(), x)

    same(scenario, program, backend)


@BACKENDS
def test_twice_through_a_batch_norm_that_keeps_statistics(backend):
    def scenario(compile_):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh())
        x = leaf(5, 3)
        (g,) = torch.autograd.grad(compile_(model)(x).sum(), x, create_graph=True)
        g.square().sum().backward()
        return [*(p.grad for p in model.parameters() if p.grad is not None), model[1].running_mean]

    plain, compiled = scenario(lambda model: model), scenario(lambda model: torch.compile(model, backend=backend))
    for a, b in zip(compiled, plain, strict=True):
        assert_close(a, b, rtol=1e-4, atol=1e-5)


@BACKENDS
def test_twice_through_a_function_with_a_backward_of_its_own(backend):
    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**3

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * 3 * x**2

    def scenario(f):
        x = leaf(3)
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return g.detach(), *torch.autograd.grad(g.sum(), x)

    same(scenario, lambda x: Cube.apply(x) * x, backend)


def test_finite_differences_agree_with_second_derivatives():
    x, w = (torch.randn(3, 3, dtype=torch.float64, requires_grad=True) for _ in range(2))
    assert torch.autograd.gradgradcheck(torch.compile(lambda x, w: (x @ w).tanh().softmax(1)), (x, w))


def test_twice_through_code_that_ran_without_gradients():
    def program(x):
        with torch.no_grad():
            scale = x.exp()
        y = x * scale
        return y * y.detach()

    def scenario(f):
        x = leaf(4)
        (g,) = torch.autograd.grad(f(x).sum(), x, create_graph=True)
        return torch.autograd.grad(g.sum(), x, allow_unused=True) + (g.detach(),)

    same(scenario, program, "aot_eager")


def test_twice_with_unknown_sizes():
    compiled = torch.compile(two_outputs, backend="aot_eager", dynamic=True)
    for n in (3, 5):
        found = []
        for f in (two_outputs, compiled):
            x, w = leaf(n, 3), leaf(3, 3, seed=1)
            (gx,) = torch.autograd.grad(f(x, w)[0].sum(), x, create_graph=True)
            found.append(torch.autograd.grad(gx.square().sum(), w)[0])
        assert_close(*found)


def test_an_argument_that_is_gone_is_a_clear_error():
    compiled = torch.compile(lambda x, y: x * y.exp(), backend="aot_eager")
    with config.patch(partitioner="default"):
        x = leaf(3)
        out = compiled(x, torch.ones(3))
    with pytest.raises(RuntimeError, match="argument 'y' no longer exists; keep a reference"):
        torch.autograd.grad(out.sum(), x, create_graph=True)
    (plain,) = torch.autograd.grad(compiled(x, torch.ones(3)).sum(), x)
    assert_close(plain, torch.full((3,), 2.718281828))


def test_an_argument_that_the_program_overwrites_is_a_clear_error():
    def program(x, y):
        y.add_(1)
        return x * y.exp()

    x, y = leaf(3), torch.ones(3)
    out = torch.compile(program, backend="aot_eager")(x, y)
    with pytest.raises(RuntimeError, match="overwrites its argument 'y'; write to a clone"):
        torch.autograd.grad(out.sum(), x, create_graph=True)


def test_an_argument_that_was_overwritten_since_is_an_error():
    x, y = leaf(3), torch.ones(3)
    out = torch.compile(lambda x, y: x + y * y, backend="aot_eager")(x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        torch.autograd.grad(out.sum(), x, create_graph=True)
