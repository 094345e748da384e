"""The text of tensors, as PyTorch 2.13 prints them (recorded)."""

from __future__ import annotations

import pytest

import minitorch_compile as torch

NAN, INF = float("nan"), float("inf")

RECORDED = [
    (torch.tensor(3.0), "tensor(3.)"),
    (torch.tensor([1.5, NAN]), "tensor([1.5000,    nan])"),
    (torch.tensor([INF, 1.0]), "tensor([inf, 1.])"),
    (torch.tensor([[1, 2], [30, 4]]), "tensor([[ 1,  2],\n        [30,  4]])"),
    (torch.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (torch.tensor([123456.0, 1.0]), "tensor([1.2346e+05, 1.0000e+00])"),
    (torch.tensor([True, False]), "tensor([ True, False])"),
    (torch.zeros(0), "tensor([])"),
    (torch.zeros(2, 0), "tensor([], size=(2, 0))"),
    (torch.tensor([1, 2], dtype=torch.int32), "tensor([1, 2], dtype=torch.int32)"),
    (torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (torch.ones(1, 1, 1, 1), "tensor([[[[1.]]]])"),
    (torch.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
]


@pytest.mark.parametrize(("value", "text"), RECORDED)
def test_text_is_pytorchs(value: torch.Tensor, text: str) -> None:
    assert repr(value) == text
