"""Optimizer: the parameters in groups that share options, the state of each parameter, and the step.

>>> from minitorch_compile import nn, optim, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = optim.SGD([w], lr=0.1)
>>> (w * 3).sum().backward(); opt.step(); w.data
tensor([0.7000])
>>> opt.state_dict()["param_groups"][0]["params"]
[0]
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from minitorch_compile.tensor import Tensor, enable_grad, no_grad

Group = dict[str, Any]


class Optimizer:
    """Base class. A subclass gives the defaults of its options and defines `update(group, params)`.

    `param_groups` is a list of dicts: "params" and the options. `state` has a dict for each parameter that was stepped.
    """

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got"
                f" {type(params).__name__}; pass [tensor]"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with options of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        params = [p[1] if isinstance(p, tuple) else p for p in params]  # named_parameters() will do as well
        self._check_params(params)
        self.param_groups.append({**self.defaults, **param_group, "params": params})

    def _check_params(self, params: list[Any]) -> None:
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor; optimize the leaf that it was computed from")
        if len({id(p) for p in params}) != len(params):
            warnings.warn("optimizer contains a parameter group with duplicate parameters", stacklevel=3)
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")

    # -------------------------------------------------------------------------------------------- stepping

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter that has a gradient. A `closure` computes the loss anew; its result is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with no_grad():
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                if params:
                    self.update(group, params)
        return loss

    def update(self, group: Group, params: list[Tensor]) -> None:
        """Steps the parameters of one group, all of which have gradients."""
        raise NotImplementedError(f"{type(self).__name__}: define update(group, params)")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops all gradients, or fills them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.grad = None if set_to_none else p.grad.detach().zero_()

    # -------------------------------------------------------------------------------------------- saving

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters numbered in order: PyTorch's format."""
        params = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(params)}
        groups = [{**group, "params": [number[id(p)] for p in group["params"]]} for group in self.param_groups]
        return {"state": {number[id(p)]: self.state[p] for p in params if p in self.state}, "param_groups": groups}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over state and options. ValueError if the groups don't match in number and size."""
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(new["params"]) != len(group["params"]) for new, group in zip(saved, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {
            number: p
            for new, group in zip(saved, self.param_groups, strict=True)
            for number, p in zip(new["params"], group["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            self.state[params[number]] = deepcopy(values)
        self.param_groups = [
            {**deepcopy({k: v for k, v in new.items() if k != "params"}), "params": group["params"]}
            for new, group in zip(saved, self.param_groups, strict=True)
        ]

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def check_option(name: str, value: Any, ok: bool) -> None:
    """ValueError, in PyTorch's words, for an option out of range."""
    if not ok:
        raise ValueError(f"Invalid {name}: {value}")


def store(params: list[Tensor], new_params: list[Tensor]) -> None:
    """Writes the updated values into the parameters."""
    for p, new in zip(params, new_params, strict=True):
        p.copy_(new)
