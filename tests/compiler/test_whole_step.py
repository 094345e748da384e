"""compile(train_step): forward, loss, backward and optimizer in one graph, which does what the plain step does.

The oracle is the same step, run plainly: losses, parameters, buffers, gradients and the optimizers' state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn, optim
from minitorch_compile.dynamo.eval_frame import region_of
from minitorch_compile.nn import functional as F

Made = tuple[Callable[..., Any], list[nn.Module], list[Any]]  # the step, its models and optimizers


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


class SmallCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm, self.head = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Linear(4, 3)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.norm(self.conv(x.view(-1, 1, 2, 3).repeat(1, 1, 2, 2))))
        return self.head(x.mean((2, 3)))


class TiedGPT(nn.Module):
    """Tokens from the signs of the inputs; the embedding is the output matrix, too."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(3, 4)
        self.block = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
        self.head = nn.Linear(4, 3, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: Any) -> Any:
        return self.head(self.block(self.embedding((x > 0).long()))).mean(1)


def batches(count: int) -> list[tuple[Any, Any]]:
    generator = torch.Generator().manual_seed(7)
    return [(torch.randn(5, 6, generator=generator), torch.tensor([0, 1, 2, 1, i % 3])) for i in range(count)]


def state(models: list[nn.Module], optimizers: list[Any]) -> list[tuple[str, Any]]:
    """Everything that a step may have changed, as NumPy arrays and numbers under names."""
    found: list[tuple[str, Any]] = []
    for m, model in enumerate(models):
        found += [(f"{m}.{name}", value.detach().numpy().copy()) for name, value in model.state_dict().items()]
        found += [
            (f"{m}.{n}.grad", None if p.grad is None else p.grad.numpy().copy()) for n, p in model.named_parameters()
        ]
        found += [(f"{m}.{n}.version", p._version) for n, p in model.named_parameters()]
    for o, optimizer in enumerate(optimizers):
        saved = optimizer.state_dict()
        for number, values in saved["state"].items():
            for name, value in values.items():
                found.append(
                    (f"optimizer {o}.{number}.{name}", value.numpy().copy() if torch.is_tensor(value) else value)
                )
        found += [(f"optimizer {o}.lr", group["lr"]) for group in saved["param_groups"]]
    return found


def assert_same_state(plain: list[tuple[str, Any]], compiled: list[tuple[str, Any]], tolerance: float) -> None:
    assert [name for name, _ in plain] == [name for name, _ in compiled]
    for (name, a), (_, b) in zip(plain, compiled, strict=True):
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance, err_msg=name)
        else:
            assert a == b, name


def assert_same_training(
    make: Callable[[], Made],
    steps: int = 6,
    backend: Any = "aot_eager",
    between: Callable[[int, Made], None] | None = None,
    compilations: int = 2,
    tolerance: float = 1e-6,
) -> None:
    """Trains two copies, one of them compiled as one graph a step; everything is compared after each step."""
    torch.manual_seed(0)
    plain = make()
    torch.manual_seed(0)
    other = make()
    compiled = torch.compile(other[0], backend=backend, fullgraph=True)
    for number, batch in enumerate(batches(steps)):
        for made in (plain, other):
            if between is not None:
                between(number, made)
        torch.manual_seed(number)
        expected = plain[0](*batch)
        torch.manual_seed(number)
        loss = compiled(*batch)
        np.testing.assert_allclose(loss.detach().numpy(), expected.detach().numpy(), rtol=tolerance)
        assert (loss.requires_grad, loss.is_leaf) == (expected.requires_grad, expected.is_leaf)
        assert_same_state(state(*plain[1:]), state(*other[1:]), tolerance)
    assert len(region_of(compiled).graph_modules) <= compilations


def ordinary(model: Callable[[], nn.Module], make_optimizer: Callable[[Any], Any]) -> Callable[[], Made]:
    def make() -> Made:
        module = model()
        optimizer = make_optimizer(module.parameters())

        def step(x: Any, y: Any) -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(module(x), y)
            loss.backward()
            optimizer.step()
            return loss

        return step, [module], [optimizer]

    return make


OPTIMIZERS = {
    "SGD": lambda p: optim.SGD(p, lr=0.1),
    "momentum": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01),
    "nesterov": lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "Adam": lambda p: optim.Adam(p, lr=0.01),
    "amsgrad": lambda p: optim.Adam(p, lr=0.01, amsgrad=True, maximize=True),
    "AdamW": lambda p: optim.AdamW(p, lr=0.01),
    "AdamW fused": lambda p: optim.AdamW(p, lr=0.01, fused=True),
    "AdamW foreach": lambda p: optim.AdamW(p, lr=0.01, foreach=True),
    "AdamW with a tensor": lambda p: optim.AdamW(p, lr=torch.tensor(0.01)),
    "RMSprop": lambda p: optim.RMSprop(p, lr=0.01, momentum=0.9, centered=True),
    "Adagrad": lambda p: optim.Adagrad(p, lr=0.01, lr_decay=0.1),
    "Adadelta": lambda p: optim.Adadelta(p),
    "Adamax": lambda p: optim.Adamax(p),
    "NAdam": lambda p: optim.NAdam(p),
    "RAdam": lambda p: optim.RAdam(p, lr=0.01),
    "ASGD": lambda p: optim.ASGD(p),
    "Rprop": lambda p: optim.Rprop(p),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_optimizer_is_part_of_the_graph(name):
    tolerance = 1e-4 if name == "RAdam" else 1e-6
    assert_same_training(ordinary(mlp, OPTIMIZERS[name]), steps=8, tolerance=tolerance)


@pytest.mark.parametrize(
    ("model", "backend"),
    [
        (mlp, "eager"),
        (SmallCNN, "eager"),
        (TiedGPT, "eager"),
        pytest.param(SmallCNN, "inductor", marks=pytest.mark.slow),
        pytest.param(TiedGPT, "inductor", marks=pytest.mark.slow),
    ],
)
def test_models(model, backend):
    # Not Adam: it divides by the size of the gradient, and some parameters' gradients are rounding errors.
    make = ordinary(model, OPTIMIZERS["momentum"])
    assert_same_training(make, steps=4, backend=backend, tolerance=1e-4 if backend == "inductor" else 1e-6)


def test_a_changing_learning_rate_compiles_nothing_again():
    def between(number: int, made: Made) -> None:
        made[2][0].param_groups[0]["lr"] = 0.1 / (number + 1)

    assert_same_training(ordinary(mlp, OPTIMIZERS["AdamW"]), steps=10, between=between)


def test_a_scheduler_outside_compiles_nothing_again():
    schedulers: dict[int, Any] = {}

    def between(number: int, made: Made) -> None:
        optimizer = made[2][0]
        scheduler = schedulers.setdefault(id(optimizer), optim.lr_scheduler.CosineAnnealingLR(optimizer, 10))
        if number:
            scheduler.step()

    assert_same_training(ordinary(mlp, OPTIMIZERS["momentum"]), steps=10, between=between)


def test_the_mode_of_a_model_may_change():
    def between(number: int, made: Made) -> None:
        made[1][0].train(number % 3 != 2)

    make = ordinary(SmallCNN, OPTIMIZERS["SGD"])
    assert_same_training(make, between=between, compilations=3)


def test_frozen_parameters_stay():
    def model() -> nn.Module:
        module = mlp()
        module[0].requires_grad_(False)
        return module

    assert_same_training(ordinary(model, OPTIMIZERS["Adam"]))


def test_parameters_that_take_no_part_have_no_gradient():
    class Partly(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(6, 3), nn.Linear(6, 3)

        def forward(self, x: Any) -> Any:
            return self.used(x)

    assert_same_training(ordinary(Partly, OPTIMIZERS["momentum"]))


def with_step(body: Callable[..., Any], make_optimizer: Callable[[Any], Any] | None = None) -> Callable[[], Made]:
    """A step written out: body(module, optimizer, x, y)."""

    def make() -> Made:
        module = mlp()
        optimizer = (make_optimizer or OPTIMIZERS["AdamW"])(module.parameters())
        return (lambda x, y: body(module, optimizer, x, y)), [module], [optimizer]

    return make


def clipped(module, optimizer, x, y):
    loss = F.cross_entropy(module(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(module.parameters(), 0.1)
    optimizer.step()
    return loss


def clipped_by_value(module, optimizer, x, y):
    loss = F.cross_entropy(module(x), y)
    loss.backward()
    nn.utils.clip_grad_value_(module.parameters(), 0.01)
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


def zeros_kept(module, optimizer, x, y):
    optimizer.zero_grad(set_to_none=False)
    loss = F.cross_entropy(module(x), y)
    loss.backward()
    optimizer.step()
    return loss


def accumulated_inside(module, optimizer, x, y):
    optimizer.zero_grad()
    total = 0
    for part, target in zip(x.split(1), y.split(1)):
        loss = F.cross_entropy(module(part), target) / 5
        loss.backward()
        total = total + loss.detach()
    optimizer.step()
    return total


def penalised(module, optimizer, x, y):
    optimizer.zero_grad(True)
    loss = F.cross_entropy(module(x), y)
    loss = loss + 0.01 * sum(p.square().sum() for p in module.parameters())
    loss.backward()
    optimizer.step()
    return loss


def twice(module, optimizer, x, y):
    """Two steps in one call: the second forward pass sees the updated parameters."""
    for _ in range(2):
        optimizer.zero_grad()
        loss = F.cross_entropy(module(x), y)
        loss.backward()
        optimizer.step()
    return loss


def with_retained_graph(module, optimizer, x, y):
    optimizer.zero_grad()
    logits = module(x)
    F.cross_entropy(logits, y).backward(retain_graph=True)
    loss = logits.square().mean()
    loss.backward()
    optimizer.step()
    return loss


def by_hand(module, optimizer, x, y):
    parameters = list(module.parameters())
    loss = F.cross_entropy(module(x), y)
    gradients = torch.autograd.grad(loss, parameters)
    with torch.no_grad():
        for p, g in zip(parameters, gradients):
            p -= 0.1 * g
    return loss


def with_gradient_penalty(module, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(module(x), y)
    gradients = torch.autograd.grad(loss, [module[0].weight], create_graph=True)
    loss = loss + gradients[0].square().sum()
    loss.backward()
    optimizer.step()
    return loss


def with_dropout(module, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(module(F.dropout(x, 0.5)), y)
    torch.autograd.backward([loss])
    optimizer.step()
    return loss


def of_some_inputs(module, optimizer, x, y):
    optimizer.zero_grad()
    loss = F.cross_entropy(module(x), y)
    loss.backward(inputs=[module[2].weight])
    optimizer.step()
    return loss


def averaged(module, optimizer, x, y):
    """Gradients changed by hand before the step."""
    optimizer.zero_grad()
    loss = F.cross_entropy(module(x), y, reduction="sum")
    loss.backward()
    for p in module.parameters():
        p.grad.div_(len(x))
        p.grad = p.grad * 0.5
    optimizer.step()
    return loss


STEPS = [
    clipped,
    clipped_by_value,
    zeros_kept,
    accumulated_inside,
    penalised,
    twice,
    with_retained_graph,
    by_hand,
    with_gradient_penalty,
    with_dropout,
    of_some_inputs,
    averaged,
]


@pytest.mark.parametrize("body", STEPS, ids=lambda body: body.__name__)
def test_steps(body):
    assert_same_training(with_step(body))


@pytest.mark.parametrize("body", [clipped, zeros_kept], ids=lambda body: body.__name__)
@pytest.mark.heavy
def test_steps_in_kernels(body):
    assert_same_training(with_step(body), backend="inductor", steps=4, tolerance=1e-5)


def test_gradients_accumulate_over_calls():
    def make() -> Made:
        module = mlp()
        optimizer = optim.SGD(module.parameters(), lr=0.1)

        def step(x: Any, y: Any) -> Any:
            loss = F.cross_entropy(module(x), y)
            loss.backward()
            return loss

        return step, [module], [optimizer]

    def between(number: int, made: Made) -> None:
        if number % 3 == 2:
            made[2][0].step()
            made[2][0].zero_grad()

    assert_same_training(make, between=between)


def test_two_optimizers_and_parameter_groups():
    def make() -> Made:
        module = mlp()
        first = optim.SGD([{"params": module[0].weight, "lr": 0.5}, {"params": module[0].bias}], lr=0.1)
        second = optim.AdamW(module[2].parameters(), lr=0.01)

        def step(x: Any, y: Any) -> Any:
            first.zero_grad()
            second.zero_grad()
            loss = F.cross_entropy(module(x), y)
            loss.backward()
            first.step()
            second.step()
            return loss

        return step, [module], [first, second]

    assert_same_training(make)


def test_two_networks_against_each_other():
    """Each is trained on what the other, already updated, makes of the same numbers."""

    def make() -> Made:
        maker, judge = nn.Linear(6, 6), nn.Linear(6, 1)
        of_maker, of_judge = optim.Adam(maker.parameters(), lr=0.01), optim.Adam(judge.parameters(), lr=0.01)

        def step(x: Any, y: Any) -> Any:
            of_judge.zero_grad()
            wrong = F.softplus(judge(maker(x).detach())).mean() + F.softplus(-judge(x)).mean()
            wrong.backward()
            of_judge.step()
            of_maker.zero_grad()
            caught = F.softplus(-judge(maker(x))).mean()
            caught.backward()
            of_maker.step()
            return wrong + caught.detach()

        return step, [maker, judge], [of_maker, of_judge]

    assert_same_training(make)
