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


def test_a_view_of_a_leaf_is_a_leaf_of_its_own() -> None:
    """PyTorch: its requires_grad is that of the base, and it has no history."""
    for base in (torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True) * 1):
        with torch.no_grad():
            view = base[1:]
            first, _ = base.chunk(2)
            numbers = torch.arange(3)[1:]
        assert (view.requires_grad, view.is_leaf, view.grad_fn, first.requires_grad) == (True, True, None, True)
        assert view._base is base and not numbers.requires_grad and not view.detach().requires_grad
        (view * 2).sum().backward()
        assert view.grad.tolist() == [2.0, 2.0] and (base.grad is None if base.is_leaf else True)
        assert view[:1].requires_grad and not view[:1].is_leaf


def test_nor_may_it_be_used_after_a_write_that_was_not_recorded() -> None:
    for written in ("view", "base"):
        base = torch.ones(3, requires_grad=True)
        with torch.no_grad():
            view = base[1:]
            (view if written == "view" else base).mul_(2)
        assert (base * 1).requires_grad and view.detach().tolist() == [2.0, 2.0]
        with pytest.raises(RuntimeError, match=USED):
            view * 2


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled_code_sends_no_gradient_through_it(backend: str) -> None:
    def f(x: torch.Tensor) -> torch.Tensor:
        y = x * 1
        with torch.no_grad():
            view = y[:2]
        return view * 2 + y[1:]

    for g in (f, torch.compile(f, backend=backend)):
        x = torch.ones(3, requires_grad=True)
        g(x).sum().backward()
        assert x.grad.tolist() == [0.0, 1.0, 1.0]
