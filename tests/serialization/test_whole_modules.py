"""Whole modules in files: what torch.save(model, f) writes comes back, for those who allowed its classes."""

from __future__ import annotations

import io
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.nn import functional as F
from minitorch_compile.serialization import UnreadableFileError, safe_globals
from minitorch_compile.serialization.whole_modules import module_class


class Net(nn.Module):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Net.made += 1
        self.layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, activation=F.gelu)
        self.twin = self.layer.linear1
        self.register_buffer("scale", torch.tensor([2.0]), persistent=False)
        self.sizes = {"hidden": [6]}

    def forward(self, x: Any) -> Any:
        return self.layer(x) * self.scale


class Odd(nn.Module):
    def __setstate__(self, state: Any) -> None:
        raise AssertionError("code of a class ran")


CLASSES: list[Any] = [
    Net, F.gelu, nn.TransformerEncoderLayer, nn.MultiheadAttention, nn.Dropout, nn.LayerNorm, nn.Linear,
    nn.modules.linear.NonDynamicallyQuantizableLinear,
]  # fmt: skip


def saved(value: Any) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_a_module_comes_back_whole_without_its_init() -> None:
    model = Net().eval()
    file = saved({"model": model, "epoch": 3})
    before, x = Net.made, torch.randn(3, 1, 4)
    with safe_globals(CLASSES):
        back = torch.load(file)["model"]
    assert Net.made == before and type(back) is Net and not back.training
    assert torch.equal(back(x), model(x))
    assert back.twin is back.layer.linear1 and back.layer.activation is F.gelu and back.sizes == {"hidden": [6]}
    assert list(back.state_dict()) == list(model.state_dict())


def test_a_restored_module_trains() -> None:
    back = torch.load(saved(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))), weights_only=False)
    back(torch.ones(1, 2)).sum().backward()
    assert all(p.grad is not None for p in back.parameters())


def test_trust_allows_modules_and_ops() -> None:
    back = torch.load(saved(Net()), weights_only=False)
    assert back(torch.ones(1, 1, 4)).shape == (1, 1, 4)


@pytest.mark.parametrize("options", [{}, {"weights_only": True}])
def test_classes_that_nobody_allowed_are_named(options: dict[str, bool]) -> None:
    with pytest.raises(UnreadableFileError, match=r"a module of the class '[\w.]+:Net'.*add_safe_globals\(\[Net\]\)"):
        torch.load(saved(Net()), **options)


def test_a_function_is_allowed_by_name_only() -> None:
    model = nn.ReLU()
    model.rule = saved
    data = saved(model)
    with pytest.raises(UnreadableFileError, match=r"holds the function '[\w.]+:saved'.*add_safe_globals\(\[saved\]\)"):
        torch.load(data, weights_only=False)
    data.seek(0)
    with safe_globals([nn.ReLU, saved]):
        assert torch.load(data).rule is saved


@pytest.mark.parametrize("name", [b"os:system", b"os:execv "])
def test_trust_is_no_trust_in_other_functions(name: bytes) -> None:
    model = nn.ReLU()
    model.rule = F.relu
    data = saved(model).getvalue()
    assert b"op:F.relu" in data
    with pytest.raises(UnreadableFileError, match="holds the function"):
        torch.load(io.BytesIO(data.replace(b"op:F.relu", name)), weights_only=False)


@pytest.mark.parametrize("name", ["io:BytesIO", f"{Odd.__module__}:Odd", "absent:Net", 3])
def test_a_name_of_what_is_no_such_module_is_refused(name: Any) -> None:
    with pytest.raises(UnreadableFileError, match="none that can be made of attributes|not imported"):
        module_class(name, trusted=True)


@pytest.mark.parametrize("attribute", [lambda x: x, torch.optim.SGD([torch.ones(1)], lr=1)])
def test_what_is_no_data_in_a_module_is_refused_with_its_place(attribute: Any) -> None:
    model = nn.Sequential(nn.ReLU())
    model[0].rule = attribute
    with pytest.raises(TypeError, match=r"checkpoint\._modules\['0'\]\.rule is a (function|SGD)"):
        saved(model)


def test_a_class_with_its_own_pickling_is_refused() -> None:
    with pytest.raises(TypeError, match="checkpoint is of the class Odd, .*own way of .*; save its state_dict"):
        saved(Odd())
