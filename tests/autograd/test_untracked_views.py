"""Views made under no_grad, and writes to them or to their base: what PyTorch 2.13 does, with its messages."""

from __future__ import annotations

import pytest

import minitorch_compile as torch

WRITTEN = "A view was created in no_grad mode and is being modified inplace with grad mode enabled"
USED = "A view was created in no_grad mode and its base or another view of its base has been modified inplace"


def base_and_view() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    base, weight = torch.ones(3), torch.ones(3, requires_grad=True)
    with torch.no_grad():
        view = base[1:]
    return base, view, weight


def test_it_can_not_be_written_to_if_that_is_recorded() -> None:
    base, view, weight = base_and_view()
    with pytest.raises(RuntimeError, match=WRITTEN):
        view.mul_(weight[1:])
    assert not base.requires_grad


def test_it_can_not_be_used_after_its_base_got_a_history() -> None:
    base, view, weight = base_and_view()
    base.mul_(weight)
    assert view.requires_grad
    for use in (lambda: view * 2, lambda: view.view(-1), lambda: view.sum()):
        with pytest.raises(RuntimeError, match=USED):
            use()


def test_nor_can_a_view_of_it() -> None:
    base, view, weight = base_and_view()
    view = view.view(-1)
    base.mul_(weight)
    with pytest.raises(RuntimeError, match=USED):
        view + 1


def test_without_recording_all_of_it_is_allowed() -> None:
    base, view, weight = base_and_view()
    view.mul_(2)
    base.mul_(weight)
    assert view.detach().tolist() == [2.0, 2.0]
    with torch.no_grad():
        view.mul_(2)
        assert (view * 1).tolist() == [4.0, 4.0]
    assert base.tolist() == [1.0, 4.0, 4.0]
