"""Attention by a kernel of ours, where cuDNN isn't: in the simulator, which checks each access, and counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls import attention_rules
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.flash_attention import AttentionKernel
from minitorch_compile.inductor.device_calls.flash_attention_backward import GradientKernel
from minitorch_compile.inductor.device_calls.launcher import HEADER
from minitorch_compile.nn.attention import SDPBackend, sdpa_kernel

attend = torch.nn.functional.scaled_dot_product_attention


@pytest.mark.parametrize(
    "dim, warps, keys, grouped", [(16, 2, 32, 0), (64, 1, 16, 0), (128, 1, 32, 0), (128, 4, 32, 1)]
)
def test_a_kernel_hits_no_bank_twice_and_keeps_the_logarithms(dim: int, warps: int, keys: int, grouped: int) -> None:
    kernel = AttentionKernel(dim, "float16", warps, keys, grouped=bool(grouped))
    rows, places = 16 * warps + 2, keys + 5
    random = np.random.default_rng(dim)
    q, k, v = (random.standard_normal((n, dim)).astype(np.float16) for n in (rows, places, places))
    out, logs = np.full((rows, dim), np.nan, np.float16), np.full(rows, np.nan, np.float32)
    sizes = map(np.int64, (1, 1, 1, rows, places, 1, *(0, 0, dim) * 3))
    function = function_from_source(HEADER.format(threads=32 * warps) + kernel.text, kernel.name, {})
    arrays = [x.view(np.uint16).reshape(-1) for x in (q, k, v, out)]
    scale = np.float32(math.log2(math.e) / math.sqrt(dim))
    run = simulate(function, counts=True)[2, 32 * warps, 0, kernel.shared](*arrays, logs, *sizes, scale)
    scores = np.where(np.tri(rows, places, dtype=bool), q.astype(float) @ k.astype(float).T / math.sqrt(dim), -np.inf)
    expected = np.log(np.exp(scores).sum(1))
    np.testing.assert_allclose(logs, expected, atol=1e-5)
    np.testing.assert_allclose(out, np.exp(scores - expected[:, None]) @ v.astype(float), atol=3e-3)
    assert run.counts is not None and run.counts.total.bank_conflicts == 0


@pytest.mark.parametrize(
    "dim, warps, span, shared, grouped", [(16, 2, 32, 1, 0), (64, 1, 16, 2, 0), (128, 1, 16, 1, 0), (64, 4, 16, 2, 1)]
)
def test_the_kernels_of_gradients_hit_no_bank_twice_either(
    dim: int, warps: int, span: int, shared: int, grouped: int
) -> None:
    """Causal, with more keys than queries, some of which nobody sees; shared heads have sums over all."""
    rows, places = 16 * warps + 2, 32 * warps + 5
    random = np.random.default_rng(dim)
    q, grad = (random.standard_normal((shared, rows, dim)).astype(np.float16) for _ in range(2))
    k, v = (random.standard_normal((places, dim)).astype(np.float16) for _ in range(2))
    scale, (wide_q, wide_k, wide_v, wide_grad) = 1 / math.sqrt(dim), (x.astype(float) for x in (q, k, v, grad))
    scores = np.where(np.tri(rows, places, dtype=bool), wide_q @ wide_k.T * scale, -np.inf)
    logs = np.log(np.exp(scores).sum(-1, keepdims=True))
    weights = np.exp(scores - logs)
    out = (weights @ wide_v).astype(np.float16)
    by_scores = weights * (wide_grad @ wide_v.T - (wide_grad * out).sum(-1, keepdims=True)) * scale
    expected = (
        by_scores @ wide_k,
        (by_scores.swapaxes(1, 2) @ wide_q).sum(0),
        (weights.swapaxes(1, 2) @ wide_grad).sum(0),
    )

    found = [np.full(x.shape, np.nan, np.float16) for x in expected]
    between = logs.astype(np.float32).reshape(-1), np.full(shared * rows * 2, np.nan, np.float32)
    sizes = map(np.int64, (1, shared, 1, rows, places, 1, 0, rows * dim, dim, *(0, 0, dim) * 2))
    numbers = *sizes, np.float32(scale * math.log2(math.e)), np.float32(scale)
    bits = lambda *arrays: [x.view(np.uint16).reshape(-1) for x in arrays]
    for of_keys, pointers in (
        (False, [*bits(q, grad, k, v, out), *between, *bits(found[0])]),
        (True, [*bits(k, v, q, grad), between[1], *bits(*found[1:])]),
    ):
        kernel = GradientKernel(dim, "float16", warps, span, of_keys, grouped=bool(grouped))
        function = function_from_source(HEADER.format(threads=32 * warps) + kernel.text, kernel.name, {})
        run = simulate(function, counts=True)[2, 32 * warps](*pointers, *numbers)
        assert run.counts is not None and run.counts.total.bank_conflicts == 0
    for made, meant in zip(found, expected, strict=True):
        np.testing.assert_allclose(made, meant, atol=2e-3 * math.sqrt(shared))


def test_a_gpu_with_warpgroups_multiplies_by_them(gpus: Runtime, monkeypatch: Any) -> None:
    gpus.kernels = DeviceKernels(gpus)
    monkeypatch.setattr(gpus.kernels.launcher, "threads", 128, raising=False)
    monkeypatch.setattr(gpus.kernels.launcher, "has_warpgroups", True, raising=False)
    tensors, found = [torch.randn(1, 2, n, 80).half() for n in (70, 90, 90)], []
    for move in (lambda x: x.float(), lambda x: x.cuda()):
        leaves = [move(x).requires_grad_() for x in tensors]
        out = attend(*leaves, is_causal=True)
        found.append([out.detach(), *torch.autograd.grad(out.sum(), leaves)])
    for expected, made in zip(*found, strict=True):
        np.testing.assert_allclose(made.cpu().float().numpy(), expected.numpy(), atol=2e-2)
    assert sum("_columns_float16" in text for text in gpus.kernels.compiled) == 3


def heads_of_rows(rows: int, heads: int, width: int, element: Any) -> Any:
    """Rows of all heads side by side, as projections make them."""
    return torch.randn(2, rows, heads * width).to(element).view(2, rows, heads, width).transpose(1, 2)


CASES: dict[str, tuple[Callable[[], list[Any]], dict[str, Any]]] = {
    "causal": (lambda: [heads_of_rows(18, 2, 16, torch.float16) for _ in range(3)], {"is_causal": True}),
    "shared heads": (lambda: [torch.randn(1, h, 9, 32).bfloat16() for h in (4, 2, 2)], {"enable_gqa": True}),
    "of 48 numbers": (lambda: [torch.randn(1, 2, n, 48).half() for n in (9, 20, 20)], {}),
    "more keys": (lambda: [torch.randn(1, 1, n, 16).half() for n in (3, 40, 40)], {"scale": 0.5}),
}


@pytest.mark.parametrize("name", CASES)
def test_attention_and_its_gradients_are_the_cpus(name: str, gpus: Runtime) -> None:
    make, how = CASES[name]
    tensors, found = make(), []
    weights = torch.randn(tensors[0].shape)
    for move in (lambda x: x.float(), lambda x: x.cuda()):
        leaves = [move(x).detach().requires_grad_() for x in tensors]
        out = attend(*leaves, **how)
        found.append([out.detach(), *torch.autograd.grad((out * move(weights.to(out.dtype))).sum(), leaves)])
    for expected, made in zip(*found, strict=True):
        assert made.is_cuda and made.dtype is tensors[0].dtype
        np.testing.assert_allclose(made.cpu().float().numpy(), expected.numpy(), atol=2e-2)
    for kernel in ("flash_attention_", "by_queries", "by_keys"):
        assert any(kernel in text for text in gpus.kernels.compiled)
    assert not gpus.kernels.reasons


@pytest.mark.parametrize("sizes", [(18, 21), (2, 2, 1, 21)])
def test_a_mask_hides_scores_one_by_one(sizes: tuple[int, ...], gpus: Runtime, monkeypatch: Any) -> None:
    """A row that sees nothing is zeros, and leads nowhere; compiled, too."""
    monkeypatch.setattr(attention_rules, "MASKED", 0)
    tensors = [torch.randn(2, 2, n, 16).half() for n in (18, 21, 21)]
    mask, found = torch.rand(sizes) < 0.6, []
    if sizes[-2] > 1:
        mask[..., 1, :] = False
    weights = torch.randn(2, 2, 18, 16)
    on_cpu, on_gpu = (lambda x: x.float()), (lambda x: x.cuda())
    ways: list[tuple[Callable[..., Any], Callable[..., Any]]]
    ways = [(on_cpu, attend), (on_gpu, attend), (on_gpu, torch.compile(attend))]
    for move, run in ways:
        leaves = [move(x).detach().requires_grad_() for x in tensors]
        out = run(*leaves, mask.to(leaves[0].device))
        found.append([out.detach(), *torch.autograd.grad((out * move(weights.to(out.dtype))).sum(), leaves)])
    for expected, eager, compiled in zip(*found, strict=True):
        for made in (eager, compiled):
            np.testing.assert_allclose(made.cpu().float().numpy(), expected.numpy(), atol=1e-2)
    assert sum("_masked(" in text for text in gpus.kernels.compiled) == 3 and not gpus.kernels.reasons


def scored(gpus: Runtime, q: Any, k: Any, v: Any, **how: Any) -> bool:
    """Whether attention was computed with a matrix of scores."""
    gpus.kernels = DeviceKernels(gpus)
    attend(q, k, v, **how)
    return not any("tensor_cores.exp2" in text for text in gpus.kernels.compiled)


def test_what_there_is_no_kernel_for_has_scores(gpus: Runtime, monkeypatch: Any) -> None:
    x = torch.randn(1, 2, 8, 16).half().cuda()
    assert not scored(gpus, x, x, x)
    assert scored(gpus, x[..., :8], x[..., :8], x[..., :8])
    mask = torch.ones(8, 8, dtype=torch.bool, device="cuda")
    assert scored(gpus, x, x, x, attn_mask=mask)  # too few scores for a kernel of their own
    monkeypatch.setattr(attention_rules, "MASKED", 0)
    assert not scored(gpus, x, x, x, attn_mask=mask) and scored(gpus, x, x, x, attn_mask=mask.half())
    with sdpa_kernel(SDPBackend.MATH):
        assert scored(gpus, x, x, x)
