"""Hooks on all modules at once, for debugging and profiling, and on what modules register.

They run before a module's own.

>>> from minitorch_compile import nn, ones
>>> handle = register_module_forward_hook(lambda module, args, output: print(type(module).__name__))
>>> _ = nn.Sequential(nn.Linear(2, 2), nn.ReLU())(ones(2))
Linear
ReLU
Sequential
>>> handle.remove()
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from minitorch_compile.autograd.hooks import RemovableHandle
from minitorch_compile.nn.hooks import Hooks, ModuleHooks

Hook = Callable[..., Any]

EVERY_MODULE = ModuleHooks()  # those that take part in every module's call
ON_REGISTRATION: dict[str, Hooks] = {kind: OrderedDict() for kind in ("_parameters", "_buffers", "_modules")}

# Whether there was ever one of either kind. A call and an assignment ask only this, and so do a compiled call's guards.
in_calls = False
at_registrations = False


def registered(module: Any, kind: str, name: str, value: Any) -> Any:
    """What is kept under a name of `module`, as the hooks on registrations leave it."""
    for hook in ON_REGISTRATION[kind].values():
        replacement = hook(module, name, value)
        value = value if replacement is None else replacement
    return value


def hooks_of_call(own: ModuleHooks | None) -> ModuleHooks:
    """All hooks of one call: those of every module, and the `own` ones of the one that is called."""
    return EVERY_MODULE if own is None else EVERY_MODULE.followed_by(own)


def _in_calls(hooks: Hooks, hook: Hook, with_kwargs: bool = False, always_call: bool = False) -> RemovableHandle:
    global in_calls
    in_calls = True
    return EVERY_MODULE.add(hooks, hook, False, with_kwargs, always_call)


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, args)` runs before every module's forward; what it returns, if not None, becomes the arguments."""
    return _in_calls(EVERY_MODULE.forward_pre, hook)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """`hook(module, args, output)` runs after every module's forward; what it returns, if not None, becomes the output.

    `with_kwargs`: `hook(module, args, kwargs, output)`. `always_call`: also if forward raises.
    """
    return _in_calls(EVERY_MODULE.forward, hook, with_kwargs, always_call)


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, grad_output)` runs before the gradients of any module's inputs are computed."""
    return _in_calls(EVERY_MODULE.backward_pre, hook)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, grad_input, grad_output)` runs when the gradients of any module's inputs are known."""
    return _on_backward(hook, full=True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """Deprecated: `hook(module, grad_input, grad_output)` gets the gradients of one node, the last of any forward."""
    return _on_backward(hook, full=False)


def _on_backward(hook: Hook, full: bool) -> RemovableHandle:
    global in_calls
    in_calls = True
    return EVERY_MODULE.add_backward(hook, full, False, "as a global Module hook")


def _at_registrations(kind: str, hook: Hook) -> RemovableHandle:
    global at_registrations
    at_registrations = True
    handle = RemovableHandle(ON_REGISTRATION[kind])
    ON_REGISTRATION[kind][handle.id] = hook
    return handle


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, buffer)` runs when a module gets a buffer; what it returns, if not None, is kept."""
    return _at_registrations("_buffers", hook)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, child)` runs when a module gets a child; what it returns, if not None, is kept."""
    return _at_registrations("_modules", hook)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """`hook(module, name, param)` runs when a module gets a parameter; what it returns, if not None, is kept."""
    return _at_registrations("_parameters", hook)
