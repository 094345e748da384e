"""Gradients, modules, optimizers and random numbers on a GPU: as on the CPU, to the last bit where the CPU computes."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile import nn


def test_gradients_stay_on_the_device_and_cross_back() -> None:
    here = torch.ones(2, requires_grad=True)
    there = torch.full((2,), 3.0, device="cuda", requires_grad=True)
    (here.cuda() * there).sum().backward()
    assert here.grad.tolist() == [3, 3] and here.grad.device.type == "cpu"
    assert there.grad.tolist() == [1, 1] and there.grad.device == there.device
    with pytest.raises(RuntimeError, match="device"):
        there.grad = torch.ones(2)


def test_modules_move_with_their_gradients() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))
    model(torch.ones(2, 3)).sum().backward()
    assert model.cuda() is model
    tensors = [*model.parameters(), *model.buffers(), *(p.grad for p in model.parameters())]
    assert {x.device for x in tensors} == {torch.device("cuda", 0)}
    model.to("cuda:1").cpu()
    assert {x.device.type for x in (*model.parameters(), *model.buffers())} == {"cpu"}


def classifier() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )


OPTIMIZERS = {
    "SGD": {"lr": 0.1, "momentum": 0.9, "nesterov": True},
    "Adam": {"lr": 0.01},
    "AdamW": {"lr": 0.01, "amsgrad": True},
    "RMSprop": {"lr": 0.01},
    "Adagrad": {"lr": 0.1},
    "LBFGS": {"lr": 0.1, "max_iter": 2},
}


@pytest.mark.parametrize(
    "name", [name if name in ("SGD", "AdamW") else pytest.param(name, marks=pytest.mark.slow) for name in OPTIMIZERS]
)
def test_a_model_trains_as_on_the_cpu(name: str) -> None:
    torch.manual_seed(1)
    images, labels = torch.randn(4, 1, 4, 4), torch.tensor([0, 1, 2, 0])
    losses: list[list[float]] = []
    for where in ("cpu", "cuda"):
        model = classifier().to(where)
        optimizer = getattr(torch.optim, name)(model.parameters(), **OPTIMIZERS[name])
        x, y = images.to(where), labels.to(where)

        def closure(model: Any = model, optimizer: Any = optimizer, x: Any = x, y: Any = y) -> Any:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            return loss

        losses.append([optimizer.step(closure).item() for _ in range(4)])
        assert all(p.device.type == where for p in model.parameters())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert losses[1][-1] < losses[1][0]


@pytest.mark.parametrize("fused", [None, True, False])
def test_large_parameters_are_stepped(fused: bool | None) -> None:
    """From 65,536 elements on, native calls step what is in main memory."""
    weight = torch.zeros(256, 256, device="cuda", requires_grad=True)
    optimizer = torch.optim.AdamW([weight], lr=0.1, fused=fused)
    weight.sum().backward()
    optimizer.step()
    assert weight[0, 0].item() == weight[-1, -1].item() == pytest.approx(-0.1, rel=1e-5)


def drawn() -> list[Any]:
    chances = torch.full((4,), 0.5)
    return [torch.rand(4), torch.randn(4), torch.randint(9, (4,)), torch.randperm(4), torch.bernoulli(chances)]


def test_random_numbers_are_the_cpus() -> None:
    torch.manual_seed(3)
    here = drawn()
    torch.manual_seed(3)
    with torch.device("cuda"):
        there = drawn()
    assert all(torch.equal(a, b.cpu()) and b.is_cuda for a, b in zip(here, there))


def test_each_device_reads_its_own_stream() -> None:
    torch.manual_seed(3)
    first = torch.rand(3)
    assert torch.equal(torch.rand(3, device="cuda").cpu(), first)
    assert torch.equal(torch.empty(3, device="cuda:1").uniform_().cpu(), first)
    torch.cuda.manual_seed(3)
    assert torch.equal(torch.rand(3, device="cuda").cpu(), first) and not torch.equal(torch.rand(3), first)
    own = torch.Generator("cuda").manual_seed(3)
    assert torch.equal(torch.rand(3, device="cuda", generator=own).cpu(), first)
    state = torch.cuda.get_rng_state()
    following = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state(state)
    assert torch.equal(torch.rand(3, device="cuda"), following) and torch.cuda.initial_seed() == 3


def test_dropout_draws_on_the_device() -> None:
    torch.manual_seed(0)
    here = nn.functional.dropout(torch.ones(20), 0.5)
    torch.manual_seed(0)
    there = nn.functional.dropout(torch.ones(20, device="cuda"), 0.5)
    assert torch.equal(here, there.cpu())
