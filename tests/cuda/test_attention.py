"""Attention on a GPU by cuDNN, whose stand-in checks what it is told: no score matrix is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.backends import cudnn
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.fake_cudnn import FakeCudnn
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.nn.attention import SDPBackend, sdpa_kernel
from minitorch_compile.tensor import ops

attend, randn = torch.nn.functional.scaled_dot_product_attention, torch.randn


def use(gpus: Runtime, **how: Any) -> FakeCudnn:
    assert isinstance(gpus.driver, FakeDriver)
    gpus.kernels, library = DeviceKernels(gpus), FakeCudnn(gpus.driver, **how)
    gpus.kernels.libraries = Libraries(gpus, {"cudnn": library}.__getitem__)
    return library


def heads_of_rows(n: int, rows: int, heads: int, width: int) -> Any:
    """Rows of all heads side by side, as projections make them."""
    return randn(n, rows, heads * width).view(n, rows, heads, width).transpose(1, 2)


ATTENTIONS: dict[str, tuple[Callable[[], list[Any]], dict[str, Any]]] = {
    "whole": (lambda: [randn(2, 2, 3, 8), randn(2, 2, 5, 8), randn(2, 2, 5, 16)], {}),
    "causal": (lambda: [randn(1, 2, 4, 8)] * 3, {"is_causal": True}),
    "causal, fewer queries": (
        lambda: [randn(1, 1, 3, 8), randn(1, 1, 5, 8), randn(1, 1, 5, 8)],
        {"is_causal": True, "scale": 0.5},
    ),
    "heads of rows": (lambda: [heads_of_rows(2, 4, 2, 8) for _ in range(3)], {"is_causal": True}),
    "shared heads": (lambda: [randn(1, 4, 3, 8), randn(1, 2, 3, 8), randn(1, 2, 3, 8)], {"enable_gqa": True}),
    "one row": (lambda: [randn(1, 1, 1, 8)] * 3, {}),
}


def with_gradients(tensors: list[Any], how: dict[str, Any]) -> list[Any]:
    """The result, and the gradients of a sum in which each element of it counts differently."""
    leaves = [x.detach().requires_grad_() for x in tensors]
    out = attend(*leaves, **how)
    weights = torch.linspace(-1, 1, out.numel(), device=out.device).to(out.dtype).view(out.shape)
    return [out, *torch.autograd.grad((out * weights).sum(), leaves)]


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_and_its_gradients_are_the_cpus(name: str, gpus: Runtime) -> None:
    library = use(gpus)
    make, how = ATTENTIONS[name]
    element = torch.bfloat16 if name == "heads of rows" else torch.float16
    tensors = [x.to(element) for x in make()]
    exact = with_gradients([x.float() for x in tensors], how)
    for expected, found in zip(exact, with_gradients([x.cuda() for x in tensors], how), strict=True):
        assert found.is_cuda and found.dtype is element
        tolerance = 4e-2 if element is torch.bfloat16 else 5e-3
        assert np.allclose(found.detach().float().cpu().numpy(), expected.detach().numpy(), tolerance, tolerance)
    assert [call for call, _ in library.ran] == ["sdpa", "sdpa_backward"] and not gpus.kernels.reasons


def test_a_compiled_program_has_no_scores_either(gpus: Runtime) -> None:
    library = use(gpus)
    x, found = randn(2, 4, 3 * 16).half(), []

    def program(x: Any, mask: Any = None) -> Any:
        q, k, v = (rows.view(2, 4, 2, 8).transpose(1, 2) for rows in (x * 2).split(16, 2))
        return attend(q, k, v, mask, is_causal=mask is None).transpose(1, 2).reshape(2, 4, 16) * 3

    for leaf, run in ((x.float(), program), (x.cuda(), torch.compile(program))):
        leaf.requires_grad_()
        out = run(leaf)
        found.append((out, *torch.autograd.grad((out * out).sum(), leaf)))
    for expected, made in zip(*found, strict=True):
        assert torch.allclose(made.float().cpu(), expected, 1e-2, 1e-2 * expected.abs().max().item())
    assert [call for call, _ in library.ran] == ["sdpa", "sdpa_backward"] and not gpus.kernels.reasons
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    masked = torch.compile(program)(x.cuda(), mask.cuda())
    assert torch.allclose(masked.detach().float().cpu(), found[0][0], 1e-2, 1e-2) and len(library.ran) == 2


def test_the_result_lies_as_the_query_does(gpus: Runtime) -> None:
    use(gpus)
    x = heads_of_rows(2, 4, 2, 8).half().cuda()
    assert attend(x, x, x).transpose(1, 2).is_contiguous()


def scored(gpus: Runtime, q: Any, k: Any, v: Any, attn_mask: Any = None) -> bool:
    """Whether attention was computed otherwise, to the same numbers."""
    library = gpus.kernels.libraries.bindings("cudnn")
    library.ran.clear()
    out = attend(q, k, v, attn_mask)
    mask = None if attn_mask is None else attn_mask.cpu()
    here = [x.detach().float().cpu() for x in (q, k, v)]
    exact = attend(here[0], here[1], here[2], mask)
    assert np.allclose(out.detach().float().cpu().numpy(), exact.numpy(), 5e-3, 5e-3)
    return "sdpa" not in [call for call, _ in library.ran]


def test_what_cudnn_is_not_asked_for_has_scores(gpus: Runtime) -> None:
    use(gpus)
    x = randn(1, 2, 3, 8).half().cuda()
    switches = torch.backends.cuda
    asked = [
        switches.SDPAParams(x, x, x),
        switches.SDPAParams(x, x, x, dropout=0.1),
        switches.SDPAParams(x, x, x.cpu()),
    ]
    assert list(map(switches.can_use_cudnn_attention, asked)) == [True, False, False]
    assert not scored(gpus, x, x, x)
    assert scored(gpus, x, x, x, attn_mask=torch.ones(3, 3, dtype=torch.bool, device="cuda"))
    assert scored(gpus, x.float(), x.float(), x.float())
    assert scored(gpus, x[0], x[0], x[0])
    with sdpa_kernel(SDPBackend.MATH):
        assert scored(gpus, x, x, x)
    with cudnn.flags(enabled=False):
        assert scored(gpus, x, x, x)
    assert not scored(gpus, x, x, x)


def test_what_cudnn_refuses_has_scores(gpus: Runtime) -> None:
    library = use(gpus, refused=("sdpa_backward",))
    x = randn(1, 2, 3, 8).half().cuda()
    assert not scored(gpus, x, x, x)
    built = library.built
    y = x.detach().requires_grad_()
    assert scored(gpus, y, y, y) and scored(gpus, y, y, y)
    assert library.built == built  # what was refused isn't asked for again


@pytest.mark.parametrize("compiled", [False, True])
def test_what_cudnn_refuses_may_have_a_kernel_of_ours(compiled: bool, gpus: Runtime) -> None:
    """Forward by cuDNN, backward by ours: they share the logarithms."""
    library = use(gpus, refused=("sdpa_backward",))
    rows, found = randn(1, 4, 3 * 32).half(), []

    def program(x: Any) -> Any:
        q, k, v = (part.view(1, 4, 2, 16).transpose(1, 2) for part in (x * 2).split(32, 2))
        return attend(q, k, v, is_causal=True).transpose(1, 2).reshape(1, 4, 32)

    for leaf, run in ((rows.float(), program), (rows.cuda(), torch.compile(program) if compiled else program)):
        leaf.requires_grad_()
        out = run(leaf)
        found.append((out, *torch.autograd.grad((out * out).sum(), leaf)))
    for expected, made in zip(*found, strict=True):
        assert torch.allclose(made.float().cpu(), expected, 1e-2, 1e-2 * expected.abs().max().item())
    assert [call for call, _ in library.ran] == ["sdpa"]
    assert any("flash_attention_by_keys" in text for text in gpus.kernels.compiled)


def test_gradients_of_gradients_are_the_cpus(gpus: Runtime) -> None:
    use(gpus)
    x, found = randn(1, 2, 3, 8).half(), []
    for leaf in (x.float().requires_grad_(), x.cuda().requires_grad_()):
        out = attend(leaf, leaf, leaf, is_causal=True)
        (first,) = torch.autograd.grad((out * out).sum(), leaf, create_graph=True)
        (second,) = torch.autograd.grad((first * first).sum(), leaf)
        assert second.dtype is leaf.dtype
        found.append(second.float().cpu())
    assert torch.allclose(found[1], found[0], 3e-2, 3e-2 * found[0].abs().max().item()) and not gpus.kernels.reasons


def test_gradients_add_up_in_one_order_if_they_must(gpus: Runtime) -> None:
    library = use(gpus)
    torch.use_deterministic_algorithms(True)
    try:
        with_gradients([randn(1, 1, 2, 8).half().cuda()] * 3, {})
    finally:
        torch.use_deterministic_algorithms(False)
    assert library.ran[-1] == ("sdpa_backward", frozenset({"TENSOR_CORE"}))


def test_the_op_rounds_floats_of_two_bytes_once() -> None:
    tensors = [x.half() for x in ATTENTIONS["whole"][0]()]
    exact = [x.float() for x in tensors]
    how = None, True, 0.5, float("-inf"), False
    out, normalizers = ops.flash_attention(*tensors, *how)
    wide, expected = ops.flash_attention(*exact, *how)
    assert out.dtype is torch.float16 and torch.equal(out, wide.half()) and torch.equal(normalizers, expected)
    gradients = ops.flash_attention_backward(out, *tensors, out, normalizers, *how[:4])
    meant = ops.flash_attention_backward(out.float(), *exact, out.float(), normalizers, *how[:4])
    assert all(torch.equal(found, x.half()) for found, x in zip(gradients, meant, strict=True))


def test_also_the_first_operation_of_all_is_asked_whether_it_is_fused(gpus: Runtime, monkeypatch: Any) -> None:
    assert gpus.kernels is None
    asked: list[Any] = []

    def note(*arguments: Any) -> bool:
        asked.extend(arguments)
        return False

    monkeypatch.setattr(DeviceKernels, "attends", note)
    x = torch.ones(1, 1, 1, 8, dtype=torch.float16).cuda()
    attend(x, x, x)
    assert asked
