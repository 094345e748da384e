"""utils.swap_tensors: values move, objects stay. As in PyTorch."""

from __future__ import annotations

import weakref

import pytest

import minitorch_compile as torch
from minitorch_compile.utils import swap_tensors


def test_everything_but_the_identity_is_exchanged():
    layer = torch.nn.Linear(2, 1)
    weight, other = layer.weight, torch.ones(3, dtype=torch.float64)
    other.note = "mine"
    swap_tensors(weight, other)
    assert layer.weight is weight
    assert (type(weight), weight.dtype, weight.tolist(), weight.note) == (
        torch.Tensor,
        torch.float64,
        [1.0] * 3,
        "mine",
    )
    assert (type(other), other.shape, other.requires_grad) == (torch.nn.Parameter, (1, 2), True)


def test_gradients_flow_to_what_was_swapped_in_before():
    x, y = torch.ones(2, requires_grad=True), torch.full((2,), 3.0)
    swap_tensors(x, y)
    (y * x).sum().backward()
    assert y.grad.tolist() == [3.0, 3.0]


def test_a_graph_of_before_is_not_walked_back():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2)
    loss = (x * 2).sum()
    swap_tensors(x, y)
    with pytest.raises(RuntimeError, match="poisoned by swap_tensors"):
        loss.backward()


def test_a_weak_reference_would_find_another_tensor():
    x, y = torch.ones(2), torch.ones(2)
    kept = weakref.ref(y)
    with pytest.raises(RuntimeError, match="Cannot swap t2 because it has weakref"):
        swap_tensors(x, y)
    assert kept() is y
