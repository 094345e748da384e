"""Sequential, ModuleList, ModuleDict."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from minitorch_compile import nn, ones


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
