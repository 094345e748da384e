"""Compiled functions compute what the plain ones compute, forward and backward."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.aot import aot_function, interpret
from minitorch_compile.autograd import grad
from minitorch_compile.fx import GraphModule
from minitorch_compile.tensor import float32, float64, from_numpy, no_grad, ops, set_grad_enabled, tensor, zeros
from tests.aot.compare import BACKENDS, captured, check, compiled, sample


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


FUNCTIONS = {
    "pointwise": (lambda x, y: (x.sin() * y + x.exp(),), [(3, 4), (3, 4)]),
    "broadcast": (lambda x, y: (x * y, x + y), [(3, 1), (4,)]),
    "0-d": (lambda x, y: (x * y.sum(),), [(), (2,)]),
    "empty": (lambda x: (x.exp().sum(0), x * 2), [(0, 3)]),
    "several outputs": (lambda x: (x.sum(), x.mean(1), x.amax(0)), [(3, 4)]),
    "softmax": (lambda x: (x.softmax(-1), x.log_softmax(0)), [(3, 4)]),
    "matmul": (lambda x, y: (x @ y,), [(2, 3, 4), (4, 5)]),
    "linear": (lambda x, w, b: (F.linear(x, w, b).relu(),), [(5, 3), (4, 3), (4,)]),
    "views": (lambda x: ((x.t().reshape(2, 6)[:, ::2] * 3).unsqueeze(1),), [(4, 3)]),
    "expand": (lambda x: (x.expand(4, 3).sum(1), x[None] + 1), [(4, 1)]),
    "cat and split": (lambda x, y: (ops.cat([x, y * 2], 0).split(2)[1],), [(1, 3), (3, 3)]),
    "layer norm": (lambda x, w, b: (F.layer_norm(x, (4,), w, b),), [(3, 4), (4,), (4,)]),
    "gelu": (lambda x: (F.gelu(x), F.gelu(x, approximate="tanh")), [(7,)]),
    "conv and pool": (
        lambda x, w, b: (F.max_pool2d(F.conv2d(x, w, b, padding=1).relu(), 2),),
        [(2, 2, 6, 6), (3, 2, 3, 3), (3,)],
    ),
    "variance": (lambda x: (x.var(1), x.std()), [(3, 4)]),
    "where": (lambda x, y: (ops.where(x > y, x, y * 2),), [(3, 4), (4,)]),
    "power": (lambda x: (x**2 + x**3, (x * x + 1) ** 0.5, (x * x + 1) ** -1.5), [(5,)]),
    "attention": (
        lambda q, k, v: (F.scaled_dot_product_attention(q, k, v, is_causal=True),),
        [(2, 2, 4, 3), (2, 2, 4, 3), (2, 2, 4, 3)],
    ),
    "used twice": (lambda x: (x * x.detach() + x,), [(3,)]),
    "an unused argument": (lambda x, y: (x + 1,), [(3,), (2,)]),
    "an output used by another": (lambda x: (y := x.exp(), y * y), [(3,)]),
    "one value in two layouts": (lambda x: (y := x.exp(), y.t().contiguous()), [(3, 2)]),
    "a transposed result": (lambda x: ((x * 2).t(),), [(3, 2)]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name, backend):
    function, sizes = FUNCTIONS[name]
    check(function, lambda: [sample(*s, seed=i) for i, s in enumerate(sizes)], backend)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_that_need_no_gradient_get_none(name, backend):
    function, sizes = FUNCTIONS[name]
    check(function, lambda: [sample(*s, seed=i, requires_grad=i == 0) for i, s in enumerate(sizes)], backend)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_requires_grad(name, backend):
    function, sizes = FUNCTIONS[name]
    check(function, lambda: [sample(*s, seed=i, requires_grad=False) for i, s in enumerate(sizes)], backend)


@pytest.mark.parametrize("name", ["pointwise", "matmul", "softmax", "layer norm", "views"])
def test_arguments_in_other_layouts(name, backend):
    function, sizes = FUNCTIONS[name]

    def transposed():
        wide = [sample(*s[::-1], seed=i).detach() for i, s in enumerate(sizes)]
        return [x.permute(tuple(range(x.ndim))[::-1]).requires_grad_() for x in wide]

    check(function, transposed, backend)


def test_integer_arguments(backend):
    def function(weight, index):
        return F.embedding(index, weight), weight[index % 2].sum(), index * 2

    check(function, lambda: [sample(5, 3), from_numpy(np.array([[0, 4, 4], [1, 2, 0]]))], backend)


def test_cross_entropy(backend):
    def function(logits, target):
        return F.cross_entropy(logits, target), F.cross_entropy(logits, target, label_smoothing=0.1)

    check(function, lambda: [sample(4, 5), tensor([0, 4, 2, 2])], backend)


def test_mixed_dtypes(backend):
    def function(x, y):
        return x * y, x.to(float32) + 1, (y > 0).to(float64) * x

    check(function, lambda: [sample(3), sample(3, seed=1, dtype=np.float32)], backend, rtol=1e-6)


def test_a_single_output_that_is_not_in_a_tuple(backend):
    x = sample(3)
    assert compiled(lambda x: x * 2, backend)(x).shape == (3,)


def test_outputs_in_a_dictionary(backend):
    x = sample(3)
    out = compiled(lambda x: {"double": x * 2, "count": 3, "nothing": None}, backend)(x)
    assert out["count"] == 3 and out["nothing"] is None
    assert (out["double"] == x * 2).all()


def test_a_tensor_made_inside(backend):
    check(lambda x: (x + tensor([1.0, 2.0, 3.0], dtype=float64), zeros(2)), lambda: [sample(3)], backend)


def test_a_constant_that_is_returned_is_a_new_tensor_each_time(backend):
    function = compiled(lambda x: (x + 1, tensor([1.0])), backend)
    first, second = function(sample(2))[1], function(sample(2))[1]
    first.add_(5)
    assert second.item() == 1.0
    assert function(sample(2))[1].item() == 1.0


@pytest.mark.parametrize(
    "view",
    [lambda x: x, lambda x: x.t(), lambda x: x.reshape(2, 2), lambda x: x.clone().view(4, 1).squeeze(1)],
    ids=["itself", "another view", "the same view", "of a copy"],
)
def test_a_program_that_only_makes_a_constant_makes_it_anew_each_time(view, backend):
    program = lambda: (view(tensor([[1.0, 2.0], [3.0, 4.0]])),)
    function = compiled(program, backend)
    function()[0].mul_(10)
    assert function()[0].tolist() == program()[0].tolist()


def test_no_grad_inside_stops_gradients(backend):
    def function(x):
        y = x * 2
        with no_grad():
            z = y * 3
        return y + z, z

    check(function, lambda: [sample(3)], backend)


def test_a_grad_mode_switched_inside_does_not_leak(backend):
    def function(x):
        y = x * 2
        set_grad_enabled(False)
        z = y * 3
        set_grad_enabled(True)
        return y * z

    check(function, lambda: [sample(3)], backend)


def broken_within_no_grad(x):
    y = x * 2
    with no_grad():
        torch._dynamo.graph_break()
        z = y * 3
    return y * z


def written_after_a_break_within_no_grad(x):
    y = x * 2
    with no_grad():
        torch._dynamo.graph_break()
    y.mul_(x)
    return y


@pytest.mark.parametrize("function", [broken_within_no_grad, written_after_a_break_within_no_grad])
@pytest.mark.parametrize("name", ["eager", "aot_eager", "aot_eager_decomp_partition", "inductor"])
def test_a_graph_that_begins_within_no_grad_and_leaves_it_is_differentiated(function, name):
    expected, x = sample(3), sample(3)
    function(expected).sum().backward()
    torch.compile(function, backend=name)(x).sum().backward()
    np.testing.assert_allclose(x.grad.array, expected.grad.array)


def test_compiled_under_no_grad(backend):
    with no_grad():
        x = sample(3)
        (y,) = compiled(lambda x: (x * 2,), backend)(x)
    assert not y.requires_grad


def test_called_under_no_grad_after_compilation_with_grad(backend):
    function = compiled(lambda x: (x * 2,), backend)
    x = sample(3)
    assert function(x)[0].requires_grad
    with no_grad():
        assert not function(x)[0].requires_grad


def test_only_some_outputs_get_a_gradient(backend):
    def partly(function):
        x = sample(3)
        first, _ = function(x)
        first.sum().backward()
        return x.grad.array

    def function(x):
        return x.exp(), x.sin()

    np.testing.assert_allclose(partly(compiled(function, backend)), partly(function))


def test_retain_graph_allows_a_second_backward(backend):
    x = sample(3)
    (y,) = compiled(lambda x: (x.exp(),), backend)(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    np.testing.assert_allclose(x.grad.array, 2 * np.exp(x.detach().array))
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_double_backward(backend):
    x = sample(3)
    (y,) = compiled(lambda x: (x.exp() * x,), backend)(x)
    (first,) = grad(y.sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    values = x.detach().array
    np.testing.assert_allclose(second.array, (values + 2) * np.exp(values))


def test_a_saved_value_overwritten_before_backward_is_noticed(backend):
    x, w = sample(3), sample(3, seed=1)
    (y,) = compiled(lambda x, w: (x * w,), backend)(x, w)
    with no_grad():
        w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_the_plain_compiled_callable_is_returned_when_there_is_nothing_around_it():
    def compiler(graph_module, example_inputs):
        return graph_module

    function = aot_function(captured(lambda x: (x * 2,), 1), [sample(3, requires_grad=False)], compiler)
    assert isinstance(function, GraphModule)


def test_a_program_that_computes_nothing_is_not_compiled():
    def compiler(graph_module, example_inputs):
        raise AssertionError("nothing to compile")

    x = sample(3)
    function = aot_function(captured(lambda x: (x, x.view(3), 7), 1), [x], compiler)
    assert function(x)[0] is x and function(x)[2] == 7


def test_a_program_that_returns_nothing(backend):
    x = sample(3, requires_grad=False)
    assert compiled(lambda x: None, backend)(x) is None
    assert compiled(lambda x: (), backend)(x) == ()
    assert compiled(lambda x: (x.mul_(2), None)[1], backend)(x) is None
    np.testing.assert_allclose(x.array, 2 * sample(3, requires_grad=False).array)


def test_backward_is_compiled_on_first_use():
    compilations = []

    def bw_compiler(graph_module, example_inputs):
        compilations.append(graph_module)
        return interpret(graph_module, example_inputs)

    x = sample(3)
    function = aot_function(captured(lambda x: (x.exp(),), 1), [x], interpret, bw_compiler)
    (y,) = function(x)
    assert not compilations
    y.sum().backward()
    function(x)[0].sum().backward()
    assert len(compilations) == 1


def test_an_output_that_is_not_differentiated_sends_no_gradients_of_zeros():
    compiled = torch.compile(lambda x, w: (x.sum(), (w * 2).sum() + x.mean()), backend="aot_eager")
    x, w = torch.ones(3, requires_grad=True), torch.ones(2, requires_grad=True)
    first, second = compiled(x, w)
    first.backward(retain_graph=True)
    assert w.grad is None
    assert torch.equal(x.grad, torch.ones(3))
    second.backward()
    assert torch.equal(w.grad, torch.full((2,), 2.0))
    assert torch.allclose(x.grad, torch.full((3,), 4 / 3))
