"""Eager max pooling on kernels of the library: the very numbers of its formula, over awkward windows and values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile import config
from minitorch_compile.kernel_library import library, replaced
from minitorch_compile.kernel_library.planned_kernel import PlannedCall
from minitorch_compile.tensor import ops
from tests.kernel_library.used_library import used_library


@pytest.fixture
def kernels() -> Iterator[library.Library]:
    yield from used_library(["max_pool2d", "max_pool2d_backward"])


CALLS: dict[str, tuple[Any, tuple[int, ...], dict[str, Any]]] = {
    "2x2": (F.max_pool2d, (3, 5, 40, 37), {"kernel_size": 2}),
    "3x3, stride 2": (F.max_pool2d, (2, 3, 41, 35), {"kernel_size": 3, "stride": 2, "padding": 1}),
    "stride 3 and 1": (F.max_pool2d, (2, 3, 20, 21), {"kernel_size": (2, 4), "stride": (3, 1)}),
    "dilation": (F.max_pool2d, (2, 3, 20, 40), {"kernel_size": 3, "dilation": (2, 3)}),
    "the last windows reach beyond": (F.max_pool2d, (1, 2, 7, 8), {"kernel_size": 3, "stride": 2, "ceil_mode": True}),
    "without a batch": (F.max_pool2d, (3, 21, 20), {"kernel_size": 2}),
    "one place": (F.max_pool2d, (1, 1, 2, 2), {"kernel_size": 2}),
    "sequences": (F.max_pool1d, (3, 4, 50), {"kernel_size": 3, "stride": 2, "padding": 1}),
    "parts": (F.adaptive_max_pool2d, (2, 3, 12, 20), {"output_size": (3, 5)}),
}


def values_of(sizes: tuple[int, ...]) -> torch.Tensor:
    """Numbers with many ties, and windows that hold NaN or nothing but -inf."""
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, sizes).astype(np.float32)
    x[..., :3] = -np.inf
    x.reshape(-1)[::97] = np.nan
    return torch.tensor(x, requires_grad=True)


def pooled(call: Any, x: torch.Tensor, how: dict[str, Any]) -> list[Any]:
    out, places = call(x, **how, return_indices=True)
    (grad,) = torch.autograd.grad(out, x, torch.arange(float(out.numel())).reshape(out.shape))
    return [out.detach().numpy(), places.numpy(), grad.numpy()]


@pytest.mark.parametrize("order", ["rows", "turned over"])
@pytest.mark.parametrize("name", CALLS)
def test_max_pooling_and_its_gradient(
    kernels: library.Library, name: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, sizes, how = CALLS[name]
    x = values_of(sizes) if order == "rows" else values_of(sizes[::-1]).permute(*reversed(range(len(sizes))))
    with config.patch(eager_kernels="off"):
        meant = pooled(call, x, how)
    calls: list[Any] = []
    run = PlannedCall.__call__
    monkeypatch.setattr(PlannedCall, "__call__", lambda self, *arrays: calls.append(self) or run(self, *arrays))
    monkeypatch.setattr(replaced, "LEAST", 1)
    for found, wanted in zip(pooled(call, x, how), meant, strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert len(calls) == 2


def test_places_outside_of_a_plane_are_left_to_the_formula(
    kernels: library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaced, "LEAST", 1)
    grad, places = torch.ones(1, 2, 2, 2), torch.zeros(1, 2, 2, 2, dtype=torch.int64)
    places[0, 0, 0, 0] = -1
    with pytest.raises(ValueError):
        ops.max_pool_with_indices_backward(grad, places, (1, 2, 4, 4))


def test_a_kernel_that_another_thread_is_loading_is_there_for_this_one(
    kernels: library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    has = library.Library._has
    told: list[Any] = []

    def meanwhile(self: library.Library, name: str, functions: Any) -> bool:
        monkeypatch.setattr(library.Library, "_has", has)
        told.append(self.kernel(name))
        return has(self, name, functions)

    monkeypatch.setattr(library.Library, "_has", meanwhile)
    monkeypatch.setattr(kernels, "kernels", {})
    assert kernels.kernel("max_pool2d") is not None
    assert told != [None]
