"""nn.utils: clipping, and parameters as one vector."""

from __future__ import annotations

import math

import numpy as np
import pytest

from minitorch_compile import compile, float32, float64, nn, ones, tensor, zeros
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


@pytest.mark.parametrize("dtypes", [(np.float32, np.float32), (np.float64, np.float64), (np.float32, np.float64)])
@pytest.mark.parametrize("gaps", [False, True])
def test_clipping_gradients_of_awkward_sizes(dtypes, gaps):
    rng = np.random.default_rng(0)
    sizes = [(), (0,), (1,), (70_001,), (7, 5), (6, 4)]
    arrays = [rng.normal(size=size).astype(dtypes[len(size) % 2]) for size in sizes]
    grads = [*map(tensor, arrays[:-1]), tensor(arrays[-1])[:, ::2] if gaps else tensor(arrays[-1]).t()]
    params = [nn.Parameter(zeros(g.shape, dtype=g.dtype)) for g in grads]
    for p, g in zip(params, grads, strict=True):
        p.grad = g
    exact, versions = [g.numpy().astype(np.float64) for g in grads], [p.grad._version for p in params]
    length = math.sqrt(sum((x**2).sum() for x in exact))
    total = clip_grad_norm_(params, 2.0)
    assert (total.shape, total.dtype) == ((), float64 if np.float64 in dtypes else float32)
    assert not total.requires_grad
    np.testing.assert_allclose(total.item(), length, rtol=1e-6)
    for p, x, version in zip(params, exact, versions, strict=True):
        np.testing.assert_allclose(p.grad.numpy(), x * 2 / length, rtol=2e-6)
        assert p.grad._version > version


@pytest.mark.parametrize(("value", "norm"), [(1e25, math.inf), (math.nan, math.nan), (-math.inf, math.inf)])
def test_norms_that_float32_does_not_hold(value, norm):
    w = nn.Parameter(zeros(3))
    w.grad = tensor([1.0, value, 0.0])
    np.testing.assert_equal(clip_grad_norm_(w, 1.0).item(), norm)


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


def test_sparse_gradients_are_clipped_by_operations():
    rows = nn.Embedding(5, 2, sparse=True)
    (rows(tensor([1, 3])) * tensor([3.0, 4.0])).sum().backward()
    assert clip_grad_norm_(rows.parameters(), 1.0).item() == pytest.approx(math.sqrt(50))
    np.testing.assert_allclose(
        rows.weight.grad.to_dense()[3].tolist(), [3 / math.sqrt(50), 4 / math.sqrt(50)], rtol=1e-5
    )


def test_a_compiled_program_clips_without_a_break():
    params = with_gradients()
    clip = compile(lambda: clip_grad_norm_(params, 3.5), fullgraph=True, backend="aot_eager")
    assert clip().item() == 7
    assert params[1].grad.tolist() == pytest.approx([1.5, 3.0])
