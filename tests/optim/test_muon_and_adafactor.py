"""Muon and Adafactor: three steps, as PyTorch 2.13 makes them."""

import math

import pytest

import minitorch_compile as torch
from minitorch_compile import nn, optim


def after_three_steps(make, shapes):
    params = [nn.Parameter(torch.linspace(-1, 1, math.prod(s)).reshape(s)) for s in shapes]
    optimizer = make(params)
    for _ in range(3):
        optimizer.zero_grad()
        sum((p.sin() * p * (j + 1)).sum() for j, p in enumerate(params)).backward()
        optimizer.step()
    return [p.detach().flatten()[:4].tolist() for p in params], optimizer.state[params[0]]


CASES = [
    (
        lambda p: optim.Muon(p, lr=0.01),
        [(3, 4), (4, 2)],
        [[-0.98238909, -0.80402231, -0.63002044, -0.45272434], [-0.97644538, -0.70480537, -0.40372121, -0.15417081]],
    ),
    (
        lambda p: optim.Muon(p, lr=0.01, nesterov=False, adjust_lr_fn="match_rms_adamw"),
        [(3, 4), (4, 2)],
        [[-0.99096960, -0.81146938, -0.63216966, -0.45312116], [-0.99131334, -0.70975673, -0.42102763, -0.14528549]],
    ),
    (
        lambda p: optim.Adafactor(p, lr=0.01),
        [(3, 4), (5,)],
        [[-0.97799718, -0.79774183, -0.61886913, -0.44114742], [-0.97897762, -0.47907028, 0.0, 0.47907028]],
    ),
    (
        lambda p: optim.Adafactor(p, lr=0.01, weight_decay=0.1, d=1.5, eps=(1e-8, 1e-3), maximize=True),
        [(3, 4), (5,), (2, 3, 4)],
        [
            [-1.01930845, -0.83657229, -0.65237951, -0.46695462],
            [-1.01836324, -0.51994902, 0.0, 0.51994902],
            [-1.01399922, -0.92822182, -0.84245485, -0.75665438],
        ],
    ),
]


@pytest.mark.parametrize(("make", "shapes", "expected"), CASES)
def test_steps_are_pytorchs(make, shapes, expected):
    values, _ = after_three_steps(make, shapes)
    for value, row in zip(values, expected, strict=True):
        assert value == pytest.approx(row, abs=2e-6)


def test_adafactor_keeps_rows_and_columns_only():
    _, state = after_three_steps(lambda p: optim.Adafactor(p), [(3, 4)])
    assert {name: tuple(value.shape) for name, value in state.items()} == {
        "step": (),
        "row_var": (3, 1),
        "col_var": (1, 4),
    }


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: optim.Muon([torch.ones(3)]),
            "Muon only supports 2D parameters whereas we found",
        ),
        (lambda: optim.Muon([torch.ones(3, 3)], adjust_lr_fn="x"), "Adjust learning rate function x is not supported"),
        (lambda: optim.Muon([torch.ones(3, 3)], lr=-1), "Learning rate should be >= 0 but is: -1"),
        (lambda: optim.Adafactor([torch.ones(3, 3)], d=0.5), "Clipping threshold d should be >= 1 but is: 0.5"),
        (lambda: optim.Adafactor([torch.ones(3, 3)], beta2_decay=1), "beta2_decay should be <= 0 but is: 1"),
    ],
)
def test_wrong_options_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
