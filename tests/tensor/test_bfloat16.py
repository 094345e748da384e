"""bfloat16: values are those of float32, rounded once; finfo and iinfo."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn import functional as F

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3, 4)).astype(ml_dtypes.bfloat16).astype(np.float32)
W = RNG.normal(size=(4, 2)).astype(ml_dtypes.bfloat16).astype(np.float32)

PROGRAMS = {
    "add": lambda x, w: x + x[0],
    "exp": lambda x, w: x.exp(),
    "erf": lambda x, w: torch.erf(x),
    "gelu": lambda x, w: F.gelu(x),
    "matmul": lambda x, w: x @ w,
    "sum": lambda x, w: x.sum(1),
    "long sum": lambda x, w: torch.ones_like(x).expand(1000, 3, 4).sum(),
    "softmax": lambda x, w: x.softmax(1),
    "layer norm": lambda x, w: F.layer_norm(x, (4,)),
    "sort": lambda x, w: x.sort(1).values,
    "cat": lambda x, w: torch.cat([x, w.T]),
    "index": lambda x, w: x[[2, 0], 1:],
    "mask": lambda x, w: x[x > 0],
    "where": lambda x, w: torch.where(x > 0, x, -1.0),
    "convolution": lambda x, w: F.conv1d(x[None], x[:, :3, None].permute(0, 2, 1).expand(3, 3, 3)),
}


def wide(x):
    return x.detach().float().numpy()


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_float32_rounded_once(name):
    expected = PROGRAMS[name](torch.tensor(X), torch.tensor(W)).numpy()
    result = PROGRAMS[name](torch.tensor(X).bfloat16(), torch.tensor(W).bfloat16())
    assert result.dtype is torch.bfloat16
    np.testing.assert_allclose(wide(result), expected, rtol=2**-8, atol=2**-9)


def test_gradients_and_steps_stay_in_bfloat16():
    layer = nn.Linear(4, 2).to(torch.bfloat16)
    optimizer = torch.optim.AdamW(layer.parameters(), lr=0.1)
    before = wide(layer.weight)
    layer(torch.tensor(X).bfloat16()).pow(2).mean().backward()
    optimizer.step()
    assert layer.weight.dtype is layer.weight.grad.dtype is torch.bfloat16
    assert (wide(layer.weight) != before).all()


def test_compiled_code_runs_it_between_kernels():
    def f(x):
        return ((x.bfloat16() * 2).exp().float() + 1).sum()

    x = torch.tensor(X, requires_grad=True)
    compiled = torch.compile(f)(x)
    assert compiled.item() == pytest.approx(f(x).item(), rel=1e-6)
    (gradient,) = torch.autograd.grad(compiled, x)
    np.testing.assert_allclose(gradient.numpy(), 2 * np.exp(2 * X), rtol=2**-6)


@pytest.mark.parametrize(
    ("other", "result"),
    [
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
        (torch.int64, torch.bfloat16),
        (torch.bool, torch.bfloat16),
        (torch.complex64, torch.complex64),
    ],
    ids=str,
)
def test_promotion(other, result):
    assert torch.promote_types(torch.bfloat16, other) is result
    assert (torch.ones(2).bfloat16() + torch.ones(2, dtype=other)).dtype is result


def test_numbers_and_texts():
    x = torch.tensor([1.1, 2.0], dtype=torch.bfloat16)
    assert x.tolist() == [1.1015625, 2.0] and type(x[0].item()) is float
    assert repr(x) == "tensor([1.1016, 2.0000], dtype=torch.bfloat16)"
    with pytest.raises(TypeError, match="BFloat16"):
        x.numpy()


def test_writing_in_place_rounds():
    x = torch.zeros(3, dtype=torch.bfloat16)
    x[1:] = torch.tensor([1.1, 2.0])
    x.mul_(3)
    assert x.tolist() == [0.0, 3.3125, 6.0]


def test_random_numbers_stay_below_one():
    assert torch.rand(100_000, dtype=torch.bfloat16).max().item() < 1


def test_finfo():
    info = torch.finfo(torch.bfloat16)
    assert (info.bits, info.eps, info.dtype) == (16, 2**-7, "bfloat16") and info.max > 3e38
    assert torch.finfo(torch.complex64) == torch.finfo(torch.float32) == torch.finfo()
    assert torch.finfo(torch.float64).tiny == np.finfo(np.float64).tiny
    assert repr(torch.finfo(torch.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, tiny=6.10352e-05,"
        " dtype=float16)"
    )
    for wrong in (torch.int8, torch.bool, 3):
        with pytest.raises(TypeError):
            torch.finfo(wrong)


def test_iinfo():
    info = torch.iinfo(torch.int8)
    assert (info.min, info.max, info.bits, info.dtype) == (-128, 127, 8, "int8")
    assert repr(torch.iinfo(torch.uint8)) == "iinfo(min=0, max=255, dtype=uint8)"
    for wrong in (torch.float32, torch.bool):
        with pytest.raises(TypeError):
            torch.iinfo(wrong)
