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

import functools
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from copy import deepcopy
from typing import Any

from minitorch_compile.control import is_compiling
from minitorch_compile.frame_marks import entry_point
from minitorch_compile.optim.optimizer_helpers import (  # noqa: F401  where PyTorch has them
    _default_to_fused_or_foreach,
    _get_capturable_supported_devices,
    _get_scalar_dtype,
    _get_value,
    _group_tensors_by_device_and_dtype,
    _stack_if_compiling,
    _use_grad_for_differentiable,
    _view_as_real,
)
from minitorch_compile.optim.optimizer_hooks import (
    OptimizerHooks,
)
from minitorch_compile.optim.optimizer_hooks import (
    register_optimizer_step_post_hook as register_optimizer_step_post_hook,
)
from minitorch_compile.optim.optimizer_hooks import (
    register_optimizer_step_pre_hook as register_optimizer_step_pre_hook,
)
from minitorch_compile.optim.overwrite import overwrite
from minitorch_compile.optim.sparse_gradients import step_sparse
from minitorch_compile.profiler.record_function import record_function
from minitorch_compile.profiler.recorder import active
from minitorch_compile.tensor import Tensor, enable_grad, set_grad_enabled
from minitorch_compile.user_warnings import warn_user

Group = dict[str, Any]
ParamsT = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]


class _RequiredParameter:
    """Stands for a default that there isn't."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


def with_step_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A `step` with the hooks around it: those before may replace its arguments."""

    @entry_point
    @functools.wraps(step)
    def hooked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_compiling() and active:  # a profiler is at work
            name = type(self).__name__
            with record_function(f"Optimizer.step#{name}.step"):
                return with_hooks(self, *args, **kwargs)
        return with_hooks(self, *args, **kwargs)

    def with_hooks(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self.has_step_hooks():
            return step(self, *args, **kwargs)
        args, kwargs = self._before_step(args, kwargs)
        result = step(self, *args, **kwargs)
        self._after_step(args, kwargs)
        return result

    return hooked


CANNOT_BE_CAPTURED = (
    "it counts its steps on the host, so that each launch would repeat this one; compile the step instead, with"
    " torch.compile(mode='reduce-overhead')."
)


class Optimizer(OptimizerHooks):
    """Base class. A subclass gives the defaults of its options and defines `update(group, params)`, or `step` itself.

    `params`: tensors, or (name, tensor) pairs, or dicts with "params" and options of their own. `param_groups` is a
    list of dicts: "params" and all options. `state` has a dict for each parameter that was stepped. `defaults`: a dict
    of the options and what they are where a group says nothing.

    >>> class Descent(torch.optim.Optimizer):
    ...     def __init__(self, params, lr):
    ...         super().__init__(params, {"lr": lr})
    >>> Descent([torch.nn.Parameter(torch.ones(1))], lr=0.5).param_groups[0]["lr"]
    0.5
    """

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)

    def __init__(self, params: ParamsT, defaults: Group) -> None:
        super().__init__()
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got"
                f" {type(params).__name__}; pass [tensor]"
            )
        self.defaults = defaults
        self.state: defaultdict[Tensor, dict[str, Any]] = defaultdict(dict)
        self.param_groups: list[Group] = []
        groups: list[Any] = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls, **options: Any) -> None:
        """A subclass's own `step` gets the hooks around it as well."""
        super().__init_subclass__(**options)
        if "step" in cls.__dict__:
            cls.step = with_step_hooks(cls.__dict__["step"])  # type: ignore[method-assign]

    def add_param_group(self, param_group: Group) -> None:
        """Adds parameters with options of their own: {"params": ..., "lr": ...}."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        params = param_group["params"]
        if isinstance(params, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets"
                " will change between runs. Please use a list instead."
            )
        params = [params] if isinstance(params, Tensor) else list(params)
        names = [p[0] for p in params if isinstance(p, tuple)]
        if names and len(names) != len(params):
            raise ValueError("all optimizer params should be with/without names. Some param names are missing")
        params = [p[1] if isinstance(p, tuple) else p for p in params]
        self._check_params(params)
        group = {**{k: v for k, v in param_group.items() if k != "params"}, "params": params}
        if names:
            group["param_names"] = names
        for name, default in self.defaults.items():
            if default is required and name not in group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            group.setdefault(name, default)
        self.param_groups.append(group)

    def _check_params(self, params: list[Any]) -> None:
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p).__name__}")
            if not p.is_leaf and not self.defaults.get("differentiable"):
                raise ValueError("can't optimize a non-leaf Tensor; optimize the leaf that it was computed from")
        if len({id(p) for p in params}) != len(params):
            warn_user("optimizer contains a parameter group with duplicate parameters")
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if any(id(p) in known for p in params):
            raise ValueError("some parameters appear in more than one parameter group")

    # -------------------------------------------------------------------------------------------- stepping

    @with_step_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates every parameter that has a gradient. A `closure` computes the loss anew, with its gradients; its
        result is returned, else None.

        >>> w = torch.nn.Parameter(torch.tensor([1.0]))
        >>> (3 * w).backward()
        >>> torch.optim.SGD([w], lr=0.1).step()
        >>> w.data
        tensor([0.7000])
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        with set_grad_enabled(bool(self.defaults.get("differentiable"))):
            for group in self.param_groups:
                params = [p for p in group["params"] if p.grad is not None]
                if params and not is_compiling():
                    self._check_recording(group, params[0])
                    if any(p.grad.is_sparse_layout for p in params):
                        params = step_sparse(self, group, params)
                if params:
                    self.update(group, params)
        return loss

    def _check_recording(self, group: Group, p: Tensor) -> None:
        """RuntimeError for a step whose numbers change from one to the next, but would be recorded as they are now."""
        block = p.storage.block
        if block is None or not block.allocator.is_recording or not self.steps_differ(group):
            return
        if block.runtime.driver.is_capturing(block.runtime.current_stream(block.index)):
            raise RuntimeError(
                f"Attempting CUDA graph capture of step() for an instance of {type(self).__name__} but "
                + ("param_groups' capturable is False." if "capturable" in group else CANNOT_BE_CAPTURED)
            )

    def steps_differ(self, group: Group) -> bool:
        """Whether a step computes with numbers of Python's that are others in the next one."""
        return not group.get("capturable", True)

    def update(self, group: Group, params: list[Tensor]) -> None:
        """Steps the parameters of one group, all of which have gradients."""
        raise NotImplementedError(f"{type(self).__name__}: define update(group, params)")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops all gradients, or fills them with zeros."""
        for group in self.param_groups:
            for p in group["params"]:
                if set_to_none:  # whatever was there: so a compiled step needn't know
                    p.grad = None
                elif p.grad is not None:
                    p.grad.detach_()
                    p.grad.zero_()

    # -------------------------------------------------------------------------------------------- saving

    def state_dict(self) -> dict[str, Any]:
        """State and options, with parameters numbered in order: PyTorch's format."""
        self._call_hooks("state_dict_pre")
        params = [p for group in self.param_groups for p in group["params"]]
        number = {id(p): i for i, p in enumerate(params)}
        groups = [
            {**{k: v for k, v in group.items() if k != "params"}, "params": [number[id(p)] for p in group["params"]]}
            for group in self.param_groups
        ]
        state = {number[id(p)] if isinstance(p, Tensor) else p: values for p, values in self.state.items()}
        return self._changed_by_hooks("state_dict_post", {"state": state, "param_groups": groups})

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes over state and options. ValueError if the groups don't match in number and size."""
        state_dict = self._changed_by_hooks("load_state_dict_pre", dict(state_dict))
        saved = state_dict["param_groups"]
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any(len(new["params"]) != len(group["params"]) for new, group in zip(saved, self.param_groups, strict=True)):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params: dict[Hashable, tuple[Tensor, Group]] = {
            number: (p, new)
            for new, group in zip(saved, self.param_groups, strict=True)
            for number, p in zip(new["params"], group["params"], strict=True)
        }
        self.state = defaultdict(dict)
        for number, values in state_dict["state"].items():
            if number in params:
                p, options = params[number]
                self.state[p] = {key: _like_the_parameter(p, key, value, options) for key, value in values.items()}
            else:
                self.state[number] = deepcopy(values)
        self.param_groups = [_loaded_group(new, group) for new, group in zip(saved, self.param_groups, strict=True)]
        self.__setstate__({})
        self._call_hooks("load_state_dict_post")

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restores what was pickled; groups saved by an older version get the options that they lack."""
        self.__dict__.update(state)
        if "hooks" not in self.__dict__:
            OptimizerHooks.__init__(self)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    def __repr__(self) -> str:
        lines = [type(self).__name__ + " ("]
        for i, group in enumerate(self.param_groups):
            lines += ["", f"Parameter Group {i}"] if i else [f"Parameter Group {i}"]
            lines += [f"    {key}: {group[key]}" for key in sorted(group) if key != "params"]
        return "\n".join([*lines, ")"])


def _like_the_parameter(p: Tensor, key: str, value: Any, options: Group) -> Any:
    """A loaded state value: tensors in the parameter's dtype, but the step count stays float32."""
    if isinstance(value, Tensor):
        if key != "step" and p.dtype.is_floating_point:
            return value.detach().to(p.dtype, copy=True)
        return value.detach().clone()
    if isinstance(value, dict):
        return {k: _like_the_parameter(p, k, v, options) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_like_the_parameter(p, key, v, options) for v in value)
    return deepcopy(value)


def _loaded_group(new: Group, group: Group) -> Group:
    """The saved options with the parameters that are here; names are those here, if there are any."""
    loaded = {**deepcopy({k: v for k, v in new.items() if k not in ("params", "param_names")})}
    if "param_names" in group:
        loaded["param_names"] = group["param_names"]
    return {**loaded, "params": group["params"]}


def check_option(name: str, value: Any, ok: bool) -> None:
    """ValueError, in PyTorch's words, for an option out of range."""
    if not ok:
        raise ValueError(f"Invalid {name}: {value}")


def store(params: list[Tensor], new_params: list[Tensor]) -> None:
    """Writes the updated values into the parameters."""
    for p, new in zip(params, new_params, strict=True):
        overwrite(p, new)
