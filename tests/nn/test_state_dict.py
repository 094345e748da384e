"""state_dict and load_state_dict. Messages are PyTorch's."""

from __future__ import annotations

import re

import pytest

from minitorch_compile import nn, ones, tensor, zeros


def net():
    return nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1, bias=False))


KEYS = [
    "0.weight",
    "0.bias",
    "1.weight",
    "1.bias",
    "1.running_mean",
    "1.running_var",
    "1.num_batches_tracked",
    "2.weight",
]


def test_the_keys_are_pytorchs():
    assert list(net().state_dict()) == KEYS


def test_a_prefix():
    assert list(nn.Linear(1, 1).state_dict(prefix="layer.")) == ["layer.weight", "layer.bias"]


def test_values_share_memory_with_the_module_and_are_detached():
    layer = nn.Linear(1, 1)
    state = layer.state_dict()
    assert not state["weight"].requires_grad
    state["weight"].fill_(7)
    assert layer.weight.item() == 7
    assert layer.state_dict(keep_vars=True)["weight"] is layer.weight


def test_a_round_trip():
    one, two = net(), net()
    assert repr(two.load_state_dict(one.state_dict())) == "<All keys matched successfully>"
    assert all((a == b).all() for a, b in zip(one.parameters(), two.parameters(), strict=True))


def test_values_are_copied_into_the_same_parameters():
    layer = nn.Linear(1, 1)
    weight = layer.weight
    layer.load_state_dict({"weight": ones(1, 1) * 5, "bias": zeros(1)})
    assert layer.weight is weight
    assert weight.item() == 5
    assert weight.requires_grad


def test_or_assigned():
    layer, value = nn.Linear(1, 1), ones(1, 1)
    layer.load_state_dict({"weight": value, "bias": zeros(1)}, assign=True)
    assert isinstance(layer.weight, nn.Parameter)
    assert layer.weight.storage is value.storage


def test_everything_that_is_wrong_is_listed():
    state = net().state_dict()
    del state["0.bias"]
    state["3.weight"] = ones(1)
    state["2.weight"] = ones(1, 4)
    expected = (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.bias". \n'
        '\tUnexpected key(s) in state_dict: "3.weight". \n'
        "\tsize mismatch for 2.weight: copying a param with shape torch.Size([1, 4]) from checkpoint, the shape in"
        " current model is torch.Size([1, 3])."
    )
    with pytest.raises(RuntimeError, match=re.escape(expected)):
        net().load_state_dict(state)


def test_not_strict():
    result = net().load_state_dict({"0.weight": ones(3, 2), "extra": ones(1)}, strict=False)
    assert result.missing_keys == [key for key in KEYS[1:] if key != "1.num_batches_tracked"]  # see the last test
    assert result.unexpected_keys == ["extra"]
    with pytest.raises(RuntimeError, match="size mismatch for 0.weight"):
        net().load_state_dict({"0.weight": ones(1)}, strict=False)


def test_something_that_is_not_a_dictionary():
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        net().load_state_dict([ones(1)])


def test_a_value_that_is_not_a_tensor():
    with pytest.raises(RuntimeError, match='parameter named "weight", expected torch.Tensor or Tensor-like'):
        nn.Linear(1, 1).load_state_dict({"weight": 3, "bias": tensor([1.0])})


def test_a_module_may_rename_old_keys():
    class Renamed(nn.Linear):
        def _load_from_state_dict(self, state_dict, prefix, *rest):
            state_dict = {key.replace("gamma", "weight"): value for key, value in state_dict.items()}
            super()._load_from_state_dict(state_dict, prefix, *rest)

    layer = Renamed(1, 1, bias=False)
    layer.load_state_dict({"gamma": ones(1, 1) * 3})
    assert layer.weight.item() == 3


def test_a_batch_norm_takes_old_states_without_the_number_of_batches():
    layer = nn.BatchNorm1d(2)
    state = layer.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match="num_batches_tracked"):  # its version says that it was saved
        layer.load_state_dict(state)
    layer.load_state_dict(dict(state))
