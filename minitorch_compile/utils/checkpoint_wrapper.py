"""`torch.distributed.algorithms._checkpoint.checkpoint_wrapper`: layers whose forward pass is computed again.

A wrapped layer keeps its arguments instead of what it saves for the backward pass. The names in a state dict stay what
they were.

>>> from minitorch_compile import nn, ones
>>> model = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
>>> apply_activation_checkpointing(model, check_fn=lambda layer: isinstance(layer, nn.Linear))
>>> type(model[0]).__name__, list(model.state_dict())
('CheckpointWrapper', ['0.weight', '0.bias'])
>>> model(ones(1, 2)).sum().backward(); model[0].weight.grad.shape
torch.Size([2, 2])

It works in one process as it does in many.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any

from minitorch_compile.autograd.graph import save_on_cpu
from minitorch_compile.nn import Module
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.utils.checkpoint import checkpoint

PREFIX = "_checkpoint_wrapped_module."


class CheckpointImpl(Enum):
    """Which of the two ways to compute again: see utils.checkpoint."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class ActivationWrapper(Module, ABC):
    """A module that looks like the one it wraps."""

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        self._register_state_dict_hook(_without_prefix)
        self._register_load_state_dict_pre_hook(_with_prefix)

    @abstractmethod
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the wrapped module."""

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_checkpoint_wrapped_module"), name)

    def __getitem__(self, key: int) -> Any:
        wrapped: Any = self._checkpoint_wrapped_module
        return wrapped[key]

    def named_parameters(self, *args: Any, **kwargs: Any) -> Iterator[tuple[str, Parameter]]:
        """As those of the wrapped module."""
        for name, parameter in super().named_parameters(*args, **kwargs):
            yield name.replace(PREFIX, ""), parameter


def _without_prefix(module: Module, state: dict[str, Any], prefix: str, *_: Any) -> None:
    _replace(state, prefix + PREFIX, prefix)


def _with_prefix(state: dict[str, Any], prefix: str, *_: Any) -> None:
    _replace(state, prefix, prefix + PREFIX)


def _replace(state: dict[str, Any], old: str, new: str) -> None:
    """Names that begin with `old` begin with `new`."""
    for name in [name for name in state if name.startswith(old)]:
        state[new + name.removeprefix(old)] = state.pop(name)


class OffloadWrapper(ActivationWrapper):
    """A module whose saved tensors are moved to the CPU, where they are."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        with save_on_cpu(pin_memory=True):
            return self._checkpoint_wrapped_module(*args, **kwargs)


class CheckpointWrapper(ActivationWrapper):
    """A module that is run under utils.checkpoint, or `checkpoint_fn`."""

    def __init__(
        self,
        mod: Module,
        checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
        checkpoint_fn: Callable[..., Any] | None = None,
        **checkpoint_fn_kwargs: Any,
    ) -> None:
        super().__init__(mod)
        self.checkpoint_impl = checkpoint_impl
        if checkpoint_fn is None:
            reentrant = checkpoint_impl is CheckpointImpl.REENTRANT
            checkpoint_fn = functools.partial(checkpoint, use_reentrant=reentrant)
        self.checkpoint_fn = functools.partial(checkpoint_fn, **checkpoint_fn_kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        module = self._checkpoint_wrapped_module
        if self.checkpoint_impl is not CheckpointImpl.REENTRANT or not kwargs:
            return self.checkpoint_fn(module, *args, **kwargs)
        names = list(kwargs)  # the reentrant way takes arguments by position only

        def run(*given: Any) -> Any:
            return module(*given[: len(args)], **dict(zip(names, given[len(args) :])))

        return self.checkpoint_fn(run, *args, *kwargs.values())


def offload_wrapper(module: Module) -> OffloadWrapper:
    """The module, wrapped."""
    return OffloadWrapper(module)


def checkpoint_wrapper(
    module: Module,
    checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT,
    checkpoint_fn: Callable[..., Any] | None = None,
    **checkpoint_fn_kwargs: Any,
) -> CheckpointWrapper:
    """The module, wrapped. `checkpoint_fn` is called instead of utils.checkpoint; the rest are arguments of it."""
    return CheckpointWrapper(module, checkpoint_impl, checkpoint_fn, **checkpoint_fn_kwargs)


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda _: True,
    auto_wrap_policy: Callable[..., bool] | None = None,
) -> None:
    """Wraps the modules below `model` for which `check_fn` is true, in their places.

    auto_wrap_policy: asked instead, as `auto_wrap_policy(module=..., recurse=False, nonwrapped_numel=...)`, and with
    `recurse=True` whether to look below.
    """
    for name, child in list(model.named_children()):
        size = sum(parameter.numel() for parameter in child.parameters())

        def asked(recurse: bool, child: Module = child, size: int = size) -> bool:
            if auto_wrap_policy is None:
                return recurse or check_fn(child)
            return auto_wrap_policy(module=child, recurse=recurse, nonwrapped_numel=size)

        if asked(True):
            apply_activation_checkpointing(child, checkpoint_wrapper_fn, check_fn, auto_wrap_policy)
        if asked(False):
            setattr(model, name, checkpoint_wrapper_fn(child))
