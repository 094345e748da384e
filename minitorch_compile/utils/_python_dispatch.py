"""torch.utils._python_dispatch: modes that are asked about every op, below autograd.

>>> from minitorch_compile import ones
>>> class Names(TorchDispatchMode):
...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
...         print(func)
...         return func(*args, **(kwargs or {}))
>>> x = ones(2, 2)
>>> with Names():
...     _ = (x @ x + 1).sum()
aten.mm.default
aten.add.Tensor
aten.sum.default
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.dispatch.aten_names import OpOverload, overload_of
from minitorch_compile.tensor.dispatch.dispatch import enter, leave, stacks
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.torch_dispatch import instances

__all__ = ["TorchDispatchMode", "is_traceable_wrapper_subclass", "return_and_correct_aliasing"]


class TorchDispatchMode:
    """A context manager: inside, its `__torch_dispatch__(func, types, args, kwargs)` says what each op computes.

    In it, ops mean what they mean outside of the mode.
    """

    def __init__(self, _dispatch_key: Any = None) -> None:
        pass

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        raise NotImplementedError

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """As a mode of the dispatcher."""
        types = tuple(dict.fromkeys(type(x) for x in instances((*args, *kwargs.values()))))
        return self.__torch_dispatch__(overload_of(op, args, kwargs), types, args, kwargs)

    def __enter__(self) -> Any:
        enter(stacks.modes, self)
        return self

    def __exit__(self, *error: Any) -> None:
        leave(stacks.modes, self)


def is_traceable_wrapper_subclass(t: Any) -> bool:
    """Whether it is an instance of a class that can be taken apart and put together again: of one that has
    `__tensor_flatten__` and `__tensor_unflatten__`."""
    is_wrapper = isinstance(t, Tensor) and type(t) is not Tensor
    return is_wrapper and hasattr(t, "__tensor_flatten__") and hasattr(t, "__tensor_unflatten__")


def return_and_correct_aliasing(func: OpOverload, args: Any, kwargs: Any, out: Any) -> Any:
    """What a `__torch_dispatch__` that computed `out` on the parts of its arguments gives: the argument itself, if the
    op wrote into it, and a view of the argument's memory, if it is one."""
    kind = func.op.kind
    if kind == "inplace":
        return args[0]
    if kind == "view" and isinstance(out, Tensor) and isinstance(args[0], Tensor):
        out.storage = args[0].storage
    return out
