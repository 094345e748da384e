"""Parameter: a tensor that a module registers when it is assigned; Buffer: one that is kept but not trained.

>>> from minitorch_compile.tensor import ones
>>> Parameter(ones(2))
Parameter containing:
tensor([1., 1.], requires_grad=True)
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor import Tensor, empty
from minitorch_compile.tensor.dispatch.overrides import _disabled_torch_function_impl
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.tensor.tensor_class.deep_copy import look_at_copied_storage
from minitorch_compile.tensor.tensor_class.printing import SHOWN_AS_TENSORS
from minitorch_compile.tensor.tensor_class.sent_tensors import send_shared


def _of_own_class(data: Any, what: str) -> Any:
    """None for a plain tensor. One of a class of the program's, without history: it keeps its class, and is told to be
    a parameter by an attribute."""
    kind = type(data)
    if kind in PLAIN or not isinstance(data, Tensor) or data.is_sparse_layout or data.is_confined:
        return None
    result = data.detach()
    if type(result) is not kind:
        raise RuntimeError(
            f"Creating a {what} from an instance of type {kind.__name__} requires that detach() returns an instance of"
            f" the same type, but return type {type(result).__name__} was found instead. To use the type as a {what},"
            " please correct the detach() semantics defined by its __torch_dispatch__() implementation."
        )
    return result


class _Told(type):
    """The class of Parameter and Buffer: instances are also the tensors that an attribute, `told`, says it of."""

    told: str

    def __instancecheck__(cls, instance: Any) -> bool:
        kind = type(instance)
        if issubclass(kind, cls):
            return True
        return cls in PLAIN and issubclass(kind, Tensor) and bool(getattr(instance, cls.told, False))


def _share(cls: type, data: Any) -> Any:
    """An instance of `cls` over the storage of `data`, outside any recorded graph."""
    if data is None:
        data = empty(0)
    if not isinstance(data, TensorBase):
        raise TypeError(f"{cls.__name__}: argument 'data' must be Tensor, not {type(data).__name__}")
    result: Any = TensorBase.__new__(cls)
    result.storage, result.offset, result.sizes, result.strides = data.storage, data.offset, data.sizes, data.strides
    result.dtype, result.device, result._array = data.dtype, data.device, data._array
    return result


class Parameter(Tensor, metaclass=_Told):
    """A tensor to be trained: a module that it is assigned to lists it among its parameters. It shares the storage of
    `data`; `requires_grad` says whether its gradient is wanted.

    >>> torch.nn.Parameter(torch.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)

    One of a subclass of Tensor keeps its class. RuntimeError if that loses it in detach().
    """

    told = "_is_param"
    _is_param = True
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        own = _of_own_class(data, "Parameter")
        if own is not None:
            own.requires_grad_(requires_grad)
            own._is_param = True
            return own
        result = _share(cls, data)
        result.requires_grad = requires_grad  # requires_grad_ is refused inside function transforms; this is not
        return result

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """A parameter of the same class over a copy of the storage, without gradient, as in PyTorch."""
        if id(self) not in memo:
            data: Any = object.__new__(Tensor)
            look_at_copied_storage(data, self, memo)
            memo[id(self)] = type(self)(data, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"


class Buffer(Tensor, metaclass=_Told):
    """A tensor that belongs to a module's state but isn't trained. It shares the storage of `data`."""

    persistent: bool
    told = "_is_buffer"
    _is_buffer = True
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        own = _of_own_class(data, "Buffer")
        if own is not None:
            own.requires_grad_(data.requires_grad)
            own.persistent, own._is_buffer = persistent, True
            return own
        result = _share(cls, data)
        result.persistent = persistent
        return result


PLAIN = (Tensor, Parameter, Buffer)
SHOWN_AS_TENSORS.update((Parameter, Buffer))
send_shared(Parameter)
send_shared(Buffer)
