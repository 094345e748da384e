"""nn.utils: clipping, and parameters as one vector."""

from __future__ import annotations

import math

import pytest

from minitorch_compile import nn, ones, tensor
from minitorch_compile.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters


def with_gradients():
    a, b, c = (nn.Parameter(ones(n)) for n in (1, 2, 1))
    (a * 2 + (b * tensor([3.0, 6.0])).sum()).sum().backward()
    return [a, b, c]


def test_clipping_the_norm():
    params = with_gradients()
    assert clip_grad_norm_(params, 3.5).item() == 7
    assert params[0].grad.tolist() == pytest.approx([1.0])
    assert params[1].grad.tolist() == pytest.approx([1.5, 3.0])


def test_a_small_norm_is_left_alone():
    params = with_gradients()
    clip_grad_norm_(params, 100.0)
    assert params[1].grad.tolist() == [3, 6]


@pytest.mark.parametrize(("order", "norm"), [(1.0, 11.0), (math.inf, 6.0), (3.0, (8 + 27 + 216) ** (1 / 3))])
def test_other_norms(order, norm):
    assert clip_grad_norm_(with_gradients(), 1.0, order).item() == pytest.approx(norm, rel=1e-6)


def test_no_gradients_at_all():
    assert clip_grad_norm_([nn.Parameter(ones(1))], 1.0).item() == 0


def test_a_norm_that_is_not_finite():
    w = nn.Parameter(ones(1))
    w.grad = tensor([math.inf])
    with pytest.raises(RuntimeError, match="non-finite"):
        clip_grad_norm_(w, 1.0, error_if_nonfinite=True)


def test_clipping_values():
    params = with_gradients()
    clip_grad_value_(params, 2.5)
    assert params[1].grad.tolist() == [2.5, 2.5]


def test_parameters_as_a_vector_and_back():
    one, two = nn.Linear(2, 3), nn.Linear(2, 3)
    vector = parameters_to_vector(one.parameters())
    assert vector.shape == (9,)
    vector_to_parameters(vector, two.parameters())
    assert (one.weight == two.weight).all()
    assert two.weight.is_leaf
    with pytest.raises(TypeError, match="expected torch.Tensor, but got: list"):
        vector_to_parameters([1.0], two.parameters())
