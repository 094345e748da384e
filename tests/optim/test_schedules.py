"""Learning rate schedules. The expected rates were recorded from PyTorch 2.13."""

from __future__ import annotations

import pytest

from minitorch_compile import nn, ones, optim, tensor
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
    first_optimizer, second_optimizer = sgd(), sgd()
    first = lr_scheduler.StepLR(first_optimizer, 2, 0.5)
    for _ in range(3):
        first.step()
    second = lr_scheduler.StepLR(second_optimizer, 2, 0.5)
    second.load_state_dict(first.state_dict())
    second_optimizer.load_state_dict(first_optimizer.state_dict())
    second.step()
    assert second.get_last_lr() == [0.125]


def test_an_optimizer_is_needed():
    with pytest.raises(TypeError, match="int is not an Optimizer"):
        lr_scheduler.StepLR(3, 1)


def test_one_function_for_each_group():
    with pytest.raises(ValueError, match="Expected 1 lr_lambdas, but got 2"):
        lr_scheduler.LambdaLR(sgd(), [lambda e: 1, lambda e: 2])


def test_restarts_at_any_time():
    optimizer = sgd()
    schedule = lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2, T_mult=2)
    rates = []
    for time in (0.5, 1.0, 2.0, 3.5, 6.0, 13.0):
        schedule.step(time)
        rates += schedule.get_last_lr()
    assert rates == pytest.approx([0.4267766953, 0.25, 0.5, 0.3456708581, 0.5, 0.0190301168])
    with pytest.raises(ValueError, match="non-negative epoch"):
        schedule.step(-1)


def test_a_composed_schedule_goes_on_from_a_state_dict():
    def make():
        optimizer = sgd()
        parts = [lr_scheduler.LinearLR(optimizer, 0.5, 1.0, 2), lr_scheduler.ExponentialLR(optimizer, 0.5)]
        return optimizer, lr_scheduler.SequentialLR(optimizer, parts, milestones=[3])

    first_optimizer, first = make()
    for _ in range(4):
        first.step()
    second_optimizer, second = make()
    second.load_state_dict(first.state_dict())
    second_optimizer.load_state_dict(first_optimizer.state_dict())
    first.step(), second.step()
    assert second.get_last_lr() == first.get_last_lr() == [0.125]


def test_of_a_function_only_an_object_s_attributes_are_saved():
    class Power:
        def __init__(self, base):
            self.base = base

        def __call__(self, epoch):
            return self.base**epoch

    saved = lr_scheduler.LambdaLR(sgd(), Power(0.5)).state_dict()
    assert saved["lr_lambdas"] == [{"base": 0.5}]
    other = lr_scheduler.LambdaLR(sgd(), Power(0.9))
    other.load_state_dict(saved)
    other.step()
    assert other.get_last_lr() == [0.25]
    assert lr_scheduler.LambdaLR(sgd(), lambda epoch: 1).state_dict()["lr_lambdas"] == [None]


def test_a_second_schedule_knows_the_initial_rate():
    optimizer = sgd()
    lr_scheduler.ConstantLR(optimizer, 0.5, 3)
    assert lr_scheduler.ExponentialLR(optimizer, 0.9).base_lrs == [0.5]
    assert optimizer.param_groups[0]["lr"] == 0.25


def test_a_rate_that_is_a_tensor_stays_the_same_tensor():
    rate = tensor(0.5)
    optimizer = optim.SGD([nn.Parameter(ones(1))], lr=rate)
    lr_scheduler.ExponentialLR(optimizer, 0.5).step()
    assert rate.item() == 0.25
    assert optimizer.param_groups[0]["lr"] is rate


def test_resuming_needs_the_initial_rate():
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(sgd(), 2, last_epoch=3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: lr_scheduler.ConstantLR(o, 2.0), "between 0 and 1"),
        (lambda o: lr_scheduler.LinearLR(o, 0.0), "greater than 0"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0), "total_steps OR"),
        (lambda o: lr_scheduler.OneCycleLR(o, 1.0, 10, pct_start=2.0), "between 0 and 1 pct_start"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, [0.2, 0.3], cycle_momentum=False), "same length"),
        (lambda o: lr_scheduler.CyclicLR(o, 0.1, 0.2, mode="square"), "mode is invalid"),
        (lambda o: lr_scheduler.CyclicLR(optim.Rprop([ones(1)]), 0.1, 0.2), "must support momentum"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), "Factor should be < 1.0"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="up"), "mode up is unknown"),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [2]), "one more than the number"),
        (lambda o: lr_scheduler.ChainedScheduler([]), "at least one scheduler"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ValueError, match=message):
        make(sgd())
