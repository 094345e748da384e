"""The optimizers. The expected numbers were recorded from PyTorch 2.13 in float64."""

from __future__ import annotations

import pytest

from minitorch_compile import nn, ones, optim, tensor
from minitorch_compile.tensor import float64

START = ([1.0, -2.0, 3.0], [[0.5]])


def four_steps(make):
    """The two parameters after four steps on a loss that changes from step to step."""
    x, y = (tensor(values, dtype=float64, requires_grad=True) for values in START)
    optimizer = make([x, y])
    for i in range(4):
        optimizer.zero_grad()
        loss = ((x - 0.5) ** 2 * tensor([1.0, 2.0, 0.5], dtype=float64)).sum() * (1 + 0.3 * i) + (y * x.sum()).sum()
        loss.backward()
        optimizer.step()
    return [*x.tolist(), y.item()]


RECORDED = {
    "sgd": (lambda p: optim.SGD(p, lr=0.1), [0.6168364, 0.4553164, 1.8012136, -0.528364]),
    "sgd, momentum": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9),
        [0.2667004, 2.2331584, 0.5707156, -1.860004],
    ),
    "sgd, dampening and decay": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.5, weight_decay=0.1),
        [0.2685762987, 2.2038950875, 1.0343243313, -1.0097225619],
    ),
    "sgd, nesterov": (
        lambda p: optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        [0.7023266562, 0.9408474114, 0.6418433366, -2.7987620284],
    ),
    "sgd, maximize": (
        lambda p: optim.SGD(p, lr=0.01, maximize=True),
        [1.0827728494, -2.6080690214, 3.1698340484, 0.5760384596],
    ),
    "adam": (lambda p: optim.Adam(p, lr=0.1), [0.6040656695, -1.5997218951, 2.5989417604, 0.10150617]),
    "adam, decay": (
        lambda p: optim.Adam(p, lr=0.1, weight_decay=0.1, betas=(0.8, 0.9)),
        [0.6045206409, -1.5991071526, 2.5985684725, 0.1018006568],
    ),
    "adam, amsgrad": (
        lambda p: optim.Adam(p, lr=0.1, amsgrad=True, eps=1e-3),
        [0.6043331456, -1.5997573407, 2.599061078, 0.1017113433],
    ),
    "adam, maximize": (
        lambda p: optim.Adam(p, lr=0.1, maximize=True),
        [1.3966804127, -2.3986125661, 3.3991668408, 0.9008191505],
    ),
    "adam, capturable": (
        lambda p: optim.Adam(p, lr=0.1, capturable=True),
        [0.6040656695, -1.5997218951, 2.5989417604, 0.10150617],
    ),
    "adamw": (lambda p: optim.AdamW(p, lr=0.1), [0.6008173445, -1.5923187205, 2.5875525687, 0.1001450873]),
    "adamw, decay and amsgrad": (
        lambda p: optim.AdamW(p, lr=0.1, weight_decay=0.5, amsgrad=True),
        [0.4584193774, -1.2571863536, 2.0716101191, 0.0398914268],
    ),
    "adamw, two groups": (
        lambda p: optim.AdamW([{"params": [p[0]]}, {"params": [p[1]], "lr": 0.01, "weight_decay": 0.0}], lr=0.1),
        [0.5979883818, -1.5922150067, 2.5877222574, 0.46015462],
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_four_steps_as_in_pytorch(name):
    make, expected = RECORDED[name]
    tolerance = 1e-5 if "capturable" in name else 1e-9  # its step count is a float32 tensor
    assert four_steps(make) == pytest.approx(expected, abs=tolerance)


@pytest.mark.parametrize(
    "make", [lambda p: optim.SGD(p, 0.1, momentum=0.9), lambda p: optim.AdamW(p, 0.1, amsgrad=True)]
)
def test_training_goes_on_from_a_state_dict(make):
    def train(w, optimizer, steps):
        for _ in range(steps):
            optimizer.zero_grad()
            (w**2).sum().backward()
            optimizer.step()

    through, half = nn.Parameter(tensor([1.0, 2.0])), nn.Parameter(tensor([1.0, 2.0]))
    train(through, make([through]), 6)
    optimizer = make([half])
    train(half, optimizer, 3)
    rest = nn.Parameter(half.detach().clone())
    resumed = make([rest])
    resumed.load_state_dict(optimizer.state_dict())
    train(rest, resumed, 3)
    assert rest.tolist() == through.tolist()


def test_the_state_dict_has_pytorchs_keys():
    w = nn.Parameter(ones(2))
    optimizer = optim.Adam([w])
    w.sum().backward()
    optimizer.step()
    state = optimizer.state_dict()
    assert set(state) == {"state", "param_groups"}
    assert set(state["state"][0]) == {"step", "exp_avg", "exp_avg_sq"}
    assert state["param_groups"][0]["params"] == [0]


def test_parameters_without_gradients_stay():
    used, unused = nn.Parameter(ones(1)), nn.Parameter(ones(1))
    optimizer = optim.AdamW([used, unused], lr=0.1)
    used.sum().backward()
    optimizer.step()
    assert unused.item() == 1
    assert used.item() < 1


def test_parameters_are_updated_in_place():
    w = nn.Parameter(ones(2))
    window = w.detach()
    w.sum().backward()
    optim.SGD([w], lr=0.5).step()
    assert window.tolist() == [0.5, 0.5]


def test_the_first_momentum_buffer_is_not_the_gradient_itself():
    w = nn.Parameter(ones(1))
    optimizer = optim.SGD([w], lr=0.1, momentum=0.9)
    w.sum().backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)
    assert optimizer.state[w]["momentum_buffer"].item() == 1
    assert w.grad.item() == 0


def test_a_closure_is_called_with_gradients_on():
    w = nn.Parameter(ones(1))
    optimizer = optim.SGD([w], lr=0.1)

    def closure():
        optimizer.zero_grad()
        loss = (w * 2).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 2
    assert w.item() == pytest.approx(0.8)


class TestErrors:
    def test_no_parameters(self):
        with pytest.raises(ValueError, match="empty parameter list"):
            optim.SGD([], lr=0.1)

    def test_a_single_tensor(self):
        with pytest.raises(TypeError, match="should be an iterable of Tensors or dicts"):
            optim.SGD(nn.Parameter(ones(1)), lr=0.1)

    def test_something_that_is_not_a_tensor(self):
        with pytest.raises(TypeError, match="one of the params is int"):
            optim.SGD([3], lr=0.1)

    def test_a_computed_tensor(self):
        with pytest.raises(ValueError, match="can't optimize a non-leaf Tensor"):
            optim.SGD([nn.Parameter(ones(1)) * 2], lr=0.1)

    def test_one_parameter_in_two_groups(self):
        w = nn.Parameter(ones(1))
        with pytest.raises(ValueError, match="more than one parameter group"):
            optim.SGD([{"params": [w]}, {"params": [w]}], lr=0.1)

    @pytest.mark.parametrize(
        ("options", "message"),
        [({"lr": -1}, "Invalid learning rate: -1"), ({"momentum": -1}, "momentum"), ({"nesterov": True}, "Nesterov")],
    )
    def test_options_out_of_range(self, options, message):
        with pytest.raises(ValueError, match=message):
            optim.SGD([nn.Parameter(ones(1))], **options)

    def test_betas_out_of_range(self):
        with pytest.raises(ValueError, match="Invalid beta parameter at index 1: 1.0"):
            optim.Adam([nn.Parameter(ones(1))], betas=(0.9, 1.0))

    def test_a_state_of_other_groups(self):
        one, two = nn.Parameter(ones(1)), nn.Parameter(ones(1))
        state = optim.SGD([one, two], lr=0.1).state_dict()
        with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
            optim.SGD([one], lr=0.1).load_state_dict(state)
        with pytest.raises(ValueError, match="different number of parameter groups"):
            optim.SGD([{"params": [one]}, {"params": [two]}], lr=0.1).load_state_dict(state)
