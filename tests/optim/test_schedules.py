"""Learning rate schedules. The expected rates were recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from minitorch_compile import nn, ones, optim
from minitorch_compile.optim import lr_scheduler

RECORDED = {
    "step": (lambda o: lr_scheduler.StepLR(o, 2, 0.5), [0.5, 0.5, 0.25, 0.25, 0.125, 0.125]),
    "cosine": (
        lambda o: lr_scheduler.CosineAnnealingLR(o, 5, 0.1),
        [0.5, 0.4618033989, 0.3618033989, 0.2381966011, 0.1381966011, 0.1],
    ),
    "lambda": (
        lambda o: lr_scheduler.LambdaLR(o, lambda epoch: 1 / (1 + epoch)),
        [0.5, 0.25, 0.1666666667, 0.125, 0.1, 0.0833333333],
    ),
}


def sgd():
    return optim.SGD([nn.Parameter(ones(1))], lr=0.5)


@pytest.mark.parametrize("name", RECORDED)
def test_six_epochs_as_in_pytorch(name):
    make, expected = RECORDED[name]
    optimizer = sgd()
    scheduler = make(optimizer)
    rates = []
    for _ in range(6):
        assert scheduler.get_last_lr() == [optimizer.param_groups[0]["lr"]]
        rates += scheduler.get_last_lr()
        optimizer.step()
        scheduler.step()
    assert rates == pytest.approx(expected, abs=1e-9)


def test_a_schedule_goes_on_from_a_state_dict():
    first = lr_scheduler.StepLR(sgd(), 2, 0.5)
    for _ in range(3):
        first.step()
    second = lr_scheduler.StepLR(sgd(), 2, 0.5)
    second.load_state_dict(first.state_dict())
    second.step()
    assert second.get_last_lr() == [0.125]


def test_an_optimizer_is_needed():
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)


def test_one_function_for_each_group():
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas, but got 2"):
        lr_scheduler.LambdaLR(sgd(), [lambda e: 1, lambda e: 2])
