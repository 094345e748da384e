"""torch.testing.make_tensor."""

import pytest

import minitorch_compile as torch
from minitorch_compile.testing import make_tensor


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.uint8, torch.complex64])
def test_numbers_are_drawn_from_the_usual_interval(dtype):
    x = make_tensor((100,), dtype=dtype, device="cpu")
    assert (x.dtype, x.shape) == (dtype, (100,))
    values = (torch.view_as_real(x) if dtype.is_complex else x).double()
    assert -9 <= values.min() < values.max() <= 9
    assert dtype is not torch.uint8 or values.min() >= 0


def test_the_interval_may_be_given():
    x = make_tensor(50, 2, device="cpu", dtype=torch.int64, low=3, high=5)
    assert set(x.flatten().tolist()) == {3, 4}
    assert set(make_tensor(50, device="cpu", dtype=torch.bool).tolist()) == {True, False}
    assert not bool((make_tensor(50, device="cpu", dtype=torch.int64, low=0, high=2, exclude_zero=True) == 0).any())


def test_what_else_it_may_be():
    assert make_tensor(2, 3, device="cpu", dtype=torch.float32, noncontiguous=True).stride() == (6, 2)
    assert make_tensor(2, device="cpu", dtype=torch.float32, requires_grad=True).requires_grad
    with pytest.raises(ValueError, match="`low` must be less than or equal to `high`, but got 3 > 1"):
        make_tensor(2, device="cpu", dtype=torch.float32, low=3, high=1)
    with pytest.raises(ValueError, match="not supported for boolean and integral dtypes"):
        make_tensor(2, device="cpu", dtype=torch.int64, requires_grad=True)
