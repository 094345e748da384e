"""Eager LSTM layers on kernels of the library: what their formula means in float64, and all gradients."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config, nn
from minitorch_compile.kernel_library import library, recurrent
from tests.kernel_library.used_library import used_library

TIME, BATCH, INPUTS, HIDDEN = 7, 5, 6, 32  # 4,480 numbers in the gates

LAYERS: dict[str, dict[str, Any]] = {
    "one layer": {},
    "batch first": {"batch_first": True},
    "without biases": {"bias": False},
    "two layers": {"num_layers": 2},
    "both directions": {"bidirectional": True, "num_layers": 2, "batch_first": True},
    "dropout, not in training": {"num_layers": 2, "dropout": 0.5},
}


@pytest.fixture(scope="module")
def kernels() -> Iterator[library.Library]:
    yield from used_library(["lstm_cell", "lstm_cell_backward"])


def inputs(**how: Any) -> list[torch.Tensor]:
    """x, h and c."""
    rng = np.random.default_rng(3)
    count = how.get("num_layers", 1) * (2 if how.get("bidirectional") else 1)
    sizes = (BATCH, TIME, INPUTS) if how.get("batch_first") else (TIME, BATCH, INPUTS)
    arrays = [rng.normal(size=size).astype(np.float32) for size in (sizes, *[(count, BATCH, HIDDEN)] * 2)]
    return [torch.tensor(x, requires_grad=True) for x in arrays]


def layer(**how: Any) -> nn.LSTM:
    torch.manual_seed(0)
    return nn.LSTM(INPUTS, HIDDEN, **how).eval()


def loss(module: nn.LSTM, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, used: str = "all") -> torch.Tensor:
    out, (last_h, last_c) = module(x, (h, c))
    parts = {"out": out, "h": last_h * 2, "c": last_c * 3}
    return sum(part.pow(2).sum() for name, part in parts.items() if used in ("all", name))


def calls_of(patch: pytest.MonkeyPatch) -> list[Any]:
    calls: list[Any] = []
    run = recurrent.LSTMLayer.apply
    patch.setattr(recurrent.LSTMLayer, "apply", lambda *given: calls.append(given) or run(*given))
    return calls


def check(module: nn.LSTM, tensors: list[torch.Tensor], used: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = copy.deepcopy(module).double()
    doubles = [t.detach().double().requires_grad_(t.requires_grad) for t in tensors]
    calls = calls_of(monkeypatch)
    found = loss(module, *tensors, used)
    found.backward()
    assert len(calls) == count
    wanted = loss(exact, *doubles, used)
    wanted.backward()
    assert len(calls) == count, "a formula in float64"
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)
    for a, b in zip((*tensors, *module.parameters()), (*doubles, *exact.parameters()), strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            torch.testing.assert_close(a.grad.double(), b.grad, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_and_all_its_gradients(kernels: library.Library, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    how = LAYERS[name]
    count = how.get("num_layers", 1) * (2 if how.get("bidirectional") else 1)
    check(layer(**how), inputs(**how), "all", count, monkeypatch)


@pytest.mark.parametrize("used", ["out", "h", "c"])
def test_results_that_nobody_uses(kernels: library.Library, used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check(layer(), inputs(), used, 1, monkeypatch)


def test_what_needs_no_gradient(kernels: library.Library, monkeypatch: pytest.MonkeyPatch) -> None:
    module, tensors = layer(), inputs()
    module.weight_hh_l0.requires_grad_(False)
    module.bias_ih_l0.requires_grad_(False)
    tensors[0].requires_grad_(False)
    check(module, tensors, "all", 1, monkeypatch)


def test_gradients_of_gradients_are_those_of_the_formula(kernels: library.Library) -> None:
    def second(mode: str) -> list[torch.Tensor]:
        module, tensors = layer(), inputs()
        wanted = [*tensors, *module.parameters()]
        with config.patch(eager_kernels=mode):
            first = torch.autograd.grad(loss(module, *tensors), wanted, create_graph=True)
            return torch.autograd.grad(sum(g.pow(2).sum() for g in first), wanted)

    for found, expected in zip(second("on_disk"), second("off"), strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_results_may_be_written_to_and_a_graph_is_walked_once(kernels: library.Library) -> None:
    module, tensors = layer(), inputs()
    out, (last_h, _) = module(tensors[0], tuple(tensors[1:]))
    out.mul_(2)
    last_h.zero_()
    expected = torch.autograd.grad(module(tensors[0], tuple(tensors[1:]))[0].sum() * 2, tensors[0])[0]
    torch.testing.assert_close(torch.autograd.grad(out.sum(), tensors[0])[0], expected)
    with pytest.raises(RuntimeError, match="second time"):
        out.sum().backward()


def test_what_does_not_fit_is_computed_by_the_formula(
    kernels: library.Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(monkeypatch)
    x, h, c = inputs()
    layer()(x[:1, :1], (h[:, :1], c[:, :1]))  # small
    nn.LSTM(INPUTS, HIDDEN, proj_size=8)(x)
    layer().double()(x.double())
    layer()(nn.utils.rnn.pack_padded_sequence(x, [7, 7, 6, 2, 1]))
    torch.func.grad(lambda x: layer()(x)[0].sum())(x.detach())
    assert not calls
    with torch.no_grad():
        unbatched = layer()(x.detach().repeat(8, 1, 1)[:, 0])[0]
        assert len(calls) == 1
        with config.patch(eager_kernels="off"):
            torch.testing.assert_close(unbatched, layer()(x.detach().repeat(8, 1, 1)[:, 0])[0])


@pytest.mark.parametrize("place", [4, 5, 6])
def test_parameters_of_a_later_layer_that_do_not_fit_are_refused_by_the_formula(
    kernels: library.Library, place: int
) -> None:
    x, h, c = inputs(num_layers=2)
    parameters = [parameter.detach() for parameter in layer(num_layers=2).parameters()]
    parameters[place] = parameters[place][..., :-1].contiguous()
    with pytest.raises(RuntimeError, match="size"):
        torch.lstm(x, (h, c), parameters, True, 2, 0.0, False, False)
