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
from typing import Any, TypeVar

from minitorch_compile.nn.hooks import Hooks, RemovableHandle
from minitorch_compile.nn.module_state import ModuleState
from minitorch_compile.tensor import Tensor, no_grad

AnyModule = TypeVar("AnyModule", bound="Module")


class Module(ModuleState):
    """Base class of all layers and models. A subclass calls `super().__init__()` first and defines `forward`."""

    _forward_pre_hooks: Hooks
    _forward_hooks: Hooks

    def __init__(self) -> None:
        super().__init__()
        object.__setattr__(self, "_forward_pre_hooks", Hooks())
        object.__setattr__(self, "_forward_hooks", Hooks())

    # -------------------------------------------------------------------------------------------- calling

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call_impl(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        if not self._forward_pre_hooks and not self._forward_hooks:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    @property
    def _call_is_forward(self) -> bool:
        """Whether calling the module runs its class's forward and nothing else: then a compiler may begin there."""
        cls = type(self)
        own_call = cls.__call__ is not Module.__call__ or cls._call_impl is not Module._call_impl
        return not (own_call or self._forward_pre_hooks or self._forward_hooks or "forward" in self.__dict__)

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._forward_pre_hooks.before(self, args, kwargs)
        return self._forward_hooks.after(self, args, kwargs, self.forward(*args, **kwargs))

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """`hook(module, args)` runs before forward; what it returns, if not None, becomes the arguments."""
        return self._forward_pre_hooks.add(hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """`hook(module, args, output)` runs after forward; what it returns, if not None, becomes the output."""
        if always_call:
            raise NotImplementedError(
                "register_forward_hook: always_call is not supported; use try/finally around the call"
            )
        return self._forward_hooks.add(hook, prepend, with_kwargs)

    # -------------------------------------------------------------------------------------------- switches

    def train(self: AnyModule, mode: bool = True) -> AnyModule:
        """Sets training mode here and below: dropout drops, batch norm uses the batch. ValueError unless a bool."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: AnyModule) -> AnyModule:
        """Sets evaluation mode: train(False)."""
        return self.train(False)

    def requires_grad_(self: AnyModule, requires_grad: bool = True) -> AnyModule:
        """Whether gradients are recorded for the parameters here and below."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops all gradients, or fills them with zeros."""
        for param in self.parameters():
            if param.grad is not None:
                param.grad = None if set_to_none else param.grad.detach().zero_()

    # -------------------------------------------------------------------------------------------- conversions

    def apply(self: AnyModule, fn: Callable[[Any], Any]) -> AnyModule:
        """Calls `fn` on every module, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: AnyModule, fn: Callable[[Any], Any]) -> AnyModule:
        """Replaces every parameter, gradient and buffer by fn of it; parameters stay the same objects."""
        for module in self.children():
            module._apply(fn)
        with no_grad():
            for param in self._parameters.values():
                if param is not None:
                    param.data = fn(param.data)
                    if param.grad is not None:
                        param.grad = fn(param.grad)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def to(self: AnyModule, *args: Any, **kwargs: Any) -> AnyModule:
        """Converts floating-point parameters and buffers to a dtype, as Tensor.to does."""
        return self._apply(lambda x: x.to(*args, **kwargs) if x.is_floating_point() else x)

    def float(self: AnyModule) -> AnyModule:
        """float32 parameters and buffers."""
        return self._apply(lambda x: x.float() if x.is_floating_point() else x)

    def double(self: AnyModule) -> AnyModule:
        """float64 parameters and buffers."""
        return self._apply(lambda x: x.double() if x.is_floating_point() else x)

    def half(self: AnyModule) -> AnyModule:
        """float16 parameters and buffers."""
        return self._apply(lambda x: x.half() if x.is_floating_point() else x)

    def cpu(self: AnyModule) -> AnyModule:
        """Everything in main memory."""
        return self._apply(lambda x: x.cpu())

    # -------------------------------------------------------------------------------------------- printing

    def extra_repr(self) -> str:
        """What stands between the parentheses of the repr; a layer gives its arguments."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        children = [f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()]
        extra = self.extra_repr().split("\n") if self.extra_repr() else []
        if not children and len(extra) <= 1:
            return f"{self._get_name()}({''.join(extra)})"
        return f"{self._get_name()}(\n  " + "\n  ".join(extra + children) + "\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


__all__ = ["Module", "Tensor"]
