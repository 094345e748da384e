"""autograd.functional: the expected numbers are derivatives worked out by hand, or by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import float64, ones, tensor
from minitorch_compile.autograd import functional

X = tensor([1.0, 2.0], dtype=float64)
Y = tensor([[0.5, -1.0], [2.0, 3.0]], dtype=float64)


def two_outputs(a, b):
    return a * b.sum(0), b @ a


def cubic(a, b):
    return (a * a * b).sum()


def test_the_jacobian_has_an_entry_for_each_output_and_input():
    (by_a, by_b), (second_by_a, second_by_b) = functional.jacobian(two_outputs, (X, Y))
    np.testing.assert_array_equal(by_a.numpy(), np.diag([2.5, 2.0]))
    expected = np.zeros((2, 2, 2))
    expected[0, :, 0], expected[1, :, 1] = 1.0, 2.0
    np.testing.assert_array_equal(by_b.numpy(), expected)
    np.testing.assert_array_equal(second_by_a.numpy(), Y.numpy())
    assert second_by_b.shape == (2, 2, 2)
    assert second_by_b[0].tolist() == [[1.0, 2.0], [0.0, 0.0]]


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 0)])
def test_jacobians_of_awkward_shapes(shape):
    x = ones(shape, dtype=float64)
    result = functional.jacobian(lambda x: x * 2, x)
    assert result.shape == (*shape, *shape)
    np.testing.assert_array_equal(result.numpy().reshape(x.numel(), x.numel()), 2 * np.eye(x.numel()))


def test_the_hessian_of_a_cubic():
    (aa, ab), (ba, bb) = functional.hessian(cubic, (X, Y))
    np.testing.assert_allclose(aa.numpy(), np.diag(2 * Y.numpy().sum(0)))
    np.testing.assert_allclose(ab.numpy(), np.einsum("i,ik->ik", 2 * X.numpy(), np.eye(2))[:, None, :].repeat(2, 1))
    np.testing.assert_allclose(ba.numpy(), np.transpose(ab.numpy(), (1, 2, 0)))
    assert not bb.numpy().any()


def test_products_are_those_of_the_whole_matrices():
    v, w = tensor([0.3, -2.0], dtype=float64), tensor([[1.0, 0.5], [0.0, 2.0]], dtype=float64)
    (out, _), (first, second) = functional.jvp(two_outputs, (X, Y), (v, w))
    jacobian = functional.jacobian(two_outputs, (X, Y))
    assert out.tolist() == (X * Y.sum(0)).tolist()
    for product, (by_a, by_b) in zip((first, second), jacobian, strict=True):
        expected = by_a.numpy() @ v.numpy() + by_b.numpy().reshape(2, 4) @ w.numpy().ravel()
        np.testing.assert_allclose(product.numpy(), expected)
    _, (by_a, _) = functional.vjp(two_outputs, (X, Y), (v, v))
    np.testing.assert_allclose(by_a.numpy(), v.numpy() @ jacobian[0][0].numpy() + v.numpy() @ jacobian[1][0].numpy())


@pytest.mark.parametrize("product", [functional.hvp, functional.vhp])
def test_hessian_vector_products(product):
    value, result = product(lambda x: (x**3).sum(), X, tensor([1.0, -1.0], dtype=float64))
    assert (value.item(), result.tolist()) == (9.0, [6.0, -12.0])
    assert product(lambda x: (2 * x).sum(), X, X)[1].tolist() == [0.0, 0.0]


def test_results_can_be_differentiated_on_request():
    x = X.clone().requires_grad_()
    functional.jacobian(lambda x: x**3, x, create_graph=True).sum().backward()
    assert x.grad.tolist() == [6.0, 12.0]
    assert not functional.jacobian(lambda x: x**3, x).requires_grad


def test_errors():
    with pytest.raises(RuntimeError, match="Output 0 .* does not require gradients"):
        functional.jacobian(lambda x: ones(2), X, strict=True)
    with pytest.raises(RuntimeError, match="v can only be None"):
        functional.vjp(lambda x: x, X)
    with pytest.raises(RuntimeError, match="invalid size: should be"):
        functional.vjp(lambda x: x, X, ones(3))
    with pytest.raises(RuntimeError, match="single element"):
        functional.hessian(lambda x: x, X)
    with pytest.raises(TypeError, match="must be Tensors"):
        functional.jacobian(lambda x: x, 3)
