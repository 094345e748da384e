"""What the optimizers and schedules are compared on: programs that run on this package and on PyTorch alike.

`python tests/optim/record.py`, where PyTorch is installed, writes what they give there to recorded.json.
"""

from __future__ import annotations

from typing import Any

STEPS = 20

# (class, options): each is run for 20 steps in float64.
OPTIMIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "sgd": ("SGD", {"lr": 0.01}),
    "sgd momentum": ("SGD", {"lr": 0.01, "momentum": 0.9, "dampening": 0.3, "weight_decay": 0.1}),
    "sgd nesterov": ("SGD", {"lr": 0.01, "momentum": 0.5, "nesterov": True, "weight_decay": 0.1}),
    "adam": ("Adam", {"lr": 0.1}),
    "adam decay": ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1, "amsgrad": True, "eps": 1e-3}),
    "adam decoupled": ("Adam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    "adamw": ("AdamW", {"lr": 0.1}),
    "adamw amsgrad": ("AdamW", {"lr": 0.1, "weight_decay": 0.5, "amsgrad": True}),
    "sgd maximize": ("SGD", {"lr": 1e-5, "maximize": True}),
    "rmsprop": ("RMSprop", {}),
    "rmsprop centered": ("RMSprop", {"alpha": 0.9, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    "rmsprop momentum": ("RMSprop", {"momentum": 0.5, "maximize": True, "eps": 1e-2}),
    "adagrad": ("Adagrad", {"lr": 0.1}),
    "adagrad decay": ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1, "initial_accumulator_value": 0.5}),
    "adadelta": ("Adadelta", {}),
    "adadelta decay": ("Adadelta", {"lr": 3.0, "rho": 0.8, "weight_decay": 0.1, "eps": 1e-3}),
    "adamax": ("Adamax", {"lr": 0.1}),
    "adamax decay": ("Adamax", {"lr": 0.1, "weight_decay": 0.1, "betas": (0.5, 0.8)}),
    "nadam": ("NAdam", {"lr": 0.1}),
    "nadam decay": ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "momentum_decay": 0.1}),
    "nadam decoupled": ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "radam": ("RAdam", {"lr": 0.01}),
    "radam decay": ("RAdam", {"lr": 0.01, "betas": (0.8, 0.9), "weight_decay": 0.1}),
    "radam decoupled": ("RAdam", {"lr": 0.01, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    "asgd": ("ASGD", {}),
    "asgd average": ("ASGD", {"lr": 0.02, "lambd": 0.1, "t0": 5.0, "weight_decay": 0.1}),
    "rprop": ("Rprop", {}),
    "rprop bounds": ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (1e-2, 0.2)}),
    "lbfgs": ("LBFGS", {"lr": 0.1, "max_iter": 2}),
    "lbfgs history": ("LBFGS", {"lr": 0.2, "max_iter": 3, "history_size": 2}),
    "lbfgs wolfe": ("LBFGS", {"max_iter": 4, "line_search_fn": "strong_wolfe"}),
    "lbfgs wolfe far": ("LBFGS", {"lr": 30.0, "max_iter": 3, "line_search_fn": "strong_wolfe", "history_size": 3}),
}

# (class, arguments): the rates, and for the cyclic ones momenta, of 20 epochs.
SCHEDULES: dict[str, tuple[str, dict[str, Any]]] = {
    "lambda": ("LambdaLR", {"lr_lambda": lambda epoch: 1 / (1 + epoch)}),
    "multiplicative": ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.5 + 0.02 * epoch}),
    "step": ("StepLR", {"step_size": 3, "gamma": 0.5}),
    "multi step": ("MultiStepLR", {"milestones": [2, 7, 7, 15], "gamma": 0.3}),
    "constant": ("ConstantLR", {"factor": 0.25, "total_iters": 4}),
    "linear": ("LinearLR", {"start_factor": 0.2, "end_factor": 0.9, "total_iters": 6}),
    "exponential": ("ExponentialLR", {"gamma": 0.8}),
    "polynomial": ("PolynomialLR", {"total_iters": 8, "power": 1.7}),
    "cosine": ("CosineAnnealingLR", {"T_max": 6, "eta_min": 0.05}),
    "restarts": ("CosineAnnealingWarmRestarts", {"T_0": 3, "T_mult": 2, "eta_min": 0.01}),
    "restarts even": ("CosineAnnealingWarmRestarts", {"T_0": 4}),
    "cyclic": ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 3, "step_size_down": 5}),
    "cyclic halving": ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 2, "mode": "triangular2"}),
    "cyclic falling": (
        "CyclicLR",
        {"base_lr": 0.1, "max_lr": 0.5, "step_size_up": 4, "mode": "exp_range", "gamma": 0.9, "cycle_momentum": False},
    ),
    "one cycle": ("OneCycleLR", {"max_lr": 1.0, "total_steps": 25}),
    "one cycle in three": (
        "OneCycleLR",
        {"max_lr": 1.0, "epochs": 5, "steps_per_epoch": 5, "three_phase": True, "anneal_strategy": "linear"},
    ),
}


def loss_of(x: Any, y: Any, weights: Any, step: int) -> Any:
    """A loss that is neither quadratic nor the same at every step."""
    return ((x - 0.5) ** 4 * weights).sum() * (1 + 0.05 * step) + (y * x.sum()).sin().sum() + (y**2).sum()


def parameters(torch: Any) -> tuple[list[Any], Any]:
    """Two parameters, of sizes [3] and [1, 1], and the constants of the loss."""
    x = torch.tensor([1.0, -2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([[0.5]], dtype=torch.float64, requires_grad=True)
    return [x, y], torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)


def run_optimizer(torch: Any, cls: str, options: dict[str, Any]) -> tuple[list[list[float]], Any]:
    """The parameters after each of 20 steps, and the optimizer."""
    (x, y), weights = parameters(torch)
    optimizer = getattr(torch.optim, cls)([x, y], **options)
    seen = []
    for step in range(STEPS):

        def closure(step: int = step) -> Any:
            optimizer.zero_grad()
            loss = loss_of(x, y, weights, step)
            loss.backward()
            return loss

        if cls == "LBFGS":
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
        seen.append([*x.tolist(), *y.flatten().tolist()])
    return seen, optimizer


def run_schedule(torch: Any, cls: str, options: dict[str, Any]) -> list[list[float]]:
    """Rate and momentum of two groups in each of 20 epochs."""
    one, two = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [one]}, {"params": [two], "lr": 0.3}], lr=0.5, momentum=0.9)
    schedule = getattr(torch.optim.lr_scheduler, cls)(optimizer, **options)
    return _rates(optimizer, schedule)


def _rates(optimizer: Any, schedule: Any) -> list[list[float]]:
    seen = []
    for _ in range(STEPS):
        seen.append([value for group in optimizer.param_groups for value in (group["lr"], group["momentum"])])
        optimizer.step()
        schedule.step()
    return seen


def run_composed(torch: Any, kind: str) -> list[list[float]]:
    """The same for schedules made of schedules."""
    lr = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    if kind == "sequential":
        parts = [lr.LinearLR(optimizer, 0.1, 1.0, 4), lr.CosineAnnealingLR(optimizer, 8), lr.StepLR(optimizer, 2, 0.5)]
        return _rates(optimizer, lr.SequentialLR(optimizer, parts, milestones=[4, 12]))
    parts = [lr.ConstantLR(optimizer, 0.1, 2), lr.ExponentialLR(optimizer, 0.9), lr.MultiStepLR(optimizer, [5], 0.5)]
    return _rates(optimizer, lr.ChainedScheduler(parts))


PLATEAUS: dict[str, dict[str, Any]] = {
    "rel": {"patience": 1, "factor": 0.5, "threshold": 0.1},
    "abs max": {"patience": 0, "mode": "max", "threshold_mode": "abs", "threshold": 0.5, "cooldown": 2},
    "floor": {"patience": 0, "factor": 0.1, "min_lr": [0.02, 0.3]},
}
METRICS = [5.0, 4.0, 3.9, 3.9, 3.8, 2.0, 2.5, 1.0, 1.2, 1.3, 0.0, 0.1, -1.0, -1.05, -0.9, -2.0, -2.0, 3.0, 3.0, 3.0]


def run_plateau(torch: Any, options: dict[str, Any]) -> list[list[float]]:
    """The rates of two groups after each number."""
    one, two = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [one]}, {"params": [two], "lr": 0.3}], lr=0.5)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
    seen = []
    for metric in METRICS:
        schedule.step(metric)
        seen.append([group["lr"] for group in optimizer.param_groups])
    return seen


def layout(optimizer: Any) -> dict[str, Any]:
    """The keys of the state dict, in order, and what kind of value each state entry is."""
    saved = optimizer.state_dict()
    state = saved["state"].get(0, {})
    return {
        "options": [key for key in saved["param_groups"][0] if key != "params"],
        "state": {key: getattr(value, "ndim", 0) for key, value in state.items()},
    }


def swa(torch: Any) -> list[float]:
    """Rates of SWALR, then the averaged weights of a model that moves."""
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=1.0, momentum=0.9)
    schedule = torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.1, anneal_epochs=4)
    rates = [row[0] for row in _rates(optimizer, schedule)]
    utils, model = torch.optim.swa_utils, torch.nn.Linear(1, 1)
    for average in (utils.AveragedModel(model), utils.AveragedModel(model, avg_fn=utils.get_ema_avg_fn(0.8))):
        for value in (1.0, 3.0, -2.0):
            model.weight.data.fill_(value)
            average.update_parameters(model)
        rates.append(average.module.weight.item())
    return rates
