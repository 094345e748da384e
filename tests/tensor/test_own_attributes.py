"""`Tensor.__dict__`: what a program hung on a tensor, nothing of what the tensor is. As recorded from PyTorch 2.13."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn


def test_it_has_what_the_program_set() -> None:
    x = torch.ones(2)
    assert vars(x) == {} and type(x.grad) is type(None)
    x.label, x.parts = "first", [1]
    assert x.__dict__ == {"label": "first", "parts": [1]} and isinstance(vars(x), dict)
    assert {**vars(x)} == dict(x.__dict__) == vars(x).copy()
    assert vars(nn.Parameter(x)) == vars(x.clone()) == vars(x.detach()) == vars(x.view(1, 2)) == {}


def test_what_is_changed_there_is_changed() -> None:
    x = torch.ones(2)
    attributes = x.__dict__
    attributes["a"] = 1
    attributes.update({"b": 2}, c=3)
    attributes.setdefault("d", 4)
    attributes |= {"e": 5}
    assert (x.a, x.b, x.c, x.d, x.e) == (1, 2, 3, 4, 5)
    assert attributes.pop("a") == 1 and attributes.pop("none", 7) == 7
    del attributes["b"]
    assert vars(x) == {"c": 3, "d": 4, "e": 5} and not hasattr(x, "a")
    attributes.clear()
    assert vars(x) == {} and x.tolist() == [1.0, 1.0]
    x.__dict__ = {"z": 1}
    assert x.z == 1 and vars(x) == {"z": 1}
    with pytest.raises(KeyError):
        del vars(x)["sizes"]


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
@pytest.mark.parametrize("kind", [torch.Tensor, nn.Parameter])
def test_copies_have_it(twin: Any, kind: type) -> None:
    x = kind(torch.ones(2))
    x.label = ["first"]
    made = twin(x)
    kept = {} if kind is nn.Parameter and twin is copy.deepcopy else {"label": ["first"]}
    assert type(made) is kind and vars(made) == kept and made.tolist() == [1.0, 1.0]
    assert copy.deepcopy(vars(x)) == {"label": ["first"]}


def test_another_class_takes_none_of_it() -> None:
    class Own(torch.Tensor):
        pass

    x = torch.ones(2)
    x.label = "first"
    assert vars(x.as_subclass(Own)) == vars(torch.Tensor._make_subclass(Own, x)) == {}
    for make in (x.as_subclass, lambda cls: torch.Tensor._make_subclass(cls, x)):
        with pytest.raises(TypeError, match="does not inherit from Tensor"):
            make(int)
    with pytest.raises(TypeError, match="argument 'data' \\(position 2\\) must be Tensor, not list"):
        torch.Tensor._make_subclass(Own, [1.0])


def test_parameters_are_made_again_on_the_meta_device() -> None:
    """As `init_empty_weights` of the accelerate library does it."""
    register = nn.Module.register_parameter

    def register_on_meta(module: Any, name: str, param: Any) -> None:
        register(module, name, param)
        if param is not None:
            options = module._parameters[name].__dict__
            options["requires_grad"] = param.requires_grad
            module._parameters[name] = type(param)(module._parameters[name].to("meta"), **options)

    class Scaled(nn.Parameter):
        def __new__(cls, data: Any, requires_grad: bool = True, scale: float = 1.0) -> Any:
            made = super().__new__(cls, data, requires_grad)
            made.scale = scale
            return made

    nn.Module.register_parameter = register_on_meta  # type: ignore[method-assign]
    try:
        model = nn.Sequential(nn.Linear(2, 3), nn.LayerNorm(3))
        model.weight = Scaled(torch.ones(2), False, 5.0)
    finally:
        nn.Module.register_parameter = register  # type: ignore[method-assign]
    assert {(p.device.type, p.requires_grad) for p in model.parameters()} == {("meta", True), ("meta", False)}
    assert type(model.weight) is Scaled and model.weight.scale == 5.0


def test_compiled_functions_read_it() -> None:
    @torch.compile(backend="eager", fullgraph=True)
    def scaled(x: Any) -> Any:
        return x * x.scale

    x = torch.ones(2)
    x.scale = 3.0
    assert scaled(x).tolist() == [3.0, 3.0]
    vars(x)["scale"] = 4.0
    assert scaled(x).tolist() == [4.0, 4.0]
