"""float16 and bfloat16 on a GPU: kernels that convert as the CPU does, to the last bit, and compute in float32."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime

HALF = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)


@HALF
def test_every_number_of_two_bytes_becomes_the_float32_that_it_is(dtype: Any) -> None:
    x = torch.arange(-(2**15), 2**15).to(torch.int16).view(dtype)
    here, there = x.float(), x.cuda().float().cpu()
    assert torch.equal(here.isnan(), there.isnan())
    assert torch.equal(here.nan_to_num().view(torch.int32), there.nan_to_num().view(torch.int32))


@HALF
def test_rounding_is_the_cpus(dtype: Any) -> None:
    bits = torch.randint(-(2**31), 2**31, (4000,)).to(torch.int32).view(torch.float32)
    near = torch.arange(0, 2**15, 17).to(torch.int16).view(dtype).float()
    ties = (near + torch.cat([near[1:], near[-1:]])) / 2
    special = torch.tensor([0.0, -0.0, float("inf"), -float("inf"), float("nan"), 65519.0, 65520.0, 3.39e38, 1e-45])
    for x in (bits, ties, -ties, special):
        here, there = x.to(dtype), x.cuda().to(dtype).cpu()
        same = (here.view(torch.int16) == there.view(torch.int16)) | (here.isnan() & there.isnan())
        assert bool(same.all())


@HALF
def test_results_are_computed_in_float32_and_rounded_once(dtype: Any, gpus: Runtime) -> None:
    x = torch.randn(5, 7).to(dtype)
    for operation in (torch.softmax, torch.sum, torch.mean, torch.cumsum, torch.amax):
        there = operation(x.cuda(), 1)
        assert there.dtype is dtype and torch.equal(there.cpu(), operation(x.float(), 1).to(dtype))
    for operation in (
        torch.exp,
        torch.sigmoid,
        lambda x: x * x,
        lambda x: x + 0.1,
        lambda x: x > 0.5,
        lambda x: x.int(),
    ):
        assert torch.equal(operation(x.cuda()).cpu(), operation(x))
    assert torch.equal(x.cuda().add_(1).t().contiguous().cpu(), (x + 1).t().contiguous())
    assert not gpus.kernels.reasons  # type: ignore[union-attr]


def test_a_mean_half_way_between_two_numbers_becomes_the_even_one() -> None:
    odd = torch.arange(1, 72, 2).float()
    for count in (3, 5, 6, 7):
        rows = torch.full((len(odd), count), 2.0)
        rows[:, 0], rows[:, 1] = 3.25, 0.75 - odd * count / 2048  # the mean is 2 - odd / 2048
        assert torch.equal(rows.half().cuda().mean(1).cpu(), (2 - odd / 2048).half())


@HALF
def test_functions_are_as_near_as_their_rounding(dtype: Any) -> None:
    x = torch.cat([torch.linspace(-9, 9, 700), torch.logspace(-6, 0, 100), torch.tensor([0.0, float("inf")])]).to(dtype)
    unit = 2.0 ** (-8 if dtype is torch.bfloat16 else -11)
    for operation in (torch.erf, torch.tanh):
        wide, found = operation(x.double()), operation(x.cuda()).cpu().double()
        smallest = 2.0**-24 if dtype is torch.float16 else 0.0
        assert bool(((found - wide).abs() <= unit * wide.abs() + smallest).all())
    assert bool(torch.erf(torch.tensor(float("nan"), dtype=dtype).cuda()).isnan())


@HALF
def test_gradients_have_two_bytes(dtype: Any) -> None:
    gradients = []
    for where in ("cpu", "cuda"):
        x = torch.linspace(-2, 2, 12).to(where, dtype).requires_grad_()
        torch.nn.functional.gelu(x).float().square().mean().backward()
        gradients.append(x.grad.cpu())
    assert gradients[1].dtype is dtype and torch.allclose(gradients[0], gradients[1], rtol=0.02, atol=1e-3)


@pytest.mark.filterwarnings("ignore:complex on cuda is computed in main memory")
def test_complex_numbers_of_two_float16_are_whole() -> None:
    x = torch.tensor([1.5, -2.0], dtype=torch.float16)

    def program(x: Any) -> Any:
        return torch.complex(x, x + 1)

    for run in (program, torch.compile(program)):
        found = run(x.cuda())
        assert found.dtype is torch.complex32 and found.tolist() == [1.5 + 2.5j, -2 - 1j]
