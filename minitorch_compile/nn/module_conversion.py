"""Converting all tensors of a module: to a dtype, a memory format, or by any function.

>>> from minitorch_compile import float64, nn
>>> layer = nn.BatchNorm1d(2).to(float64)
>>> layer.weight.dtype, layer.running_var.dtype, layer.num_batches_tracked.dtype
(torch.float64, torch.float64, torch.int64)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from minitorch_compile.nn.module_tree import ModuleTree
from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.nn.uninitialized import is_lazy
from minitorch_compile.tensor import Tensor, dtype, no_grad, ops
from minitorch_compile.tensor.memory.shared_memory import share
from minitorch_compile.tensor.numerics.dtype import FLOATING, float16, float32, float64

AnyModule = TypeVar("AnyModule", bound="ModuleConversion")


class ModuleConversion(ModuleTree):
    """`apply`, `to` and their relatives. Parameters stay the same objects; what they hold is replaced."""

    def apply(self: AnyModule, fn: Callable[[Any], Any]) -> AnyModule:
        """Calls `fn` on every module, children first."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self: AnyModule, fn: Callable[[Any], Any], recurse: bool = True) -> AnyModule:
        """Replaces every parameter, gradient and buffer by fn of it."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for name, param in self._parameters.items():
                if is_lazy(param):
                    param.converted(fn)  # type: ignore[union-attr]
                elif param is not None:
                    self._parameters[name] = _converted(param, fn)
            for name, buffer in self._buffers.items():
                if is_lazy(buffer):
                    buffer.converted(fn)  # type: ignore[union-attr]
                elif buffer is not None:
                    self._buffers[name] = fn(buffer)
        return self

    def _cast(self: AnyModule, to: dtype) -> AnyModule:
        return self._apply(lambda x: x.to(to) if x.is_floating_point() else x)

    def to(self: AnyModule, *args: Any, **kwargs: Any) -> AnyModule:
        """to(device, dtype, non_blocking), to(dtype), to(tensor), to(memory_format=...), as Tensor.to.

        A dtype applies to floating-point and complex tensors only, a memory format to those of 4 or 5 dimensions.
        TypeError for an integer dtype.
        """
        for value in (*args, kwargs.get("dtype")):
            if isinstance(value, dtype) and value.category < FLOATING:
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=" + str(value)
                )
        plain = [x for x in args if not isinstance(x, (dtype, Tensor))]
        unchanged = {name: value for name, value in kwargs.items() if name not in ("dtype", "other")}

        def convert(x: Any) -> Any:
            if x.dtype.category >= FLOATING:
                return x.to(*args, **_fitting(x, kwargs))
            return x.to(*plain, **_fitting(x, unchanged)) if plain or unchanged else x

        return self._apply(convert)

    def type(self: AnyModule, dst_type: dtype | str) -> AnyModule:
        """All parameters and buffers in a dtype, integers too."""
        return self._apply(lambda x: x.type(dst_type))

    def float(self: AnyModule) -> AnyModule:
        """float32 parameters and buffers."""
        return self._cast(float32)

    def double(self: AnyModule) -> AnyModule:
        """float64 parameters and buffers."""
        return self._cast(float64)

    def half(self: AnyModule) -> AnyModule:
        """float16 parameters and buffers."""
        return self._cast(float16)

    def bfloat16(self: AnyModule) -> AnyModule:
        """bfloat16 parameters and buffers."""
        return self._apply(lambda x: x.bfloat16() if x.is_floating_point() else x)

    def cpu(self: AnyModule) -> AnyModule:
        """Everything in main memory."""
        return self._apply(lambda x: x.cpu())

    def cuda(self: AnyModule, device: Any = None) -> AnyModule:
        """Everything on the GPU, if tensors can be there."""
        return self._apply(lambda x: x.cuda(device))

    def to_empty(self: AnyModule, *, device: Any, recurse: bool = True) -> AnyModule:
        """New memory for everything, not filled."""
        return self._apply(lambda x: ops.empty_like(x, device=device), recurse)

    def share_memory(self: AnyModule) -> AnyModule:
        """Moves parameters, buffers and gradients to memory that other processes can look at."""
        tensors = [*self.parameters(), *self.buffers()]
        grads = [p.grad for p in self.parameters() if p.grad is not None]
        share([x.storage for x in (*tensors, *grads)])
        return self


def _converted(param: Any, fn: Callable[[Any], Any]) -> Any:
    """The parameter with what `fn` makes of its data and gradient; on another device it has to be a new one."""
    data, grad = fn(param.data), None if param.grad is None else fn(param.grad)
    if data.device == param.device:
        param.data = data
    else:
        param = Parameter(data, param.requires_grad)
    if grad is not None:
        param.grad = grad
    return param


def _fitting(x: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords without a memory format that is not for tensors of so many dimensions."""
    if "memory_format" not in kwargs or x.dim() in (4, 5):
        return kwargs
    return {name: value for name, value in kwargs.items() if name != "memory_format"}
