"""Eager attention on kernels of the library: what its formula means in float64, however heads lie in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.kernel_library import library
from minitorch_compile.kernel_library.blas_routines import CALLING_BLAS
from minitorch_compile.kernel_library.planned_kernel import PlannedKernel
from minitorch_compile.tensor.dispatch.torch_dispatch import dispatching
from tests.kernel_library.used_library import results, used_library


def arrays_of(sizes: tuple[tuple[int, ...], ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(len(sizes))
    return [rng.normal(size=size).astype(np.float32) for size in sizes]


def heads(x: torch.Tensor) -> torch.Tensor:
    """(batch, length, heads, width) as attention takes it."""
    return x.transpose(1, 2)


attend = F.scaled_dot_product_attention
ATTENTIONS: dict[str, tuple[Any, tuple[tuple[int, ...], ...]]] = {
    "rows in order": (attend, ((2, 3, 80, 16), (2, 3, 130, 16), (2, 3, 130, 9))),
    "causal": (lambda q, k, v: attend(q, k, v, is_causal=True), ((1, 2, 150, 24),) * 3),
    "causal, few keys": (
        lambda q, k, v: attend(q, k, v, is_causal=True, scale=0.3),
        ((1, 2, 300, 8), (1, 2, 3, 8), (1, 2, 3, 8)),
    ),
    "heads side by side": (
        lambda q, k, v: attend(heads(q), heads(k), heads(v)).transpose(1, 2).cos(),
        ((2, 65, 4, 16),) * 3,
    ),
    "all in one tensor": (lambda x: attend(*(heads(part) for part in x.unbind(2))), ((2, 65, 3, 4, 16),)),
    "turned, every second, backwards": (
        lambda q, k, v: attend(q.mT, k.mT, v[..., ::2].flip(2)),
        ((2, 2, 20, 70), (2, 2, 20, 70), (2, 2, 70, 40)),
    ),
    "one head for all": (
        lambda q, k, v: attend(q, k.expand(2, 3, 33, 32), v, enable_gqa=True),
        ((2, 6, 33, 32), (2, 1, 33, 32), (2, 3, 33, 32)),
    ),
    "one query": (attend, ((8, 16, 1, 32), (8, 16, 5, 32), (8, 16, 5, 32))),
    "one number a head": (attend, ((2, 2, 1100, 1), (2, 2, 7, 1), (2, 2, 7, 1))),
}


@pytest.fixture
def attention() -> Iterator[library.Library]:
    yield from used_library(CALLING_BLAS)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention_runs_on_its_kernels(attention: library.Library, name: str, threads: int) -> None:
    call, sizes = ATTENTIONS[name]
    arrays, before = arrays_of(sizes), torch.get_num_threads()
    calls: list[Any] = []
    run = PlannedKernel.call
    torch.set_num_threads(threads)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(PlannedKernel, "call", lambda self, *given: calls.append(self) or run(self, *given))
            found = results(call, arrays, np.float32)
    finally:
        torch.set_num_threads(before)
    assert len(calls) == 2
    for value, exact in zip(found, results(call, arrays, np.float64), strict=True):
        np.testing.assert_allclose(value, exact, rtol=2e-5, atol=5e-6)


def test_a_class_that_is_asked_keeps_no_other_tensors_from_the_kernels(
    attention: library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, calls = [], []
    run = PlannedKernel.call
    monkeypatch.setattr(PlannedKernel, "call", lambda self, *given: calls.append(self) or run(self, *given))

    class Asked(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            asked.append(func)
            return func(*(x.as_subclass(torch.Tensor) if type(x) is cls else x for x in args), **(kwargs or {}))

    x = torch.randn(2, 3, 80, 16)
    attend(x, x, x)
    assert (len(calls), len(asked)) == (1, 0)
    attend(x.as_subclass(Asked), x, x)
    dispatching.remove(Asked)
    assert asked


def test_attention_is_differentiable_twice_and_may_be_transformed(attention: library.Library) -> None:
    q, k, v = (torch.tensor(x) for x in arrays_of(((1, 2, 130, 16),) * 3))
    loss = lambda q: attend(q, k, v).square().sum()
    second = torch.func.jvp(torch.func.grad(loss), (q,), (v,))[1]
    x = q.clone().requires_grad_()
    (first,) = torch.autograd.grad(loss(x), x, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad((first * v).sum(), x)[0], second, rtol=1e-3, atol=1e-4)
