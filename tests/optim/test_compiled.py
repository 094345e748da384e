"""Update rules in compiled programs: with counters that are tensors a step is one graph, the same every time."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.optim import functional


def states():
    def zeros():
        return torch.zeros(3)

    step = torch.tensor(0.0)
    return {
        "adam": functional.AdamState(step, zeros(), zeros()),
        "adamw": functional.AdamState(step, zeros(), zeros(), zeros()),
        "rmsprop": functional.RMSpropState(step, zeros(), zeros(), zeros()),
        "adagrad": functional.AdagradState(step, zeros()),
        "adadelta": functional.AdadeltaState(step, zeros(), zeros()),
        "adamax": functional.AdamaxState(step, zeros(), zeros()),
        "nadam": functional.NAdamState(step, torch.tensor(1.0), zeros(), zeros()),
        "radam": functional.RAdamState(step, zeros(), zeros()),
        "asgd": functional.ASGDState(step, torch.tensor(0.1), torch.tensor(1.0), zeros()),
        "lion": functional.LionState(zeros()),
    }


@pytest.mark.parametrize("name", states())
def test_a_rule_is_one_graph(name):
    rule, state = getattr(functional, name), states()[name]

    def step(p, g, *parts):
        params, new = rule([p], [g], [type(state)(*parts)], lr=0.1)
        return [params[0], *(part for part in new[0] if part is not None)]

    p, g = torch.tensor([1.0, -2.0, 0.5]), torch.tensor([0.3, 0.1, -2.0])
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for a, b in zip(compiled(p, g, *state), step(p, g, *state), strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [lambda p: torch.optim.AdamW(p, capturable=True), lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9)],
    ids=["adamw", "sgd"],
)
def test_an_optimizer_s_step_is_one_graph(make):
    def weights(compiled):
        w = nn.Parameter(torch.tensor([1.0, 2.0]))
        optimizer = make([w])
        w.grad = torch.tensor([0.5, -1.0])
        optimizer.step()  # makes the state
        step = torch.compile(optimizer.step, fullgraph=True, backend="eager") if compiled else optimizer.step
        for _ in range(3):
            step()
        return w.detach().numpy()

    np.testing.assert_allclose(weights(True), weights(False), rtol=1e-6)


def test_a_step_count_that_is_a_number_to_the_plain_step_is_a_tensor_in_the_graph():
    w = nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.AdamW([w], lr=0.1)

    @torch.compile(backend="eager", fullgraph=True)
    def train(x):
        optimizer.zero_grad()
        loss = (w * x).sum()
        loss.backward()
        optimizer.step()
        return loss

    assert [train(torch.ones(2)).item() for _ in range(3)] == pytest.approx([3.0, 2.797, 2.5944], abs=1e-3)
    assert optimizer.state[w]["step"].item() == 3
