"""Hooks of an optimizer: around its step, and around saving and loading its state.

>>> from minitorch_compile import nn, ones, optim
>>> opt = optim.SGD([nn.Parameter(ones(1))], lr=0.1)
>>> handle = opt.register_step_post_hook(lambda optimizer, args, kwargs: print("stepped"))
>>> opt.step()
stepped
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.removable_handle import RemovableHandle

Hook = Callable[..., Any]
NAMES = ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_state_dict_pre", "load_state_dict_post")

_global_hooks: dict[str, dict[int, Hook]] = {"step_pre": {}, "step_post": {}}


def _register(hooks: dict[int, Hook], hook: Hook, prepend: bool = False) -> RemovableHandle:
    handle = RemovableHandle(hooks)
    others = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[handle.id] = hook
    hooks.update(others)
    return handle


def register_optimizer_step_pre_hook(hook: Hook) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs before every step of every optimizer."""
    return _register(_global_hooks["step_pre"], hook)


def register_optimizer_step_post_hook(hook: Hook) -> RemovableHandle:
    """`hook(optimizer, args, kwargs)` runs after every step of every optimizer."""
    return _register(_global_hooks["step_post"], hook)


class OptimizerHooks:
    """The registering half of Optimizer. Every hook gets the optimizer first; each `register_...` returns a handle."""

    hooks: dict[str, dict[int, Hook]] = {}  # of a subclass whose __init__ doesn't call this one's

    def __init__(self) -> None:
        self.hooks = {name: {} for name in NAMES}

    def register_step_pre_hook(self, hook: Hook) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs before `step`; it may return new (args, kwargs)."""
        return _register(self.hooks["step_pre"], hook)

    def register_step_post_hook(self, hook: Hook) -> RemovableHandle:
        """`hook(optimizer, args, kwargs)` runs after `step`."""
        return _register(self.hooks["step_post"], hook)

    def register_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs before `state_dict`."""
        return _register(self.hooks["state_dict_pre"], hook, prepend)

    def register_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` runs on the result of `state_dict`, and may return another."""
        return _register(self.hooks["state_dict_post"], hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer, state_dict)` runs before loading, and may return another dict to load."""
        return _register(self.hooks["load_state_dict_pre"], hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """`hook(optimizer)` runs after loading."""
        return _register(self.hooks["load_state_dict_post"], hook, prepend)

    # -------------------------------------------------------------------------------------------- running them

    def has_step_hooks(self) -> bool:
        """Whether anything is to run around a step: not around that of an optimizer that only passes it on."""
        own = self.hooks
        if not own:
            return False
        return bool(own["step_pre"] or own["step_post"] or _global_hooks["step_pre"] or _global_hooks["step_post"])

    def _before_step(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        for hook in [*_global_hooks["step_pre"].values(), *self.hooks["step_pre"].values()]:
            replacement = hook(self, args, kwargs)
            if replacement is not None:
                if not (isinstance(replacement, tuple) and len(replacement) == 2):
                    raise RuntimeError(
                        "step must return None or a tuple of (new_args, new_kwargs), but a step_pre_hook returned"
                        f" {replacement}."
                    )
                args, kwargs = replacement
        return args, kwargs

    def _after_step(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        for hook in [*self.hooks["step_post"].values(), *_global_hooks["step_post"].values()]:
            hook(self, args, kwargs)

    def _call_hooks(self, name: str) -> None:
        for hook in list(self.hooks[name].values()):
            hook(self)

    def _changed_by_hooks(self, name: str, state_dict: dict[str, Any]) -> dict[str, Any]:
        for hook in list(self.hooks[name].values()):
            replacement = hook(self, state_dict)
            if replacement is not None:
                state_dict = replacement
        return state_dict
