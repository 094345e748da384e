"""nn.utils: clipping, and parameters as one vector."""

from __future__ import annotations

import math

import pytest

from minitorch_compile import nn, ones, tensor, zeros
from minitorch_compile.nn.utils import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters
from minitorch_compile.nn.utils.stateless import functional_call


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


class TestFunctionalCall:
    def test_other_tensors_for_one_call(self):
        layer, weight = nn.Linear(2, 1, bias=False), ones(1, 2, requires_grad=True)
        before = layer.weight
        functional_call(layer, {"weight": weight}, ones(1, 2)).sum().backward()
        assert weight.grad.tolist() == [[1, 1]] and layer.weight is before and before.grad is None

    def test_tied_weights_and_several_dicts(self):
        model = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
        model[1].weight = model[0].weight
        bias = {"0.bias": zeros(1), "1.bias": zeros(1)}
        assert functional_call(model, ({"0.weight": ones(1, 1) * 3}, bias), ones(1, 1)).item() == 9
        with pytest.raises(ValueError, match="which are tied"):
            functional_call(model, {"0.weight": ones(1, 1), "1.weight": zeros(1, 1)}, ones(1, 1))
        with pytest.raises(RuntimeError, match="Unexpected key.s.: 'z'"):
            functional_call(model, {"z": ones(1)}, ones(1, 1), strict=True)

    def test_new_buffers_come_back_in_the_dict(self):
        norm = nn.BatchNorm1d(1)
        state = {name: b.clone() for name, b in norm.named_buffers()}
        functional_call(norm, state, (tensor([[0.0], [2.0]]),))
        assert state["num_batches_tracked"] == 1 and norm.num_batches_tracked == 0
