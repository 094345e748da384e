"""Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from minitorch_compile import nn, ones, zeros


class TestSequential:
    def test_calls_one_after_another(self):
        model = nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.ReLU())
        assert model(ones(2, 2, 2)).shape == (2, 3)

    def test_names(self):
        model = nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))
        assert [name for name, _ in model.named_children()] == ["a", "b"]
        assert model.a is model[0]

    def test_is_indexed_like_a_list(self):
        relu, tanh = nn.ReLU(), nn.Tanh()
        model = nn.Sequential(relu, tanh)
        assert len(model) == 2
        assert model[-1] is tanh
        assert list(model) == [relu, tanh]
        assert isinstance(model[:1], nn.Sequential)
        model[0] = tanh
        assert model[0] is tanh
        with pytest.raises(IndexError, match="index 2 is out of range"):
            model[2]

    def test_grows_and_shrinks(self):
        model = nn.Sequential(nn.ReLU()).append(nn.Tanh()).extend([nn.Sigmoid()])
        model.insert(1, nn.Identity())
        assert [type(m).__name__ for m in model] == ["ReLU", "Identity", "Tanh", "Sigmoid"]
        del model[0]
        assert [name for name, _ in model.named_children()] == ["0", "1", "2"]

    def test_only_modules(self):
        with pytest.raises(TypeError, match="int is not a Module subclass"):
            nn.Sequential(3)


class TestModuleList:
    def test_its_parameters_are_found(self):
        layers = nn.ModuleList([nn.Linear(1, 1) for _ in range(3)])
        assert len(list(layers.parameters())) == 6
        assert [name for name, _ in layers.named_children()] == ["0", "1", "2"]

    def test_is_added_to(self):
        layers = nn.ModuleList([nn.ReLU()])
        layers += [nn.Tanh()]
        assert len(layers + [nn.ReLU()]) == 3
        assert len(layers) == 2

    def test_has_no_forward(self):
        with pytest.raises(NotImplementedError, match="forward"):
            nn.ModuleList()(1)


class TestModuleDict:
    def test_is_a_dictionary_of_modules(self):
        layers = nn.ModuleDict({"a": nn.Linear(1, 1)})
        layers["b"] = nn.ReLU()
        assert list(layers) == list(layers.keys()) == ["a", "b"]
        assert "a" in layers
        assert len(list(layers.parameters())) == 2
        assert isinstance(layers.pop("a"), nn.Linear)
        assert len(layers) == 1
        layers.update([("c", nn.Tanh())])
        assert [type(m).__name__ for m in layers.values()] == ["ReLU", "Tanh"]


class TestParameterContainers:
    def test_a_list(self):
        weights = nn.ParameterList([zeros(2), nn.Parameter(ones(1, 3)), "kept"])
        assert [type(w).__name__ for w in weights] == ["Parameter", "Parameter", "str"]
        assert list(weights.state_dict()) == ["0", "1"]
        weights.append(zeros(4)).extend([zeros(5)])
        weights += [zeros(6)]
        weights[0] = ones(7)
        assert len(weights) == 6 and weights[-1].shape == (6,) and weights[0].shape == (7,)
        assert len(weights[1:3]) == 2
        assert repr(weights[0:3]) == (
            "ParameterList(\n"
            "    (0): Parameter containing: [torch.float32 of size 7]\n"
            "    (1): Parameter containing: [torch.float32 of size 1x3]\n"
            "    (2): Object of type: str\n"
            ")"
        )

    def test_a_dict(self):
        weights = nn.ParameterDict({"a": zeros(2), "b": ones(1)})
        weights |= {"c": zeros(3)}
        assert list(weights) == ["a", "b", "c"] and list(weights.state_dict()) == ["a", "b", "c"]
        assert weights.pop("a").shape == (2,) and weights.popitem()[0] == "c"
        assert weights.setdefault("d", ones(4)).shape == (4,) and weights.get("z") is None
        assert list(weights | {"e": ones(1)}) == ["b", "d", "e"] and "d" in weights and len(weights) == 2
        assert list(weights.fromkeys("xy", ones(1)).items())[1][0] == "y"

    def test_errors(self):
        with pytest.raises(RuntimeError, match="ParameterList should not be called"):
            nn.ParameterList()(1)
        with pytest.raises(IndexError, match="index 5 is out of range"):
            nn.ParameterList([zeros(1)])[5]
        with pytest.raises(TypeError, match="not a string .type is 'int'"):
            nn.ParameterDict()[3] = zeros(1)
        with pytest.raises(KeyError, match="attribute 'keys' already exists"):
            nn.ParameterDict()["keys"] = zeros(1)


class TestOperatorsOfSequential:
    def test_sums_and_products(self):
        one, two = nn.Sequential(nn.ReLU()), nn.Sequential(nn.Tanh())
        assert [type(m).__name__ for m in one + two] == ["ReLU", "Tanh"]
        assert [type(m).__name__ for m in 2 * (one + two)] == ["ReLU", "Tanh"] * 2
        one += two
        one *= 2
        assert len(one) == 4 and one[0] is one[2] and list(one._modules) == ["0", "1", "2", "3"]
        with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
            one * 0
        with pytest.raises(ValueError, match="add operator supports only objects of Sequential class"):
            one + [nn.ReLU()]

    def test_insert_and_pop(self):
        net = nn.Sequential(nn.ReLU(), nn.Tanh())
        net.insert(1, nn.GELU()).insert(-1, nn.SiLU())
        assert [type(m).__name__ for m in net] == ["ReLU", "GELU", "SiLU", "Tanh"]
        assert type(net.pop(0)) is nn.ReLU and list(net._modules) == ["0", "1", "2"]
        with pytest.raises(IndexError, match="Index out of range: 9"):
            net.insert(9, nn.ReLU())
        assert [name for name, _ in nn.Sequential(OrderedDict(a=nn.ReLU(), b=nn.Tanh()))[1:].named_children()] == ["b"]


def test_equal_modules_of_a_list_are_printed_once():
    layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])
    assert repr(layers) == (
        "ModuleList(\n  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n  (2): ReLU()\n)"
    )
