"""inference_mode: what may be done with its results, there and outside. The rules and messages are PyTorch 2.13's."""

from __future__ import annotations

import threading

import pytest

import minitorch_compile as torch


@pytest.fixture
def inside():
    """A tensor computed in inference mode."""
    with torch.inference_mode():
        return torch.ones(3) * 2


def test_results_are_marked_and_do_not_require_grad():
    x = torch.ones(3, requires_grad=True)
    with torch.inference_mode():
        y = x * 2
        assert torch.is_inference_mode_enabled()
        assert not torch.is_grad_enabled()
    assert y.is_inference()
    assert not y.requires_grad
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()


def test_a_view_of_an_ordinary_tensor_stays_ordinary_and_of_an_inference_tensor_is_one(inside):
    x = torch.ones(3)
    with torch.inference_mode():
        assert not x.view(3, 1).is_inference()
    assert inside.view(3, 1).is_inference()
    assert inside.detach().is_inference()
    assert not inside.clone().is_inference()


def test_several_results_are_all_marked():
    with torch.inference_mode():
        values, places = torch.max(torch.ones(2, 3) * 2, 1)
    assert values.is_inference()
    assert places.is_inference()


def test_an_inference_tensor_may_be_used_where_its_value_is_not_saved(inside):
    x = torch.ones(3, requires_grad=True)
    (x + inside).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * inside
    assert (x * inside.clone()).requires_grad


def test_writing_to_it_outside_is_refused(inside):
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        inside.add_(1)
    with torch.inference_mode():
        assert inside.add_(1).tolist() == [3, 3, 3]
    assert inside.is_inference()


def test_it_has_no_version_and_can_not_become_a_leaf(inside):
    with pytest.raises(RuntimeError, match="do not track version counter"):
        inside._version
    with pytest.raises(RuntimeError, match="requires_grad=True on inference tensor"):
        inside.requires_grad_()


def test_writing_to_a_view_made_without_recording_is_refused():
    base = torch.ones(3, requires_grad=True) * 2
    with torch.no_grad():
        window = base.view(3)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        window.mul_(2)
    with torch.no_grad():
        assert window.mul_(2).tolist() == [4, 4, 4]


def test_the_mode_can_be_left_for_a_block():
    with torch.inference_mode():
        with torch.inference_mode(False):
            x = torch.ones(2, requires_grad=True)
            y = x * 2
        assert torch.is_inference_mode_enabled()
    assert y.requires_grad
    assert not y.is_inference()


@pytest.mark.parametrize("decorate", [torch.inference_mode, torch.inference_mode()])
def test_it_decorates(decorate):
    @decorate
    def double(x):
        return x * 2

    assert double(torch.ones(1, requires_grad=True)).is_inference()
    assert not torch.is_inference_mode_enabled()


def test_other_threads_are_not_in_it():
    seen = []
    with torch.inference_mode():
        thread = threading.Thread(target=lambda: seen.append((torch.ones(1) * 2).is_inference()))
        thread.start()
        thread.join()
    assert seen == [False]


def test_an_error_inside_ends_it():
    with pytest.raises(ZeroDivisionError), torch.inference_mode():
        1 / 0
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
