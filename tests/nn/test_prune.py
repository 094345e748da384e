"""torch.nn.utils.prune. Messages were recorded from PyTorch 2.13."""

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn.utils import prune


@pytest.fixture
def layer():
    layer = nn.Linear(4, 2)
    layer.weight.data.copy_(torch.tensor([[1.0, -2.0, 3.0, -4.0], [8.0, 7.0, -6.0, 5.0]]))
    return layer


def test_the_least_entries_go_and_the_original_is_trained(layer):
    prune.l1_unstructured(layer, "weight", amount=3)
    assert layer.weight_mask.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert list(layer.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    layer(torch.ones(1, 4)).sum().backward()
    assert layer.weight_orig.grad.tolist() == [[0, 0, 0, 1], [1, 1, 1, 1]]
    prune.remove(layer, "weight")
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    assert layer.weight.tolist()[0] == [0, 0, 0, -4]
    assert not prune.is_pruned(layer)


def test_what_is_pruned_twice_stays_pruned(layer):
    prune.l1_unstructured(layer, "weight", amount=3)
    prune.ln_structured(layer, "weight", amount=1, n=2, dim=0)
    assert layer.weight_mask.tolist() == [[0, 0, 0, 0], [1, 1, 1, 1]]
    prune.l1_unstructured(layer, "weight", amount=0.25)  # of the four that are left
    assert layer.weight_mask.tolist() == [[0, 0, 0, 0], [1, 1, 1, 0]]


def test_channels_go_as_a_whole(layer):
    prune.ln_structured(layer, "weight", amount=0.5, n=1, dim=1)
    assert layer.weight_mask.tolist() == [[1, 0, 0, 1]] * 2 or int(layer.weight_mask.sum()) == 4
    other = nn.Linear(4, 2)
    prune.random_structured(other, "weight", amount=1, dim=0)
    assert sorted(other.weight_mask.sum(1).tolist()) == [0, 4]


def test_several_parameters_are_pruned_as_one(layer):
    other = nn.Linear(2, 2)
    other.weight.data.fill_(0.5)
    prune.global_unstructured([(layer, "weight"), (other, "weight")], prune.L1Unstructured, amount=5)
    assert (other.weight_mask.sum().item(), layer.weight_mask.sum().item()) == (0, 7)


def test_masks_can_be_given(layer):
    prune.custom_from_mask(layer, "bias", torch.tensor([0, 1]))
    assert layer.bias[0].item() == 0
    prune.identity(layer, "weight")
    assert bool((layer.weight_mask == 1).all())
    prune.random_unstructured(nn.Linear(4, 4), "weight", amount=0.5)
    method = prune.L1Unstructured(amount=1)
    assert method.prune(torch.tensor([3.0, -1.0])).tolist() == [3, 0]


def test_wrong_amounts_are_refused_and_leave_all_as_it_was(layer):
    prune.l1_unstructured(layer, "weight", amount=3)
    with pytest.raises(ValueError, match="amount=30 should be smaller than the number of parameters to prune=5"):
        prune.l1_unstructured(layer, "weight", amount=30)
    with pytest.raises(ValueError, match="amount=1.5 should either be a float in the range"):
        prune.l1_unstructured(layer, "weight", amount=1.5)
    with pytest.raises(TypeError, match="Invalid type for amount: a. Must be int or float."):
        prune.l1_unstructured(layer, "weight", amount="a")
    prune.remove(layer, "weight")
    with pytest.raises(ValueError, match="Parameter 'weight' of module .* has to be pruned before pruning can be"):
        prune.remove(layer, "weight")


def test_chance_prunes_the_entries_that_drew_the_largest_numbers():
    """As in PyTorch, so that one seed prunes the same weights."""
    layer = nn.Linear(4, 3)
    torch.manual_seed(0)
    drawn = torch.rand(3, 4)
    torch.manual_seed(0)
    prune.random_unstructured(layer, "weight", 5)
    assert (layer.weight_mask == 0).tolist() == (drawn >= drawn.flatten().sort().values[-5]).tolist()
    assert [type(hook) for hook in layer._forward_pre_hooks.values()] == [prune.RandomUnstructured]
