"""Tensors on the meta device have no data, so however large they are, making them takes no memory and no time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
import minitorch_compile.nn as nn
import minitorch_compile.nn.functional as F

N = 10**6
REAL = torch.ones(1).expand(N, N)  # of these sizes, in four bytes


def meta() -> Any:
    return torch.empty(N, N, device="meta")


LARGE: dict[str, Callable[[], Any]] = {
    "rand": lambda: torch.rand(N, N, device="meta"),
    "randn": lambda: torch.randn(N, N, device="meta"),
    "complex randn": lambda: torch.randn(N, N, device="meta", dtype=torch.complex64),
    "half rand": lambda: torch.rand(N, N, device="meta", dtype=torch.float16),
    "randint": lambda: torch.randint(3, (N, N), device="meta"),
    "normal of numbers": lambda: torch.normal(0.0, 1.0, (N, N), device="meta"),
    "normal of tensors": lambda: torch.normal(meta(), 1.0),
    "eye": lambda: torch.eye(N, device="meta"),
    "empty_strided": lambda: torch.empty_strided((N, N), (1, N), device="meta"),
    "rand_like": lambda: torch.rand_like(REAL, device="meta"),
    "randn_like": lambda: torch.randn_like(REAL, device="meta"),
    "randint_like": lambda: torch.randint_like(REAL, 3, device="meta"),
    "rand_like of meta": lambda: torch.rand_like(meta()),
    "empty_like": lambda: torch.empty_like(REAL, device="meta"),
    "new_zeros": lambda: torch.ones(1).new_zeros((N, N), device="meta"),
    "to": lambda: REAL.to("meta"),
    "to a dtype, too": lambda: REAL.to("meta", torch.float64),
    "uniform_": lambda: meta().uniform_(),
    "dropout": lambda: F.dropout(meta()),
    "init.eye_": lambda: nn.init.eye_(meta()),
    "init.trunc_normal_": lambda: nn.init.trunc_normal_(meta()),
    "a layer": lambda: nn.Linear(N, N, device="meta").weight,
}


@pytest.mark.parametrize("made", LARGE.values(), ids=LARGE)
def test_what_is_large_and_has_no_data(made: Callable[[], Any]) -> None:
    x = made()
    assert (x.device.type, x.shape, x.data_ptr()) == ("meta", (N, N), 0)


VECTORS: dict[str, Callable[..., Any]] = {
    "randperm": torch.randperm,
    "hann_window": torch.hann_window,
    "blackman_window": torch.blackman_window,
    "bartlett_window": torch.bartlett_window,
    "kaiser_window": torch.kaiser_window,
}


@pytest.mark.parametrize("make", VECTORS.values(), ids=VECTORS)
def test_long_vectors(make: Callable[..., Any]) -> None:
    assert make(10**12, device="meta").shape == (10**12,)
    with torch.device("meta"):
        assert make(10**12).shape == (10**12,)


@pytest.mark.parametrize("offset", [-7, -2, 0, 1, 3, 9])
@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (4, 4), (0, 3), (3, 0)])
def test_indices_of_triangles_are_counted(sizes: tuple[int, int], offset: int) -> None:
    for indices in (torch.tril_indices, torch.triu_indices):
        assert indices(*sizes, offset, device="meta").shape == indices(*sizes, offset).shape
    assert torch.tril_indices(10**5, 10**5, device="meta").shape == (2, 5000050000)


def test_a_device_entered_holds_for_all_but_what_names_another() -> None:
    real = torch.ones(2)
    with torch.device("meta"):
        assert torch.rand(N, N).is_meta
        assert nn.Linear(N, N)(torch.rand(2, N)).shape == (2, N)
        for x in (torch.rand(2, device="cpu"), torch.rand_like(real), torch.randint_like(real, 3), real.new_zeros(2)):
            assert x.device.type == "cpu"
            assert len(x.tolist()) == 2


def test_nothing_is_drawn_from_the_generator() -> None:
    torch.manual_seed(0)
    torch.rand(2, device="meta"), torch.randperm(3, device="meta"), torch.rand_like(torch.ones(2), device="meta")
    drawn = torch.rand(1)
    torch.manual_seed(0)
    assert drawn.equal(torch.rand(1))


def test_the_strides_of_a_copy_on_meta_are_dense() -> None:
    assert torch.ones(4, 6)[::2, ::2].to("meta").stride() == (3, 1)
    assert torch.ones(2, 3).t().to("meta").stride() == (1, 3)
    assert torch.ones(1).expand(2, 3).to("meta").stride() == (3, 1)


def test_nothing_can_be_copied_out_of_it() -> None:
    with pytest.raises(NotImplementedError):
        torch.ones(3).copy_(torch.ones(3, device="meta"))
    assert torch.ones(3, device="meta").copy_(torch.ones(3)).is_meta
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        torch.ones(3).data = torch.ones(3, device="meta")


def test_a_module_moves_to_meta_and_back_empty() -> None:
    layer = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).to("meta")
    assert all(x.is_meta for x in layer.state_dict().values())
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in layer.parameters())
    layer.to_empty(device="cpu")
    assert layer(torch.ones(2, 3)).device.type == "cpu"
    assert layer[0].weight.is_leaf
    with pytest.raises(NotImplementedError):
        nn.Linear(3, 4, device="meta").to("cpu")
