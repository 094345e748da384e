"""Tensors made on a GPU: by kernels, in the numbers of the CPU."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.cuda.runtime import Runtime

EXACT: dict[str, Any] = {
    "zeros": lambda where: torch.zeros(2, 3, device=where),
    "full": lambda where: torch.full((2,), 0.3, device=where),
    "no elements": lambda where: torch.empty(2, 0, device=where),
    "whole numbers": lambda where: torch.arange(3, 20, 4, device=where),
    "steps": lambda where: torch.arange(0, 1, 0.3, device=where),
    "linspace": lambda where: torch.linspace(0, 1, 5, device=where),
    "eye": lambda where: torch.eye(2, 3, dtype=torch.bool, device=where),
    "like": lambda where: torch.ones_like(torch.empty(2, 3, device=where).t()),
    "uniform": lambda where: torch.rand(2, 40, device=where),
    "zeros of two bytes": lambda where: torch.zeros(3, 5, dtype=torch.bfloat16, device=where) + 1,
    "no zeros": lambda where: torch.zeros(3, 0, dtype=torch.bool, device=where),
    "minus zero": lambda where: 1 / torch.full((3,), -0.0, device=where),
    "float64": lambda where: torch.rand(5, dtype=torch.float64, device=where),
    "bfloat16": lambda where: torch.rand(5, dtype=torch.bfloat16, device=where),
    "integers": lambda where: torch.randint(-5, 10, (9,), device=where),
    "an order": lambda where: torch.randperm(40, device=where),
    "in place": lambda where: torch.empty(5, device=where).uniform_(-2, 1.5),
    "bernoulli": lambda where: torch.bernoulli(torch.full((9,), 0.3, device=where)),
    "dropout": lambda where: torch.nn.functional.dropout(torch.ones(9, device=where)),
    "multinomial": lambda where: torch.multinomial(torch.arange(1.0, 6, device=where), 3),
    "chosen again": lambda where: torch.multinomial(torch.arange(1.0, 6, device=where), 9, True),
}
NORMAL: dict[str, Any] = {
    "float32": lambda where: torch.randn(2, 20, device=where),
    "float64": lambda where: torch.randn(20, dtype=torch.float64, device=where),
    "float16": lambda where: torch.empty(20, dtype=torch.float16, device=where).normal_(1, 2),
}


def both(make: Any) -> tuple[Any, Any]:
    """What is made on the CPU, and on the GPU, after the same seed."""
    made = []
    for where in ("cpu", "cuda"):
        torch.manual_seed(7)
        made.append(make(where))
    return made[0], made[1]


@pytest.mark.parametrize("name", EXACT)
def test_the_same_numbers_to_the_bit(name: str, gpus: Runtime) -> None:
    here, there = both(EXACT[name])
    assert there.is_cuda and there.stride() == here.stride() and there.dtype is here.dtype
    assert torch.equal(here, there.cpu()) and not gpus.kernels.reasons  # type: ignore[union-attr]


@pytest.mark.parametrize("name", NORMAL)
def test_normal_numbers_are_the_same_but_for_rounding(name: str, gpus: Runtime) -> None:
    here, there = both(NORMAL[name])
    unit = torch.finfo(here.dtype).eps
    assert torch.allclose(here, there.cpu(), rtol=2 * unit, atol=2 * unit) and not gpus.kernels.reasons  # type: ignore[union-attr]


def test_nothing_is_copied_from_main_memory(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    monkeypatch.setattr(gpus.driver, "copy_host_to_device", lambda *arguments: copied.append(1), raising=False)
    torch.rand(3, device="cuda"), torch.zeros(3, device="cuda"), torch.arange(5, device="cuda:1")
    assert not copied


def test_drawing_again_traces_and_compiles_nothing(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    first = torch.rand(3, device="cuda")
    with monkeypatch.context() as patch:
        patch.setattr(gpus.kernels, "prepared", None)
        patch.setattr(gpus.kernels, "compile", None)
        second = torch.rand(3, device="cuda")
    assert not torch.equal(first, second)


def test_each_gpu_makes_its_own() -> None:
    assert [torch.zeros(2, device=f"cuda:{n}").device.index for n in (0, 1, 0)] == [0, 1, 0]


def test_pytorchs_stream_is_drawn_in_main_memory(gpus: Runtime) -> None:
    with (
        config.patch(random_stream="mt19937"),
        pytest.warns(UserWarning, match="on cuda is computed in main memory: PyTorch's stream"),
    ):
        here, there = both(lambda where: torch.rand(3, device=where))
    assert torch.equal(here, there.cpu())


def test_what_kernels_do_not_compute_in_is_drawn_in_main_memory() -> None:
    torch.manual_seed(2)
    here = torch.randint(0, 9, (4,), dtype=torch.uint16)
    torch.manual_seed(2)
    with pytest.warns(UserWarning, match="randint_random on cuda is computed in main memory: .* torch.uint16"):
        there = torch.randint(0, 9, (4,), dtype=torch.uint16, device="cuda")
    assert there.is_cuda and there.tolist() == here.tolist()
