"""`out=`: results are stored in tensors that are there already."""

from __future__ import annotations

import pytest

import minitorch_compile as torch


def test_the_result_is_stored_and_returned() -> None:
    out = torch.zeros(2)
    assert torch.add(torch.tensor([1.0, 2.0]), 1, out=out) is out
    assert out.tolist() == [2.0, 3.0] and out._version == 1


def test_a_view_is_written_through() -> None:
    base = torch.zeros(2, 3)
    torch.mul(torch.ones(3), 2, out=base[1])
    assert base.tolist() == [[0.0, 0.0, 0.0], [2.0, 2.0, 2.0]]


def test_an_empty_tensor_is_resized_in_silence_and_another_with_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    out = torch.empty(0)
    torch.exp(torch.zeros(2, 3), out=out)
    assert out.shape == (2, 3) and out.tolist() == [[1.0] * 3] * 2 and not recwarn.list
    with pytest.warns(UserWarning, match="was resized"):
        torch.exp(torch.zeros(2), out=out)
    assert out.shape == (2,) and out.is_contiguous()


def test_the_dtype_of_out_is_kept_if_it_can_hold_the_result() -> None:
    assert torch.add(torch.tensor([1]), 1, out=torch.zeros(1)).dtype is torch.float32
    with pytest.raises(RuntimeError, match="result type torch.float32 can't be cast to the desired output type"):
        torch.add(torch.ones(1), 1, out=torch.tensor([1]))


def test_composite_ops_and_ops_of_several_results_have_out_too() -> None:
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.int64)
    result = torch.max(torch.tensor([[1.0, 3.0], [5.0, 2.0]]), 1, out=(values, indices))
    assert result.values is values and values.tolist() == [3.0, 5.0] and indices.tolist() == [1, 0]
    with pytest.raises(TypeError, match="must be a tuple of 2 Tensors"):
        torch.max(torch.ones(2, 2), 1, out=values)


def test_gradients_do_not_flow_through_out() -> None:
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.mul(x, 2, out=torch.empty(2))
    with torch.no_grad():
        assert torch.mul(x, 2, out=torch.empty(2)).tolist() == [2.0, 2.0]


def test_out_none_is_no_out() -> None:
    assert torch.exp(torch.zeros(1), out=None).tolist() == [1.0]
