"""Transforms and compile(): inside each other, with plain runs as the oracle."""

import pytest

import minitorch_compile as torch
from minitorch_compile import vmap
from minitorch_compile.func import grad, hessian, jacrev, jvp, vjp
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor.dispatch.dispatch import contexts, stacks
from tests.func.hessians import FUNCTIONS, WAYS
from tests.func.hessians import X as MATRIX
from tests.func.random_compositions import difference
from tests.func.transformed_programs import NET, PROGRAMS, W, f, loss

X = torch.randn(3, 4)
WEIGHTS = list(NET.parameters())


def run(function, needs_gradient):
    """The results, and the gradients of x and of the network's weights, if there is something to differentiate."""
    x = X.clone().requires_grad_(needs_gradient)
    torch.manual_seed(1)
    results = tree_leaves(function(x))
    scalars = [(r * r).sum() for r in results if isinstance(r, torch.Tensor) and r.requires_grad]
    if not scalars:
        return results, []
    wanted = [x, *WEIGHTS] if needs_gradient else WEIGHTS
    return results, torch.autograd.grad(sum(scalars), wanted, allow_unused=True, materialize_grads=True)


def same(a, b):
    if not isinstance(a, torch.Tensor):
        return a == b
    alike = a.shape == b.shape and a.stride() == b.stride() and a.requires_grad == b.requires_grad
    return alike and torch.allclose(a, b, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("needs_gradient", [False, True])
@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_transform_is_captured_whole(name, backend, needs_gradient):
    compiled = torch.compile(PROGRAMS[name], backend=backend, fullgraph=True)
    expected, expected_gradients = run(PROGRAMS[name], needs_gradient)
    for _ in range(2):
        found, gradients = run(compiled, needs_gradient)
        assert all(map(same, expected, found))
        assert all(torch.allclose(a, b, atol=1e-4, rtol=1e-4) for a, b in zip(expected_gradients, gradients))
    assert not stacks.transforms and not contexts


@pytest.mark.parametrize("name", ["per sample gradients", "jacobians", "size of gradients"])
@pytest.mark.heavy
def test_it_becomes_kernels(name):
    compiled = torch.compile(PROGRAMS[name], fullgraph=True)
    for a, b in zip(run(PROGRAMS[name], True), run(compiled, True)):
        assert all(torch.allclose(x, y, atol=1e-4, rtol=1e-4) for x, y in zip(a, b))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_seven_ways_to_a_hessian_inside(name, way):
    transformed = WAYS[way](FUNCTIONS[name])
    compiled = torch.compile(lambda x: transformed(x), backend="aot_eager", fullgraph=True)
    assert torch.allclose(compiled(MATRIX), transformed(MATRIX))


@pytest.mark.parametrize("seed", range(10))
def test_random_compositions(seed):
    assert difference(seed, "aot_eager") is None


@pytest.mark.parametrize("name", ["one vmap", "one grad", "jacobians", "per sample gradients", "pulled back later"])
def test_unknown_sizes(name):
    compiled = torch.compile(PROGRAMS[name], backend="aot_eager", dynamic=True)
    expected, found = PROGRAMS[name](X), compiled(X)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(tree_leaves(expected), tree_leaves(found)))


def test_one_graph_for_any_batch_size():
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda xs: vmap(grad(f))(xs), backend=counter, dynamic=True)
    for size in (3, 5, 8):
        xs = torch.randn(size, 4)
        assert torch.allclose(compiled(xs), vmap(grad(f))(xs))
    assert counter.frame_count == 1


def graphs_of(function, *args):
    """What reaches a compiler, as text."""
    seen = []

    def look(module, inputs):
        seen.append(module.graph.compact())
        return module

    from minitorch_compile.aot import aot_function

    def backend(module, inputs):
        return aot_function(module, inputs, look)

    torch.compile(function, backend=backend, fullgraph=True)(*args)
    return seen


def test_only_operations_on_batches_reach_a_compiler():
    (graph,) = graphs_of(lambda xs: vmap(grad(lambda x: (x * x).sum()))(xs), torch.randn(3, 4))
    assert "vmap" not in graph and "example" not in graph and "watch" not in graph
    assert "mul(expand" in graph


def test_a_training_step_on_gradients_inside():
    """The gradient of a penalty on per-sample gradients, and the step that it makes."""

    def step(parameters, x, y):
        gradients = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
        return {name: p - 0.1 * gradients[name].mean(0) for name, p in parameters.items()}

    parameters = {name: p.detach() for name, p in NET.named_parameters()}
    plain = compiled = parameters
    y = torch.tensor([0, 2, 1])
    fast = torch.compile(step, backend="aot_eager", fullgraph=True)
    for _ in range(3):
        plain, compiled = step(plain, X, y), fast(compiled, X, y)
    assert all(torch.allclose(plain[name], compiled[name], atol=1e-6) for name in plain)


# --- breaks -----------------------------------------------------------------------------------------------------------


def broken(function, *args):
    """The reasons for the breaks; the result is compared with the plain one's."""
    plain, found = function(*args), torch.compile(function, backend="aot_eager")(*args)
    assert all(torch.allclose(a, b) for a, b in zip(tree_leaves(plain), tree_leaves(found)) if not is_example(a))
    assert not stacks.transforms and not contexts
    return " ".join(b.reason for b in torch.compiler.explain(function)(*args).break_reasons)


def is_example(x):
    return not isinstance(x, torch.Tensor) or type(x) is not torch.Tensor


def test_a_break_inside_breaks_before_the_transform():
    def program(x, transform):
        def inner(row):
            torch._dynamo.graph_break()
            return f(row)

        return transform(inner)(x * 2) + 1

    for transform in (vmap, grad, hessian, jacrev):
        assert "graph_break() was called" in broken(program, X, transform)


def test_printing_inside_happens_as_plainly(capsys):
    def program(x):
        def loud(row):
            print("once")
            return row.sin()

        return vmap(loud)(x)

    torch.compile(program, backend="aot_eager")(X)
    assert capsys.readouterr().out == "once\n"


def test_what_only_lives_inside_must_not_come_out():
    def keeps_an_example(x, box):
        return vmap(lambda row: box.update(row=row) or row.sum())(x)

    def keeps_what_was_watched(x, box):
        return grad(lambda a: box.update(a=a * 3) or a.sum())(x), box["a"]

    assert "only inside the transform" in broken(keeps_an_example, X, {})
    assert "which has ended" in broken(keeps_what_was_watched, X, {})


def test_a_pullback_that_is_left_for_later():
    def across_a_break(x):
        y, pull = vjp(torch.sin, x)
        torch._dynamo.graph_break()
        return pull(y)[0]

    def returned(x):
        return vjp(torch.sin, x)

    assert "which has ended" in broken(across_a_break, X)
    y, pull = torch.compile(returned, backend="aot_eager")(X)
    assert torch.allclose(pull(y)[0], torch.cos(X) * torch.sin(X))


def test_an_error_inside_is_the_programs_own():
    def handled(x):
        try:
            vmap(lambda row: {}[1])(x)
        except KeyError:
            pass
        return vmap(torch.sin)(x)

    assert torch.allclose(torch.compile(handled, backend="aot_eager", fullgraph=True)(X), X.sin())
    for wrong, error in (
        (lambda x: vmap(lambda row: 1 / 0)(x), ZeroDivisionError),
        (lambda x: vmap(torch.add)(x, x[:2]), ValueError),
        (lambda x: grad(torch.sin)(x), RuntimeError),
        (lambda x: vmap(lambda row: row if row.sum() > 0 else -row)(x), RuntimeError),
    ):
        with pytest.raises(error):
            torch.compile(wrong, backend="aot_eager")(X)
        assert not stacks.transforms and not contexts


def test_an_index_out_of_range_that_nobody_needs():
    def program(x, places):
        def inner(row):
            row[places]
            return row * 2

        return vmap(inner)(x)

    assert "drops it" in broken(program, X, torch.tensor([2]))
    with pytest.raises(IndexError):
        torch.compile(program, backend="aot_eager")(X, torch.tensor([7]))


class Cube(torch.autograd.Function):
    """Its backward is wrong on purpose, to tell it from the derivative of forward."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 300 * x**2


def test_a_custom_function_keeps_its_backward():
    def program(x):
        return grad(lambda a: Cube.apply(a).sum())(x)

    assert torch.allclose(torch.compile(program, backend="aot_eager", fullgraph=True)(X), 300 * X**2)
    assert "wanted both inside a transform and outside" in broken(program, X.clone().requires_grad_())


# --- around -----------------------------------------------------------------------------------------------------------


def test_a_transformed_function_can_be_compiled():
    for transformed in (vmap(grad(f)), jacrev(lambda x: x @ W), hessian(f)):
        assert torch.allclose(torch.compile(transformed, backend="aot_eager")(X), transformed(X), atol=1e-6)


def test_data_of_one_example_of_a_batch_is_refused_as_plainly():
    program = vmap(lambda x: x.data + x)
    for function in (program, torch.compile(program, backend="aot_eager")):
        with pytest.raises(RuntimeError, match=r"use x\.detach\(\)"):
            function(X)


def test_a_compiled_function_inside_a_transform_runs_as_the_plain_one():
    compiled = torch.compile(f, backend="aot_eager")
    assert torch.allclose(vmap(compiled)(X), vmap(f)(X))
    assert torch.allclose(grad(compiled)(X[0]), grad(f)(X[0]))
    assert torch.allclose(vmap(jacrev(compiled))(X), vmap(jacrev(f))(X))
    assert torch.allclose(hessian(compiled)(X[0]), hessian(f)(X[0]))
    assert torch.allclose(jvp(compiled, (X[0],), (X[1],))[1], jvp(f, (X[0],), (X[1],))[1])
    assert torch.allclose(compiled(X[0]), f(X[0]))  # and outside it is compiled as before


def test_the_tape_can_be_batched_by_hand():
    x = torch.randn(3, requires_grad=True)
    y = torch.tanh(x) * x.sum()
    rows = vmap(lambda g: torch.autograd.grad(y, x, g, retain_graph=True)[0])(torch.eye(3))
    assert torch.allclose(rows, jacrev(lambda x: torch.tanh(x) * x.sum())(x.detach()))


def test_an_error_inside_a_compiled_transform_ends_its_recording():
    def refused(x):
        return grad(lambda x: x.requires_grad_().sum())(x)

    with pytest.raises(RuntimeError, match=r"requires_grad_\(\) is called inside"):
        torch.compile(refused)(torch.ones(3))
    assert torch.ones(3).requires_grad_().requires_grad
