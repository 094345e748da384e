"""Eager recurrent layers and cells on kernels of the library: what their formula means in float64, all gradients."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config, nn
from minitorch_compile.kernel_library import library, recurrent
from tests.kernel_library.used_library import used_library

TIME, BATCH, INPUTS, HIDDEN = 19, 7, 6, 37  # 4,921 numbers in a gate

KINDS: dict[str, Callable[..., Any]] = {
    "lstm": nn.LSTM,
    "gru": nn.GRU,
    "tanh": nn.RNN,
    "relu": lambda *sizes, **how: nn.RNN(*sizes, nonlinearity="relu", **how),
}
CELLS: dict[str, Callable[..., Any]] = {
    "lstm": nn.LSTMCell,
    "gru": nn.GRUCell,
    "tanh": nn.RNNCell,
    "relu": lambda *sizes, **how: nn.RNNCell(*sizes, nonlinearity="relu", **how),
}

LAYERS: dict[str, dict[str, Any]] = {
    "one layer": {},
    "batch first": {"batch_first": True},
    "without biases": {"bias": False},
    "two layers": {"num_layers": 2},
    "both directions": {"bidirectional": True, "num_layers": 2, "batch_first": True},
    "dropout, not in training": {"num_layers": 2, "dropout": 0.5},
}


@pytest.fixture
def kernels() -> Iterator[library.Library]:
    yield from used_library([f"{name}_cell{way}" for name in KINDS for way in ("", "_backward")])


def inputs(**how: Any) -> list[torch.Tensor]:
    """x, h and c."""
    rng = np.random.default_rng(3)
    count = how.get("num_layers", 1) * (2 if how.get("bidirectional") else 1)
    sizes = (BATCH, TIME, INPUTS) if how.get("batch_first") else (TIME, BATCH, INPUTS)
    arrays = [rng.normal(size=size).astype(np.float32) for size in (sizes, *[(count, BATCH, HIDDEN)] * 2)]
    return [torch.tensor(x, requires_grad=True) for x in arrays]


def layer(kind: str = "lstm", **how: Any) -> nn.RNNBase:
    torch.manual_seed(0)
    return KINDS[kind](INPUTS, HIDDEN, **how).eval()


def loss(module: nn.Module, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor, used: str = "all") -> torch.Tensor:
    has_c = isinstance(module, nn.LSTM)
    out, lasts = module(x, (h, c) if has_c else h)
    last_h, last_c = lasts if has_c else (lasts, c)
    parts = {"out": out, "h": last_h * 2, "c": last_c * 3}
    return sum(part.pow(2).sum() for name, part in parts.items() if used in ("all", name))


def calls_of(patch: pytest.MonkeyPatch, function: Any = recurrent.RecurrentLayer) -> list[Any]:
    calls: list[Any] = []
    run = function.apply
    patch.setattr(function, "apply", lambda *given: calls.append(given) or run(*given))
    return calls


def check(
    module: nn.Module, tensors: list[torch.Tensor], loss_of: Callable[..., Any], count: int, calls: list[Any]
) -> None:
    """Compares with what float64 gives, and says how many nodes there were to be."""
    exact = copy.deepcopy(module).double()
    doubles = [t.detach().double().requires_grad_(t.requires_grad) for t in tensors]
    found = loss_of(module, *tensors)
    found.backward()
    assert len(calls) == count
    wanted = loss_of(exact, *doubles)
    wanted.backward()
    assert len(calls) == count, "a formula in float64"
    torch.testing.assert_close(found.double(), wanted, rtol=1e-5, atol=1e-5)
    for a, b in zip((*tensors, *module.parameters()), (*doubles, *exact.parameters()), strict=True):
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            torch.testing.assert_close(a.grad.double(), b.grad, rtol=3e-5, atol=3e-5 * b.grad.abs().max().item())


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for kind in ("lstm", "gru") for name in LAYERS),
        ("tanh", "both directions"),
        ("relu", "one layer"),
    ],
)
def test_a_layer_and_all_its_gradients(
    kernels: library.Library, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = LAYERS[name]
    count = how.get("num_layers", 1) * (2 if how.get("bidirectional") else 1)
    check(layer(kind, **how), inputs(**how), loss, count, calls_of(monkeypatch))


@pytest.mark.parametrize(
    ("kind", "used"), [("lstm", "out"), ("lstm", "h"), ("lstm", "c"), ("gru", "out"), ("gru", "h")]
)
def test_results_that_nobody_uses(
    kernels: library.Library, kind: str, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(layer(kind), inputs(), partial(loss, used=used), 1, calls_of(monkeypatch))


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_what_needs_no_gradient(kernels: library.Library, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, tensors = layer(kind), inputs()
    module.weight_hh_l0.requires_grad_(False)
    module.bias_ih_l0.requires_grad_(False)
    tensors[0].requires_grad_(False)
    check(module, tensors, loss, 1, calls_of(monkeypatch))


ROWS = 131  # 4,847 numbers in a gate


def cell_inputs() -> list[torch.Tensor]:
    """x, h and c of a step."""
    rng = np.random.default_rng(3)
    sizes = (ROWS, INPUTS), (ROWS, HIDDEN), (ROWS, HIDDEN)
    return [torch.tensor(rng.normal(size=size).astype(np.float32), requires_grad=True) for size in sizes]


def cell_loss(cell: nn.Module, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    """Of two steps."""
    state: Any = (h, c) if isinstance(cell, nn.LSTMCell) else h
    for _ in range(2):
        state = cell(x, state)
    h, c = state if isinstance(cell, nn.LSTMCell) else (state, c)
    return (h * 2).pow(2).sum() + (c * 3).pow(2).sum()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_and_all_its_gradients(
    kernels: library.Library, kind: str, bias: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = CELLS[kind](INPUTS, HIDDEN, bias=bias)
    check(cell, cell_inputs(), cell_loss, 2, calls_of(monkeypatch, recurrent.RecurrentCell))


def second_gradients(module: nn.Module, tensors: list[torch.Tensor], loss_of: Any, mode: str) -> Any:
    wanted = [*tensors, *module.parameters()]
    with config.patch(eager_kernels=mode):
        first = torch.autograd.grad(loss_of(module, *tensors), wanted, create_graph=True)
        return torch.autograd.grad(sum(g.pow(2).sum() for g in first), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_gradients_are_those_of_the_formula(kernels: library.Library, kind: str) -> None:
    for module, tensors, loss_of in (
        (layer(kind), inputs(), loss),
        (CELLS[kind](INPUTS, HIDDEN), cell_inputs(), cell_loss),
    ):
        for found, expected in zip(*(second_gradients(module, tensors, loss_of, mode) for mode in ("on_disk", "off"))):
            torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4 * expected.abs().max().item())


@pytest.mark.parametrize("kind", CELLS)
def test_a_cell_whose_result_is_written_to(kernels: library.Library, kind: str) -> None:
    cell, (x, h, c) = CELLS[kind](INPUTS, HIDDEN), cell_inputs()
    state: Any = (h, c) if kind == "lstm" else h
    new, again = (result[0] if kind == "lstm" else result for result in (cell(x, state), cell(x, state)))
    new.mul_(2)
    expected = torch.autograd.grad(again.sum() * 2, h)[0]
    torch.testing.assert_close(torch.autograd.grad(new.sum(), h)[0], expected)


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
    calls += calls_of(monkeypatch, recurrent.RecurrentCell)
    layer()(x[:1, :1], (h[:, :1], c[:, :1]))  # small
    nn.GRUCell(INPUTS, HIDDEN)(x[0], h[0])
    large = nn.GRUCell(INPUTS, HIDDEN)
    rows, state, _ = cell_inputs()
    large.double()(rows.double(), state.double())
    nn.LSTM(INPUTS, HIDDEN, proj_size=8)(x)
    layer().double()(x.double())
    layer("gru")(nn.utils.rnn.pack_padded_sequence(x, [19, 19, 16, 12, 5, 4, 1]))
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
