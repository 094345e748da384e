"""Module: a piece of a model, which holds its parameters and says in `forward` what it computes.

>>> from minitorch_compile import nn, ones
>>> class Scale(nn.Module):
...     def __init__(self, n):
...         super().__init__()
...         self.factor = nn.Parameter(ones(n) * 2)
...     def forward(self, x):
...         return x * self.factor
>>> Scale(3)(ones(3)), len(list(Scale(3).parameters()))
(tensor([2., 2., 2.], grad_fn=<MulBackward0>), 1)
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, TypeVar

from minitorch_compile.frame_marks import entry_point
from minitorch_compile.nn import global_hooks
from minitorch_compile.nn.compiler_slot import COMPILED_BEFORE, registered_compiler
from minitorch_compile.nn.global_hooks import (
    EVERY_MODULE,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)
from minitorch_compile.nn.hooks import ModuleHooks, RemovableHandle
from minitorch_compile.nn.module_conversion import ModuleConversion
from minitorch_compile.nn.module_html import to_html
from minitorch_compile.nn.module_state import _EXTRA_STATE_KEY_SUFFIX, ModuleState, _IncompatibleKeys  # noqa: F401  as there
from minitorch_compile.nn.module_tree import ModuleTree

AnyModule = TypeVar("AnyModule", bound="Module")


def _hooks_named(kind: str) -> Any:
    """PyTorch's name for the hooks of one kind, for programs that look for one, clear or count them."""

    def get(self: Module) -> Any:
        return getattr(self._hooks(), kind)

    def set(self: Module, hooks: dict[int, Any]) -> None:
        get(self).clear()
        get(self).update(hooks)

    return property(get, set)


class Module(ModuleConversion, ModuleState):
    """Base class of all layers and models. A subclass calls `super().__init__()` first and defines `forward`; modules
    and parameters that it assigns to attributes are found by `parameters()` and `state_dict()`. Called, it runs
    `forward` and its hooks.

    >>> class Twice(torch.nn.Module):
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Twice()(torch.ones(2))
    tensor([2., 2.])
    """

    # None until the first hook is registered, so that a call, and a compiled call's guards, ask only one question. A
    # module whose __init__ never called this class's finds this one, and can be called all the same.
    _module_hooks: ModuleHooks | None = None
    dump_patches = False  # of old versions, which some programs set
    call_super_init = False  # True hands the arguments of __init__ on to the classes after this one

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            name = f"{type(self).__name__}.__init__()"
            if kwargs:
                raise TypeError(f"{name} got an unexpected keyword argument '{next(iter(kwargs))}'")
            raise TypeError(f"{name} takes 1 positional argument but {len(args) + 1} were given")
        super().__init__()
        object.__setattr__(self, "_module_hooks", None)
        if self.call_super_init:
            super(ModuleTree, self).__init__(*args, **kwargs)

    # -------------------------------------------------------------------------------------------- calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes, from whatever `args` and `kwargs` it is called with: a subclass defines it.
        NotImplementedError if it doesn't.

        >>> torch.nn.ReLU().forward(torch.tensor([-1.0]))
        tensor([0.])
        """
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    @entry_point
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if global_hooks.in_calls:
            return global_hooks.hooks_of_call(self._module_hooks).call(self, args, kwargs)
        if self._module_hooks is None:
            return self.forward(*args, **kwargs)
        return self._module_hooks.call(self, args, kwargs)

    @property
    def _call_is_forward(self) -> bool:
        """Whether calling the module runs its class's forward and nothing else: then a compiler may begin there."""
        cls = type(self)
        own_call = cls.__call__ is not Module.__call__ or cls._call_impl is not Module._call_impl
        hooked = (
            global_hooks.in_calls and EVERY_MODULE.any() or self._module_hooks is not None and self._module_hooks.any()
        )
        return not (own_call or hooked or "forward" in self.__dict__ or "_call_impl" in self.__dict__)

    @property
    def _hooked(self) -> bool:
        return bool(self._module_hooks and self._module_hooks.any()) or global_hooks.in_calls and EVERY_MODULE.any()

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """From now on, calling this module runs compiled code. Arguments as those of `minitorch_compile.compile`."""
        # The instance's attribute goes before the class's method; compiling `self` instead would call it in turn.
        compiled = registered_compiler()(MethodType(type(self)._call_impl, self), *args, **kwargs)
        object.__setattr__(self, "_call_impl", compiled)

    # -------------------------------------------------------------------------------------------- hooks

    def _hooks(self) -> ModuleHooks:
        if self._module_hooks is None:
            object.__setattr__(self, "_module_hooks", ModuleHooks())
        assert self._module_hooks is not None
        return self._module_hooks

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` runs before forward; what it returns, if not None, becomes the arguments. Returns a
        handle, whose remove() takes it away.

        `with_kwargs`: `hook(module, args, kwargs)`, which returns None or (args, kwargs). `prepend`: before the hooks
        that there are.

        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        >>> layer(torch.zeros(2))
        tensor([1., 1.])
        """
        return self._hooks().add(self._hooks().forward_pre, hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """`hook(module, args, output)` runs after forward; what it returns, if not None, becomes the output. Returns a
        handle, whose remove() takes it away.

        `with_kwargs`: `hook(module, args, kwargs, output)`. `always_call`: also if forward raises, with None.
        `prepend`: before the hooks that there are.

        >>> layer = torch.nn.ReLU()
        >>> handle = layer.register_forward_hook(lambda module, args, output: output + 1)
        >>> layer(torch.zeros(2))
        tensor([1., 1.])
        """
        return self._hooks().add(self._hooks().forward, hook, prepend, with_kwargs, always_call)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_input, grad_output)` runs when the gradients of the inputs are known.

        Both are tuples with None where there is no gradient. What it returns, if not None, becomes grad_input.
        """
        return self._hooks().add_backward(hook, True, prepend, "on a single Module")

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Deprecated: `hook(module, grad_input, grad_output)` gets the gradients of one node, the last of forward."""
        return self._hooks().add_backward(hook, False, False, "on a single Module")

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """`hook(module, grad_output)` runs before the gradients of the inputs are computed.

        What it returns, if not None, becomes grad_output.
        """
        return self._hooks().add(self._hooks().backward_pre, hook, prepend)

    _forward_pre_hooks = _hooks_named("forward_pre")
    _forward_hooks = _hooks_named("forward")
    _backward_pre_hooks = _hooks_named("backward_pre")
    _backward_hooks = _hooks_named("of_gradients")
    _forward_pre_hooks_with_kwargs = _forward_hooks_with_kwargs = _hooks_named("with_kwargs")
    _forward_hooks_always_called = _hooks_named("always_called")
    _is_full_backward_hook = property(lambda self: self._hooks().is_full)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code belongs to this process and this object: what is copied or saved is the module.
        return {k: v for k, v in self.__dict__.items() if k not in ("_call_impl", COMPILED_BEFORE)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    # -------------------------------------------------------------------------------------------- switches

    def train(self: AnyModule, mode: bool = True) -> AnyModule:
        """Sets the training mode of this module and those below to `mode`: dropout drops, batch norm uses the batch.
        Returns the module. ValueError unless a bool.

        >>> model = torch.nn.Sequential(torch.nn.Dropout())
        >>> model.train(False)[0].training
        False
        """
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: AnyModule) -> AnyModule:
        """Sets evaluation mode here and below: train(False). Returns the module.

        >>> torch.nn.Dropout().eval()(torch.ones(3))
        tensor([1., 1., 1.])
        """
        return self.train(False)

    def requires_grad_(self: AnyModule, requires_grad: bool = True) -> AnyModule:
        """Whether gradients are recorded for the parameters here and below."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters: `.grad` becomes None, or zeros if not `set_to_none`.

        >>> layer = torch.nn.Linear(2, 1)
        >>> layer(torch.ones(2)).backward()
        >>> layer.zero_grad()
        >>> layer.weight.grad is None
        True
        """
        for param in self.parameters():
            if param.grad is not None:
                param.grad = None if set_to_none else param.grad.detach().zero_()

    # -------------------------------------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """What stands between the parentheses of the repr; a layer gives its arguments."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return to_html(self)

    def __repr__(self) -> str:
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        if not children and len(extra) <= 1:
            return f"{self._get_name()}({''.join(extra)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(extra + children) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


# PyTorch's names for the hooks on every module, for programs that count or clear them.
_global_forward_pre_hooks, _global_forward_hooks = EVERY_MODULE.forward_pre, EVERY_MODULE.forward
_global_backward_pre_hooks, _global_backward_hooks = EVERY_MODULE.backward_pre, EVERY_MODULE.backward
_has_any_global_hook = EVERY_MODULE.any

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]
