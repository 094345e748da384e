"""The text of tensors, as PyTorch 2.13 prints them (recorded)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import minitorch_compile as torch

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    """Whatever a test sets is forgotten."""
    yield
    torch.set_printoptions(profile="default")


RECORDED = [
    (torch.tensor(3.0), "tensor(3.)"),
    (torch.tensor(1e-7), "tensor(1.0000e-07)"),
    (torch.tensor([1.5, NAN]), "tensor([1.5000,    nan])"),
    (torch.tensor([INF, 1.0]), "tensor([inf, 1.])"),
    (torch.tensor([1.0, INF, -INF, NAN]), "tensor([1., inf, -inf, nan])"),
    (torch.tensor([[1, 2], [30, 4]]), "tensor([[ 1,  2],\n        [30,  4]])"),
    (torch.tensor([1e-5, 1.0]), "tensor([1.0000e-05, 1.0000e+00])"),
    (torch.tensor([123456.0, 1.0]), "tensor([1.2346e+05, 1.0000e+00])"),
    (torch.tensor([0.0009, 1.0]), "tensor([9.0000e-04, 1.0000e+00])"),
    (torch.tensor([1e9]), "tensor([1.0000e+09])"),
    (torch.tensor([-0.0, 1.0]), "tensor([-0., 1.])"),
    (torch.tensor([True, False]), "tensor([ True, False])"),
    (torch.zeros(0), "tensor([])"),
    (torch.zeros(2, 0), "tensor([], size=(2, 0))"),
    (torch.tensor([1, 2], dtype=torch.int32), "tensor([1, 2], dtype=torch.int32)"),
    (torch.ones(2, requires_grad=True), "tensor([1., 1.], requires_grad=True)"),
    (torch.nn.Parameter(torch.ones(2)), "Parameter containing:\ntensor([1., 1.], requires_grad=True)"),
    (torch.ones(1, 1, 1, 1), "tensor([[[[1.]]]])"),
    (torch.arange(2000), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])"),
    (torch.empty(2, 3, device="meta"), "tensor(..., device='meta', size=(2, 3))"),
    (torch.tensor(2.0 + 1j), "tensor(2.+1.j)"),
    (torch.tensor([1.5 + 2j, -1e-5j]), "tensor([1.5000+2.0000e+00j, -0.0000-1.0000e-05j])"),
    (torch.ones(2, dtype=torch.complex128), "tensor([1.+0.j, 1.+0.j], dtype=torch.complex128)"),
]


@pytest.mark.parametrize(("value", "text"), RECORDED)
def test_text_is_pytorchs(value: torch.Tensor, text: str) -> None:
    assert repr(value) == text


SHORT = {"linewidth": 30, "edgeitems": 1, "threshold": 5}
WITH_OPTIONS: list[tuple[dict[str, Any], torch.Tensor, str]] = [
    ({"precision": 2}, torch.tensor([1 / 3, 2e5]), "tensor([3.33e-01, 2.00e+05])"),
    ({"precision": 2}, torch.linspace(0, 1, 3), "tensor([0.00, 0.50, 1.00])"),
    ({"sci_mode": True}, torch.tensor([1.0, 2.0]), "tensor([1.0000e+00, 2.0000e+00])"),
    ({"sci_mode": False}, torch.tensor([1e-8, 2.0]), "tensor([0.0000, 2.0000])"),
    ({"sci_mode": False}, torch.tensor([1e9, 1.0]), "tensor([1000000000.,          1.])"),
    ({"profile": "short"}, torch.tensor([1 / 3]), "tensor([0.33])"),
    ({"profile": "short"}, torch.arange(2000.0), "tensor([0.00e+00, 1.00e+00,  ..., 2.00e+03, 2.00e+03])"),
    (SHORT, torch.arange(12.0).view(3, 4), "tensor([[ 0.,  ...,  3.],\n        ...,\n        [ 8.,  ..., 11.]])"),
]


@pytest.mark.parametrize(("options", "value", "text"), WITH_OPTIONS)
def test_options_change_the_text_as_in_pytorch(options: dict[str, Any], value: torch.Tensor, text: str) -> None:
    torch.set_printoptions(**options)
    assert repr(value) == text


def test_the_full_profile_shows_everything() -> None:
    torch.set_printoptions(profile="full")
    assert "..." not in repr(torch.arange(2000))
    torch.set_printoptions(profile="default")
    assert "..." in repr(torch.arange(2000))


def test_printoptions_end_with_their_block() -> None:
    before = torch.get_printoptions()
    with torch.printoptions(precision=1):
        assert repr(torch.tensor([1 / 3])) == "tensor([0.3])"
    assert torch.get_printoptions() == before


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(ValueError, match="default, short, full"):
        torch.set_printoptions(profile="long")


def test_what_a_line_has_no_room_for_begins_a_new_one() -> None:
    """As PyTorch 2.13 prints them."""
    x = torch.arange(8.0, requires_grad=True)
    assert repr(x / 3) == (
        "tensor([0.0000, 0.3333, 0.6667, 1.0000, 1.3333, 1.6667, 2.0000, 2.3333],\n       grad_fn=<DivBackward0>)"
    )
    assert repr(x[:5] / 3) == "tensor([0.0000, 0.3333, 0.6667, 1.0000, 1.3333], grad_fn=<DivBackward0>)"
    assert repr(torch.empty(2, 3, device="meta", dtype=torch.float64, requires_grad=True)) == (
        "tensor(..., device='meta', size=(2, 3), dtype=torch.float64,\n       requires_grad=True)"
    )


def test_classes_are_shown_where_programs_find_them() -> None:
    shown = [repr(kind) for kind in (torch.Tensor, torch.Size, torch.dtype, torch.device, torch.memory_format)]
    places = ["Tensor", "Size", "dtype", "device", "memory_format"]
    assert shown == [f"<class 'minitorch_compile.{place}'>" for place in places]


@pytest.mark.parametrize(
    "values, per_line",
    [
        ([0.0], 24),
        ([float("nan")], 24),
        ([-float("inf")], 24),
        ([float("nan"), 0.0], 24),
        ([float("nan"), 1.0], 18),
        ([0j], 14),
    ],
)
def test_lines_are_filled_by_the_width_of_what_is_measured(values, per_line):
    """Zeros and what isn't finite count as one character, as in PyTorch 2.13, and make lines longer than 80."""
    first = repr(torch.tensor(values * 30)).splitlines()[0]
    assert len(first.removeprefix("tensor([").rstrip(",").split(", ")) == per_line
