"""grad, vjp, jvp, jacobians and hessians: against each other, finite differences, and themselves under vmap."""

import pytest

import minitorch_compile as torch
from minitorch_compile import vmap
from minitorch_compile.func import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from tests.func.hessians import FUNCTIONS, WAYS, X, by_finite_differences


@pytest.mark.parametrize("name", FUNCTIONS)
def test_seven_ways_to_a_hessian(name):
    f = FUNCTIONS[name]
    expected = by_finite_differences(f, X)
    for way, transform in WAYS.items():
        found = transform(f)(X)
        assert found.numel() == expected.numel(), way
        assert torch.allclose(found.reshape(expected.shape), expected, atol=1e-4, rtol=1e-5), way
        assert not found.requires_grad, way


@pytest.mark.parametrize("name", FUNCTIONS)
def test_under_vmap_each_example_has_its_own(name):
    f = FUNCTIONS[name]
    xs = torch.randn(2, 3, 4, dtype=torch.float64)
    for transform in (grad, jacrev, jacfwd, hessian):
        assert torch.allclose(vmap(transform(f))(xs), torch.stack([transform(f)(x) for x in xs])), transform.__name__


def test_nested_structures_of_jacobians():
    def f(pair, c):
        return {"p": pair["a"] * c, "q": pair["b"].sum()}

    args = {"a": torch.randn(2), "b": torch.randn(3)}, torch.tensor(2.0)
    for jacobian in (jacrev, jacfwd):
        found = jacobian(f, argnums=(0, 1))(*args)
        assert torch.equal(found["p"][0]["a"], torch.eye(2) * 2)
        assert torch.equal(found["p"][0]["b"], torch.zeros(2, 3))
        assert torch.equal(found["p"][1], args[0]["a"])
        assert torch.equal(found["q"][0]["b"], torch.ones(3))
        alone = jacobian(f, argnums=1)(*args)
        assert torch.equal(alone["p"], args[0]["a"])


@pytest.mark.parametrize("chunk_size", [1, 2, 5])
def test_jacobians_by_chunks(chunk_size):
    f = FUNCTIONS["matmul"]
    g = grad(f)
    assert torch.allclose(jacrev(g, chunk_size=chunk_size)(X), hessian(f)(X))
    assert torch.allclose(jacfwd(g, chunk_size=chunk_size)(X), hessian(f)(X))


def test_levels_of_differentiation_do_not_mix():
    two = torch.tensor(2.0)
    assert grad(lambda x: x * grad(lambda y: x + y)(torch.tensor(1.0)))(two) == 1
    assert grad(lambda x: x * grad(lambda y: x * y)(torch.tensor(1.0)))(two) == 4
    assert grad(lambda x: jvp(lambda y: x * y, (two,), (x,))[1])(two) == 4
    third = grad(grad(grad(lambda x: x**4)))
    assert third(two) == 48


def test_it_goes_together_with_the_tape():
    x = torch.tensor(2.0, requires_grad=True)
    y = grad(lambda a: a**3)(x)
    y.backward()
    assert x.grad == 12
    w = torch.tensor(3.0, requires_grad=True)
    inside = grad(lambda a: w * a**2)(torch.tensor(1.0))
    assert torch.autograd.grad(inside, w)[0] == 2
    assert not grad(lambda a: a**2)(torch.tensor(1.0)).requires_grad
    with torch.no_grad():
        assert grad(lambda a: a**2)(torch.tensor(3.0)) == 6


def test_values_and_more_results():
    f = lambda x: ((x**2).sum(), {"x": x * 2})
    x = torch.tensor([1.0, 2.0])
    gradient, (value, aux) = grad_and_value(f, has_aux=True)(x)
    assert torch.equal(gradient, 2 * x) and value == 5 and torch.equal(aux["x"], 2 * x)
    assert not value.requires_grad and not aux["x"].requires_grad
    assert torch.equal(grad(f, has_aux=True)(x)[1]["x"], 2 * x)
    output, pull, aux = vjp(f, x, has_aux=True)
    assert torch.equal(pull(torch.tensor(2.0))[0], 4 * x) and output == 5
    assert jvp(f, (x,), (x,), has_aux=True)[1] == 10
    assert torch.equal(jacrev(f, has_aux=True)(x)[0], 2 * x)
    assert torch.equal(jacfwd(f, has_aux=True)(x)[0], 2 * x)


def test_several_arguments_and_keywords():
    f = lambda a, b, scale=1.0: (a * b * scale).sum()
    a, b = torch.randn(3), torch.randn(3)
    by_a, by_b = grad(f, argnums=(0, 1))(a, b, scale=2.0)
    assert torch.equal(by_a, b * 2) and torch.equal(by_b, a * 2)
    assert torch.equal(grad(f, argnums=-1)(a, b), a)
    tree = grad(lambda p: (p["w"] * 2 + p["list"][0]).sum())({"w": a, "list": [b]})
    assert torch.equal(tree["w"], torch.full((3,), 2.0)) and torch.equal(tree["list"][0], torch.ones(3))


def test_a_pullback_can_be_used_again_and_batched():
    output, pull = vjp(torch.sin, X)
    assert torch.equal(pull(output)[0], pull(output)[0])
    many = vmap(pull)(torch.stack([output, output * 2]))[0]
    assert torch.allclose(many[1], pull(output)[0] * 2)
    value, push = linearize(torch.sin, X)
    assert torch.allclose(vmap(push)(torch.stack([X, X * 3]))[1], torch.cos(X) * X * 3)
    assert torch.equal(value, torch.sin(X))


def test_whole_numbers_among_the_outputs_do_not_move():
    moved = jvp(lambda x: (x.sin(), x.argmax()), (X,), (X,))[1]
    assert torch.allclose(moved[0], X.cos() * X) and moved[1].dtype is torch.int64 and moved[1] == 0


def test_each_result_keeps_only_the_history_that_somebody_follows():
    w = torch.ones(3, requires_grad=True)
    _, (value, aux) = grad_and_value(lambda a: ((w * a).sum(), a * 2), has_aux=True)(torch.ones(3))
    assert value.requires_grad and not aux.requires_grad


def test_under_no_grad_nothing_is_recorded_outside():
    x = torch.tensor(2.0, requires_grad=True)
    with torch.no_grad():
        assert not grad(lambda a: a**3)(x).requires_grad
    outer = grad(lambda a: a * torch.no_grad()(lambda: grad(lambda b: b**3)(a))())
    assert outer(torch.tensor(2.0)) == 12  # the inner gradient counts as a constant


def test_what_does_not_depend_has_zeros():
    zeros = torch.zeros(3)
    assert torch.equal(grad(lambda x: torch.ones(()))(torch.ones(3)), zeros)
    assert torch.equal(jvp(lambda x: torch.ones(3), (torch.ones(2),), (torch.ones(2),))[1], zeros)
    assert torch.equal(jacfwd(lambda x: torch.ones(3))(torch.ones(2)), torch.zeros(3, 2))
    assert torch.equal(vmap(grad(lambda x: torch.ones(())))(torch.ones(2, 3)), torch.zeros(2, 3))


def test_in_place_operations_inside():
    def f(x):
        y = x.clone()
        y.mul_(x)
        y[0] = y[1] * 2
        return y.sum()

    x = torch.tensor([1.0, 2.0, 3.0])
    assert torch.equal(grad(f)(x), torch.tensor([0.0, 12.0, 6.0]))
    assert torch.equal(vmap(grad(f))(torch.stack([x, x])), torch.tensor([[0.0, 12.0, 6.0]] * 2))


@pytest.mark.parametrize(
    "action, message",
    [
        (lambda: grad(lambda x: x)(torch.ones(3)), "must return one number"),
        (lambda: grad(lambda x: 3.0)(torch.ones(3)), "must return a tensor, but returned float"),
        (lambda: grad(torch.sum)(torch.ones(3, dtype=torch.int64)), "only floating point"),
        (lambda: grad(torch.sum, argnums=1)(torch.ones(3)), "is called with 1 arguments"),
        (lambda: grad(torch.add, argnums=(0, 0))(torch.ones(()), torch.ones(())), "each argument once"),
        (lambda: grad(torch.sum, argnums="x")(torch.ones(3)), "an int or a tuple of ints"),
        (lambda: grad(lambda x: x.sum(), has_aux=True)(torch.ones(3)), "must return a pair"),
        (lambda: vjp(torch.sin, torch.ones(3))[1](torch.ones(2)), r"shape \(2,\), its output \(3,\)"),
        (lambda: vjp(torch.sin, torch.ones(3))[1]((torch.ones(3),)), "nested like the output"),
        (lambda: grad(lambda x: (x * 1j).sum())(torch.ones(3)), "returned a complex one"),
        (lambda: jacrev(torch.exp)(torch.ones(3) * 1j), "jacrev: the arguments must be real"),
        (lambda: jacfwd(torch.exp)(torch.ones(3) * 1j), "jacfwd: the arguments must be real"),
        (lambda: jacrev(lambda x: x * 1j)(torch.ones(3)), "jacrev: the results must be real"),
        (lambda: jacfwd(lambda x: x * 1j)(torch.ones(3)), "jacfwd: the results must be real"),
        (lambda: vjp(lambda x: (), torch.ones(3)), "its output is empty"),
        (lambda: vjp(torch.argmax, torch.ones(3)), "must be floating point or complex"),
        (lambda: jvp(lambda x: X, (X,), (X,), strict=True), "does not depend on the primals"),
        (lambda: linearize(torch.sin, X)[1](X.float()), "a tangent is torch.float32, its primal torch.float64"),
        (lambda: jvp(torch.sin, torch.ones(3), torch.ones(3)), "must be tuples"),
        (lambda: jvp(torch.sin, (torch.ones(3),), (torch.ones(2),)), r"shape \(2,\), its primal \(3,\)"),
        (lambda: jvp(torch.sin, (torch.ones(3),), ()), "nested like the primals"),
        (
            lambda: grad(lambda x: x.retain_grad() or x.sum())(torch.ones(3)),
            r"retain_grad\(\) is called inside",
        ),
        (
            lambda: grad(lambda x: x.sum().backward() or x.sum())(torch.ones(3)),
            r"backward\(\) is called inside of a func",
        ),
        (lambda: vjp(lambda x: x.requires_grad_(), torch.ones(3)), r"requires_grad_\(\) is called inside of a func"),
        (lambda: jacfwd(lambda x: x * torch.rand(3))(torch.ones(3)), "draws random numbers, and randomness is 'error'"),
        (lambda: hessian(lambda x: torch.dropout(x * x, 0.5, True).sum())(torch.ones(3)), "draws random numbers"),
        (lambda: vmap(lambda x: x.retain_grad())(X.clone().requires_grad_()), "retain_grad: a tensor inside vmap"),
        (lambda: vmap(lambda x: torch.autograd.backward(x.sum()))(X.clone().requires_grad_()), "called inside vmap"),
        (lambda: vmap(lambda x: x.sum().backward())(X.clone().requires_grad_()), r"backward\(\) called inside vmap"),
    ],
)
def test_what_it_says_when_it_cannot(action, message):
    with pytest.raises(RuntimeError, match=message):
        action()


def test_primals_must_be_tensors_that_have_gradients():
    for action in (
        lambda: grad(lambda x: X.sum())(3.0),
        lambda: jvp(torch.sin, (torch.arange(3),), (torch.arange(3),)),
    ):
        with pytest.raises(ValueError, match="tensors"):
            action()


class Tripled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 3

    @staticmethod
    def backward(ctx, grad):
        return grad * 3


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_the_gradient_of_a_custom_function_is_not_lost_under_vmap(backend):
    x = torch.ones(2, 3)
    compiled = (lambda f: torch.compile(f, backend=backend)) if backend else (lambda f: f)
    assert torch.equal(compiled(vmap(Tripled.apply))(x), 3 * x)
    assert torch.equal(compiled(grad(lambda x: Tripled.apply(x).sum()))(x), 3 * x)
    for program in (vmap(grad(lambda x: Tripled.apply(x).sum())), grad(lambda x: vmap(Tripled.apply)(x).sum())):
        assert torch.equal(compiled(program)(x), torch.full((2, 3), 3.0))


@pytest.mark.parametrize("backend", [None, "aot_eager"])
def test_a_hook_on_one_example_of_a_batch_is_refused(backend):
    def hooked(x):
        y = x * 2
        y.register_hook(lambda grad: grad * 10)
        return y.sum()

    program = vmap(grad(hooked))
    with pytest.raises(RuntimeError, match="register_hook: a tensor inside vmap"):
        (torch.compile(program, backend=backend) if backend else program)(torch.ones(2, 3))


# --- in-place operations inside; the answers are PyTorch's ------------------------------------------------------------

ONES = torch.ones(3)
WRITES = {
    "add_": lambda c, x: c.add_(1),
    "item": lambda c, x: c.__setitem__(0, x[1]),
    "view": lambda c, x: c[1:].mul_(x[1:]),
    "detached": lambda c, x: c.detach().zero_(),
    "without_grad": lambda c, x: _without_grad(c),
    "layout": lambda c, x: c.unsqueeze_(0),
    "size": lambda c, x: c.resize_(2),
}
TRANSFORMS = {
    "grad": lambda f, x: grad(f)(x),
    "vjp": lambda f, x: vjp(f, x),
    "jvp": lambda f, x: jvp(f, (x,), (x,)),
    "hessian": lambda f, x: hessian(f)(x),
    "per_example": lambda f, x: vmap(grad(f))(x[None]),
}


@torch.no_grad()
def _without_grad(c):
    c.mul_(2)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("write", WRITES)
def test_a_captured_tensor_is_not_written_to(write, transform, compiled):
    captured = torch.ones(3)

    def f(x):
        WRITES[write](captured, x)
        return (x * x).sum()

    run = torch.compile(TRANSFORMS[transform], backend="eager") if compiled else TRANSFORMS[transform]
    with pytest.raises(RuntimeError, match=r"in-place operation \(aten::\w+_\) that would mutate a captured Tensor"):
        run(f, torch.arange(3.0))
    assert torch.equal(captured, torch.ones(3))


@pytest.mark.parametrize(
    "made",
    [
        lambda x: torch.zeros(3).add_(x),
        lambda x: torch.tensor([0.0, 0.0, 0.0]).add_(x),
        lambda x: (ONES + 1).copy_(x),
        lambda x: torch.eye(3).diagonal().mul_(x),
        lambda x: torch.nn.Parameter(torch.zeros(3)).detach().add_(x),
        lambda x: torch.zeros(2).resize_(3).zero_().add_(x),
    ],
)
def test_what_the_function_made_may_be_written_to(made):
    assert torch.equal(grad(lambda x: (made(x) * x).sum())(torch.arange(3.0)), 2 * torch.arange(3.0))


def test_what_an_outer_function_made_is_captured_by_the_inner_one():
    def outer(x):
        made = x * 2
        return grad(lambda z: (made.add_(1) * z).sum())(x).sum()

    with pytest.raises(RuntimeError, match="captured"):
        grad(outer)(ONES)


def test_another_argument_may_be_written_to_and_gets_no_history():
    other = torch.ones(3)
    assert torch.equal(grad(lambda x, c: (c.mul_(x) * x).sum())(torch.arange(3.0), other), 2 * torch.arange(3.0))
    assert torch.equal(other, torch.arange(3.0)) and not other.requires_grad


def test_batch_norm_counts_no_batches_inside_grad_but_its_function_moves_the_statistics():
    norm, x = torch.nn.BatchNorm1d(2), torch.arange(6.0).reshape(3, 2)
    with pytest.raises(RuntimeError, match="captured"):
        grad(lambda x: norm(x).sum())(x)
    assert norm.num_batches_tracked == 0 and torch.equal(norm.running_mean, torch.zeros(2))
    mean, variance = torch.zeros(2), torch.ones(2)
    grad(lambda x: torch.nn.functional.batch_norm(x, mean, variance, training=True).sum())(x)
    assert torch.allclose(mean, torch.tensor([0.2, 0.3]))


def test_out_is_written_to_inside_grad():
    out = torch.zeros(3)
    assert torch.equal(grad(lambda x: (torch.add(ONES, 1, out=out) * x).sum())(ONES), 2 * ONES)


@pytest.mark.parametrize("compiled", [False, True])
def test_jvp_lets_the_function_write_to_its_primal(compiled):
    def run(x):
        return jvp(lambda x: (x.add_(1) * x).sum(), (x,), (torch.ones(3),))

    x = torch.ones(3)
    value, tangent = (torch.compile(run) if compiled else run)(x)
    assert value == 12 and tangent == 12 and torch.equal(x, 2 * ONES)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        grad(lambda x: x.add_(1).sum())(x)


def test_the_gradient_of_each_argument_has_its_own_history():
    x = torch.ones(3, requires_grad=True)
    of_x, of_c = grad(lambda x, c: (x * c).sum(), argnums=(0, 1))(x, torch.ones(3))
    assert (of_x.requires_grad, of_c.requires_grad) == (False, True)


def test_what_a_transform_refuses_to_change_of_captured_tensors():
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match=r"mutating directly with `.data` inside functorch transform"):
        grad(lambda z: setattr(x, "data", x + 1) or z.sum())(ONES)
    with pytest.raises(RuntimeError, match="requires_grad_"):
        vmap(lambda z: x.requires_grad_() * z)(ONES)
