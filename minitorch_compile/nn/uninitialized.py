"""Parameters and buffers whose sizes are not known yet: those of lazy layers before their first call.

>>> weight = UninitializedParameter()
>>> weight
<UninitializedParameter>
>>> weight + 1
Traceback (most recent call last):
ValueError: Attempted to use an uninitialized parameter or buffer. ...
>>> weight.materialize((2, 3))
>>> weight.shape, type(weight).__name__
(torch.Size([2, 3]), 'Parameter')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.nn.parameter import Parameter
from minitorch_compile.tensor import Tensor, empty
from minitorch_compile.tensor.dispatch.overrides import _disabled_torch_function_impl
from minitorch_compile.tensor.numerics.dtype import dtype as DType
from minitorch_compile.tensor.numerics.dtype import get_default_dtype

NOT_YET = (
    "Attempted to use an uninitialized parameter or buffer. This happens with a lazy layer before its first call: call"
    " the model once with a batch of data, so that sizes are known"
)


def _not_yet(self: Any) -> Any:
    raise ValueError(NOT_YET)


class Uninitialized(Tensor):
    """A tensor that knows its dtype and nothing else. Reading its sizes, as every operation does, is a ValueError."""

    becomes: type = Tensor
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: DType | None = None) -> Any:
        result = object.__new__(cls)
        result.dtype = dtype or get_default_dtype()
        result._requires_grad = requires_grad  # to assign requires_grad would ask the storage
        return result

    storage = sizes = strides = property(_not_yet)

    def materialize(self, shape: Any, device: Any = None, dtype: DType | None = None) -> None:
        """Gives it sizes, and memory that isn't filled. From now on it is an ordinary parameter or buffer."""
        made = empty(tuple(shape), dtype=dtype or self.dtype, device=device)
        self.__class__ = self.becomes
        self.storage = made.storage  # assigning `data` carries on the version of the storage there was: there was none
        self.data = made

    def converted(self, fn: Callable[[Any], Any]) -> None:
        """What module.to(dtype) and its like do to it."""
        self.dtype = fn(empty(0, dtype=self.dtype)).dtype

    def detach(self) -> Any:
        """Itself: it has no history and no values."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, dtype=self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad, None, self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(Uninitialized, Parameter):
    """A parameter whose sizes are not known yet. `materialize` gives it some."""

    becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: DType | None = None) -> Any:
        return super().__new__(cls, requires_grad, device, dtype)


class UninitializedBuffer(Uninitialized):
    """A buffer whose sizes are not known yet."""

    becomes = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: DType | None = None, persistent: bool = True
    ) -> Any:
        result = super().__new__(cls, requires_grad, device, dtype)
        result.persistent = persistent
        return result


def is_lazy(param: Any) -> bool:
    """Whether its sizes are not known yet."""
    return isinstance(param, Uninitialized)
