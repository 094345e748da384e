"""An optimizer that is an update rule, applied to each parameter by itself. All but LBFGS are.

>>> from minitorch_compile import nn, optim, tensor
>>> w = nn.Parameter(tensor([1.0]))
>>> opt = optim.RMSprop([w], lr=0.1)
>>> (w * 2).sum().backward(); opt.step(); opt.state[w]["step"], opt.state[w]["square_avg"]
(tensor(1.), tensor([0.0400]))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from minitorch_compile.control import as_graph_input, is_compiling, made_before
from minitorch_compile.optim.functional.update_rule import UpdateRule
from minitorch_compile.optim.fused import is_fused
from minitorch_compile.optim.optimizer import Group, Optimizer, check_option, store
from minitorch_compile.optim.overwrite import overwrite
from minitorch_compile.tensor import Tensor, tensor
from minitorch_compile.tensor.ops import full_like


class RuleOptimizer(Optimizer):
    """Base class. A subclass names its `rule`, the NamedTuple `state_class` that the rule takes, and those `options` of
    a group that are arguments of the rule, as pairs of both names where these differ.

    `native` is the rule as a native call for all parameters of a group (`fused.py`): it writes to parameters and
    states, and returns the states with their new counters.

    `counters` are the state values that are 0-d tensors, as PyTorch keeps them, but numbers to the rule; with
    `capturable`, and in a compiled function, the rule gets tensors, so that a step is the same program every time.
    """

    rule: ClassVar[UpdateRule]
    state_class: ClassVar[Any]
    options: ClassVar[tuple[str | tuple[str, str], ...]]
    counters: ClassVar[tuple[str, ...]] = ("step",)
    asked_for: ClassVar[dict[str, str]] = {}  # by option, the state value that exists from the first step on with it
    native: ClassVar[Callable[..., list[Any]] | None] = None

    def __init__(self, params: Iterable[Any], defaults: Group) -> None:
        self._check(defaults)
        super().__init__(params, defaults)

    def _check(self, defaults: Group) -> None:
        lr = defaults["lr"]
        if isinstance(lr, Tensor):
            if lr.numel() != 1:
                raise ValueError("Tensor lr must be 1-element")
            if defaults.get("foreach") and not defaults.get("capturable"):
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        for name, (what, least) in NOT_BELOW.items():
            if name in defaults:
                check_option(what, defaults[name], least <= defaults[name])
        for i, beta in enumerate(defaults.get("betas", ())):
            check_option(f"beta parameter at index {i}", beta, 0 <= beta < 1)
        if defaults.get("fused"):
            if defaults.get("differentiable"):
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults.get("foreach"):
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def initial_state(self, p: Tensor, group: Group) -> dict[str, Any]:
        """The state of a parameter before its first step."""
        raise NotImplementedError(f"{type(self).__name__}: define initial_state(p, group)")

    def counter(self, p: Tensor, group: Group, value: float = 0.0) -> Tensor:
        """A number as a 0-d tensor of the state: beside a parameter on a device where a step has to be the same program
        every time, else in main memory, where it is read."""
        if p.is_cuda and (is_compiling() or group.get("capturable")):
            return tensor(float(value), device=p.device)
        return tensor(float(value))

    def has_native(self, group: Group) -> bool:
        """Whether `native` knows the options of a group."""
        return type(self).native is not None

    def update(self, group: Group, params: list[Tensor]) -> None:
        rule, native = type(self).rule, type(self).native
        if native is not None and self.has_native(group) and is_fused(group, params):
            self._update_natively(native, group, params)
            return
        if is_compiling():
            made_before(self.begin_states, group, params)
        states = [self.state_of(p, group) for p in params]
        new_params, new_states = rule(params, [p.grad for p in params], states, **self.rule_options(group))
        store(params, new_params)
        for p, new in zip(params, new_states, strict=True):
            self._remember(p, new)

    def _update_natively(self, native: Any, group: Group, params: list[Tensor]) -> None:
        plain = {**group, "capturable": False}
        states = [self.state_of(p, plain) for p in params]
        new_states = native(params, [p.grad for p in params], states, **self.rule_options(group))
        for p, new in zip(params, new_states, strict=True):
            for name in self.counters:
                overwrite(self.state[p][name], getattr(new, name))

    def begin_states(self, group: Group, params: list[Tensor]) -> bool:
        """Makes the states as a compiled step has them, where it would have to; whether there were such."""
        if type(self).initial_state is RuleOptimizer.initial_state:  # they begin as what the first step makes
            return False
        changed = False
        for p in params:
            state = self.state[p]
            if not state:
                state.update(self.initial_state(p, group))
                changed = True
            for name in self.counters:
                if p.is_cuda and isinstance(state[name], Tensor) and state[name].is_cpu:
                    state[name] = state[name].to(p.device)
                    changed = True
        return changed

    def rule_options(self, group: Group) -> dict[str, Any]:
        """The options of a group as the rule's keyword arguments."""
        pairs = [(name, name) if isinstance(name, str) else name for name in self.options]
        values = {argument: group[name] for name, argument in pairs}
        if is_compiling():
            values["lr"] = as_graph_input(values["lr"])
        return values

    def state_of(self, p: Tensor, group: Group) -> Any:
        """The state of a parameter as the rule takes it."""
        state = self.state[p]
        if not state:
            state.update(self.initial_state(p, group))
        for option, name in self.asked_for.items():
            if group.get(option) and name not in state:
                raise KeyError(f"{name}: {option!r} was off at the first step; make a new optimizer with it")
        for name in self.counters:
            if not isinstance(state[name], Tensor):  # loaded from a state dict of long ago
                state[name] = self.counter(p, group, state[name])
            if (is_compiling() or group.get("capturable")) and p.is_cuda and state[name].is_cpu:
                state[name] = state[name].to(p.device)  # or each step would wait for the device
        values: dict[str, Any] = {name: state.get(name) for name in self.state_class._fields}
        if not group.get("capturable"):
            for name in self.counters:
                # In a compiled step a tensor, of float64 as Python's numbers are: the same program at every step.
                values[name] = values[name].double() if is_compiling() else float(values[name])
        return self.state_class(**values)

    def _remember(self, p: Tensor, new: Any) -> None:
        state = self.state[p]
        for name, value in zip(new._fields, new, strict=True):
            if isinstance(state.get(name), Tensor):
                overwrite(state[name], value)
            elif value is not None:
                # A rule may keep the gradient itself, which zero_grad would overwrite.
                state[name] = value.clone() if value is p.grad else value


NOT_BELOW = {
    "lr": ("learning rate", 0),
    "momentum": ("momentum value", 0),
    "eps": ("epsilon value", 0),
    "weight_decay": ("weight_decay value", 0),
    "lr_decay": ("lr_decay value", 0),
    "momentum_decay": ("momentum_decay value", 0),
    "initial_accumulator_value": ("initial_accumulator_value value", 0),
    "alpha": ("alpha value", 0),
}


def filled_like(p: Tensor, value: float) -> Tensor:
    """A state tensor of that value, in both parts if the parameter is complex."""
    return full_like(p, complex(value, value) if p.is_complex() else float(value))
