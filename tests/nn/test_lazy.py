"""Layers that learn the size of their input from the first input."""

from __future__ import annotations

import pickle

import pytest

import minitorch_compile as torch
from minitorch_compile import nn

LAYERS = [
    (lambda: nn.LazyLinear(2), (4, 3), nn.Linear),
    (lambda: nn.LazyConv1d(2, 2), (1, 3, 5), nn.Conv1d),
    (lambda: nn.LazyConv2d(6, 2, groups=3), (1, 3, 5, 5), nn.Conv2d),
    (lambda: nn.LazyConv3d(2, 2, bias=False), (1, 3, 4, 4, 4), nn.Conv3d),
    (lambda: nn.LazyConvTranspose2d(2, 3), (1, 3, 4, 4), nn.ConvTranspose2d),
    (lambda: nn.LazyBatchNorm1d(), (4, 3), nn.BatchNorm1d),
    (lambda: nn.LazyBatchNorm2d(affine=False), (4, 3, 2, 2), nn.BatchNorm2d),
    (lambda: nn.LazyInstanceNorm1d(), (4, 3, 5), nn.InstanceNorm1d),
]


@pytest.mark.parametrize(("make", "sizes", "becomes"), LAYERS)
def test_after_the_first_call_it_is_an_ordinary_layer(make, sizes, becomes):
    layer = make()
    names = list(layer.state_dict())
    assert layer.has_uninitialized_params()
    out = layer(torch.ones(*sizes))
    assert type(layer) is becomes and list(layer.state_dict()) == names
    assert (layer.eval()(torch.ones(*sizes))).shape == out.shape
    assert all(type(p) is nn.Parameter for p in layer.parameters())


def test_a_model_is_converted_before_its_first_call_and_trained_after():
    model = nn.Sequential(nn.LazyConv2d(4, 3), nn.LazyBatchNorm2d(), nn.Flatten(), nn.LazyLinear(2)).double()
    params = list(model.parameters())
    model(torch.ones(2, 3, 4, 4).double()).sum().backward()
    assert all(p.grad is not None and p.dtype is torch.float64 for p in params)  # the same objects


def test_a_loaded_state_gives_the_sizes_and_stays():
    trained, lazy = nn.Linear(3, 2), nn.LazyLinear(2)
    lazy.load_state_dict(trained.state_dict())
    assert lazy.weight.shape == (2, 3)
    x = torch.ones(1, 3)
    assert (lazy(x) == trained(x)).all() and lazy.in_features == 3


def test_before_the_first_call_there_are_no_sizes():
    layer = nn.LazyLinear(2)
    assert repr(layer) == "LazyLinear(in_features=0, out_features=2, bias=True)"
    assert repr(layer.weight) == "<UninitializedParameter>"
    for use in (lambda: layer.weight.shape, lambda: layer.weight + 1, lambda: nn.init.zeros_(layer.weight)):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            use()
    assert pickle.loads(pickle.dumps(layer)).has_uninitialized_params()


def test_an_input_that_will_not_do():
    with pytest.raises(RuntimeError, match="Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
        nn.LazyConv2d(2, 2)(torch.ones(1, 3))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv2d(2, 2, groups=2)(torch.ones(1, 3, 4, 4))


def test_a_lazy_module_of_your_own():
    class Scale(nn.modules.lazy.LazyModuleMixin):
        def __init__(self):
            super().__init__()
            self.factor = nn.UninitializedParameter()

        def initialize_parameters(self, x):
            if self.has_uninitialized_params():
                self.factor.materialize(x.shape[-1:])
                nn.init.constant_(self.factor, 2)

        def forward(self, x):
            return x * self.factor

    scale = Scale()
    assert scale(torch.ones(3)).tolist() == scale(torch.ones(3)).tolist() == [2, 2, 2]
