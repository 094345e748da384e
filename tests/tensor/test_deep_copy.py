"""copy.deepcopy of tensors: what shared memory shares memory again, and nothing is shared with the originals."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn

SHARING: dict[str, Callable[[torch.Tensor], Any]] = {
    "a view": lambda x: x[0:1],
    "itself": lambda x: x,
    "a transposed view": lambda x: x.view(2, 3).t(),
    "every other element": lambda x: x[1::2],
    "detached": lambda x: x.detach(),
    "data": lambda x: x.data,
    "other bytes": lambda x: x.view(torch.int32),
    "a parameter": lambda x: nn.Parameter(x),
    "a parameter of a part": lambda x: nn.Parameter(x[2:4]),
    "a buffer": lambda x: nn.Buffer(x[2:4]),
}


@pytest.mark.parametrize("name", SHARING)
def test_what_shares_memory_shares_memory_again(name: str) -> None:
    """The class, strides and offset are kept; a write to the one is seen by the other, and not by the originals."""
    x = torch.arange(6.0)
    other = SHARING[name](x)
    for copied_x, copied in (copy.deepcopy([x, other]), reversed(copy.deepcopy((other, x)))):
        assert type(copied) is type(other)
        assert (copied.stride(), copied.storage_offset()) == (other.stride(), other.storage_offset())
        assert (copied is copied_x) == (other is x)
        assert copied.storage().data_ptr() == copied_x.storage().data_ptr() != x.storage().data_ptr()
        copied_x.fill_(7)
        assert set(copied.detach().contiguous().view(torch.float32).flatten().tolist()) == {7.0}
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("name", SHARING)
def test_what_shares_memory_shares_it_after_pickling(name: str) -> None:
    x = torch.arange(6.0)
    copied_x, copied = pickle.loads(pickle.dumps([x, SHARING[name](x)]))
    assert copied.storage() == copied_x.storage()
    copied_x.fill_(7)
    assert set(copied.detach().contiguous().view(torch.float32).flatten().tolist()) == {7.0}


def test_parts_of_complex_numbers_share_memory_again() -> None:
    z, parts, imaginary = copy.deepcopy([z := torch.tensor([1 + 2j, 3 + 4j]), torch.view_as_real(z), z.imag])
    z[0] = 5
    assert (parts.tolist(), imaginary.tolist()) == ([[5, 0], [3, 4]], [0, 4])


def test_gradients_and_attributes_are_copied_as_pytorch_does() -> None:
    """A tensor's are; a parameter's are not (torch 2.13)."""
    leaf, parameter = torch.ones(2, requires_grad=True), nn.Parameter(torch.ones(2))
    for x in (leaf, parameter):
        x.grad = torch.ones(2)
        x.tag = ["mine"]
    copied = copy.deepcopy(leaf)
    assert (copied.grad.tolist(), copied.tag, copied.requires_grad) == ([1, 1], ["mine"], True)
    assert copied.grad is not leaf.grad
    assert copied.tag is not leaf.tag
    copied = copy.deepcopy(parameter)
    assert (copied.grad, hasattr(copied, "tag")) == (None, False)


def test_a_gradient_that_is_a_view_of_another_stays_one() -> None:
    flat = torch.zeros(4)
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad = flat[2:]
    flat, leaf = copy.deepcopy([flat, leaf])
    flat.fill_(3)
    assert leaf.grad.tolist() == [3, 3]


def test_tied_weights_of_a_module_stay_tied() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model.register_buffer("diagonal", model[0].weight.detach().diagonal())
    copied = copy.deepcopy(model)
    assert copied[1].weight is copied[0].weight
    with torch.no_grad():
        copied[0].weight.fill_(2)
    assert copied.diagonal.tolist() == [2, 2, 2]


def test_what_an_operation_made_is_refused() -> None:
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(torch.ones(2, requires_grad=True) * 2)


def test_a_copy_of_an_expanded_tensor_takes_as_little_memory() -> None:
    copied = copy.deepcopy(torch.zeros(1).expand(10**6, 10**6))
    assert (copied.shape, copied.stride(), copied.storage().nbytes()) == ((10**6, 10**6), (0, 0), 4)


def test_tensors_without_data_are_copied() -> None:
    x = torch.empty(2, 3, device="meta").t()
    copied = copy.deepcopy(x)
    assert (copied.device.type, copied.shape, copied.stride()) == ("meta", (3, 2), (1, 3))
