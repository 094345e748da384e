"""Attention by a kernel of ours, where cuDNN isn't: in the simulator, which checks each access, and counts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.flash_attention import AttentionKernel
from minitorch_compile.inductor.device_calls.launcher import HEADER
from minitorch_compile.nn.attention import SDPBackend, sdpa_kernel

attend = torch.nn.functional.scaled_dot_product_attention


@pytest.mark.parametrize("dim, warps, keys", [(16, 2, 32), (64, 1, 16), (128, 1, 32)])
def test_a_kernel_hits_no_bank_twice_and_keeps_the_logarithms(dim: int, warps: int, keys: int) -> None:
    kernel = AttentionKernel(dim, "float16", warps, keys)
    rows, places = 16 * warps + 2, keys + 5
    random = np.random.default_rng(dim)
    q, k, v = (random.standard_normal((n, dim)).astype(np.float16) for n in (rows, places, places))
    out, logs = np.full((rows, dim), np.nan, np.float16), np.full(rows, np.nan, np.float32)
    sizes = map(np.int64, (1, 1, 1, rows, places, 1, *(0, 0, dim) * 3))
    function = function_from_source(HEADER.format(threads=32 * warps) + kernel.text, kernel.name, {})
    arrays = [x.view(np.uint16).reshape(-1) for x in (q, k, v, out)]
    scale = np.float32(math.log2(math.e) / math.sqrt(dim))
    run = simulate(function, counts=True)[2, 32 * warps](*arrays, logs, *sizes, scale)
    scores = np.where(np.tri(rows, places, dtype=bool), q.astype(float) @ k.astype(float).T / math.sqrt(dim), -np.inf)
    expected = np.log(np.exp(scores).sum(1))
    np.testing.assert_allclose(logs, expected, atol=1e-5)
    np.testing.assert_allclose(out, np.exp(scores - expected[:, None]) @ v.astype(float), atol=3e-3)
    assert run.counts is not None and run.counts.total.bank_conflicts == 0


def heads_of_rows(rows: int, heads: int, width: int, element: Any) -> Any:
    """Rows of all heads side by side, as projections make them."""
    return torch.randn(2, rows, heads * width).to(element).view(2, rows, heads, width).transpose(1, 2)


CASES = {
    "causal": (lambda: [heads_of_rows(18, 2, 16, torch.float16) for _ in range(3)], {"is_causal": True}),
    "shared heads": (lambda: [torch.randn(1, h, 9, 32).bfloat16() for h in (4, 2, 2)], {"enable_gqa": True}),
    "more keys": (lambda: [torch.randn(1, 1, n, 16).half() for n in (3, 40, 40)], {"scale": 0.5}),
}


@pytest.mark.parametrize("name", CASES)
def test_attention_is_the_cpus(name: str, gpus: Runtime) -> None:
    make, how = CASES[name]
    tensors = make()
    found = attend(*(x.cuda() for x in tensors), **how)
    expected = attend(*(x.float() for x in tensors), **how)
    np.testing.assert_allclose(found.cpu().float().numpy(), expected.numpy(), atol=2e-2)
    assert any("flash_attention" in text for text in gpus.kernels.compiled) and not gpus.kernels.reasons


def scored(gpus: Runtime, q: Any, k: Any, v: Any, **how: Any) -> bool:
    """Whether attention was computed with a matrix of scores."""
    gpus.kernels = DeviceKernels(gpus)
    attend(q, k, v, **how)
    return not any("tensor_cores.exp2" in text for text in gpus.kernels.compiled)


def test_what_there_is_no_kernel_for_has_scores(gpus: Runtime) -> None:
    x = torch.randn(1, 2, 8, 16).half().cuda()
    assert not scored(gpus, x, x, x)
    y = x.detach().requires_grad_()
    assert scored(gpus, y, y, y)  # there is none backwards
    assert scored(gpus, x[..., :8], x[..., :8], x[..., :8])
    assert scored(gpus, x, x, x, attn_mask=torch.ones(8, 8, dtype=torch.bool, device="cuda"))
    with sdpa_kernel(SDPBackend.MATH):
        assert scored(gpus, x, x, x)
