"""Devices: "cpu" has data, "meta" has none, others are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch


@pytest.mark.parametrize(
    "make",
    [
        lambda where: torch.zeros(2, device=where),
        lambda where: torch.ones(2, device=where),
        lambda where: torch.empty(2, device=where),
        lambda where: torch.tensor([1.0, 2.0], device=where),
        lambda where: torch.ones(2).to(where),
        lambda where: torch.ones(2).to(device=where),
    ],
)
def test_a_device_is_never_ignored(make: Callable[[Any], Any]) -> None:
    for where in ("cpu", "cpu:0", torch.device("cpu")):
        assert make(where).numpy().shape == (2,)
    assert make("meta").is_fake and make("meta").device.type == "meta"
    with pytest.raises(RuntimeError, match="no tensors on 'cuda' here; expected one of cpu, meta"):
        make("cuda")
    with pytest.raises(TypeError, match="expected a (string|dtype) such as"):
        make(3.5)


def test_data_that_is_not_there_cannot_be_moved() -> None:
    with pytest.raises(RuntimeError, match="has no data that could be moved to cpu"):
        torch.zeros(2, device="meta").to("cpu")


@pytest.mark.parametrize("compiled", [False, True])
def test_sizes_that_do_not_broadcast_are_pytorchs_error(compiled: bool) -> None:
    function = torch.compile(torch.add, backend="eager") if compiled else torch.add
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"):
        function(torch.ones(2), torch.ones(3))
    with pytest.raises(RuntimeError, match="must match"):
        torch.ones(2).add_(torch.ones(3))


def test_inside_a_device_new_tensors_are_made_there() -> None:
    x = torch.zeros(2)
    with torch.device("meta"):
        assert torch.zeros(2).is_meta and torch.tensor([1.0]).is_meta and torch.rand(2).is_meta
        assert torch.nn.Linear(2, 3).weight.is_meta
        assert not torch.zeros(2, device="cpu").is_meta
        assert not torch.zeros_like(x).is_meta and not (x + 1).is_meta
    assert not torch.zeros(2).is_meta
