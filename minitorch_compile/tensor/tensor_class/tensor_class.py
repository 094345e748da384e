"""The Tensor class: the layout of `tensor_base.py` with every op as a method and Python's operators on top.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T).sum().item(), x[0].shape, (x > 2).any()
(52.0, torch.Size([2]), tensor(True))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.symbolic import SymFloat, SymInt
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.captured_memory import recordings
from minitorch_compile.tensor.dispatch.dispatch import dispatch
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.dispatch.overrides import (
    PLAIN,
    DisableTorchFunctionSubclass,
    as_class,
    call_overrides,
    get_default_nowrap_functions,
    note_class,
    overriding,
    state,
    watching,
)
from minitorch_compile.tensor.dispatch.public_signature import MethodFace
from minitorch_compile.tensor.dispatch.tape_slot import registered_tape
from minitorch_compile.tensor.dispatch.torch_dispatch import make_wrapper_subclass, note_dispatching_class
from minitorch_compile.tensor.dispatch.transform_stack import refuse_in_transforms
from minitorch_compile.tensor.dispatch.written_signatures import says
from minitorch_compile.tensor.grad_mode import state as grad_mode
from minitorch_compile.tensor.memory.conjugate_view import with_signs, without_signs
from minitorch_compile.tensor.memory.storage import DataStorage
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import FLOATING, dtype
from minitorch_compile.tensor.ops.subscripts import without_masks
from minitorch_compile.tensor.tensor_base import TensorBase, kept_by, wrap
from minitorch_compile.tensor.tensor_class.conversions import TensorConversions
from minitorch_compile.tensor.tensor_class.deep_copy import deep_copy
from minitorch_compile.tensor.tensor_class.exchange import TensorExchange
from minitorch_compile.tensor.tensor_class.gradient import TensorGradient
from minitorch_compile.tensor.tensor_class.legacy_types import LegacyTensorType
from minitorch_compile.tensor.tensor_class.own_attributes import OWN_ATTRIBUTES, WithOwnAttributes
from minitorch_compile.tensor.tensor_class.printing import to_text
from minitorch_compile.tensor.tensor_class.properties import TensorProperties
from minitorch_compile.tensor.tensor_class.resizing import TensorResizing
from minitorch_compile.tensor.tensor_class.sent_tensors import send_shared

if TYPE_CHECKING:  # the methods that are made below, as tools/stubs.py writes them down
    from minitorch_compile.tensor.tensor_class.op_methods import OpMethods
else:
    OpMethods = object


def method_of(op: Op) -> Callable[..., Any]:
    """`x.op(...)` for `op(x, ...)`; dimensions may be given one by one where PyTorch allows it."""
    if op.gather_dims:

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if args and not isinstance(args[0], (tuple, list)):
                args = (args,)
            return op(self, *args, **kwargs)
    else:

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return op(self, *args, **kwargs)

    method.__name__ = op.name
    method.__qualname__ = f"Tensor.{op.name}"
    method.__doc__ = op.__doc__
    method.__wrapped__ = MethodFace(op)  # type: ignore[attr-defined]
    return method


def _check_indices(indices: Any, values: Any) -> None:
    """TypeError unless index_put is given a tuple or list of indices, and a tensor."""
    for name, value, expected in (("indices", indices, (tuple, list)), ("values", values, TensorBase)):
        if not isinstance(value, expected):
            what = "tuple of Tensors" if name == "indices" else "Tensor"
            raise TypeError(f"index_put(): argument '{name}' must be {what}, not {type(value).__name__}")


def with_op_methods(cls: type) -> type:
    """Gives a class a method for each op that is declared to be one."""
    for op in ops.table.values():
        if "method" in op.namespaces and op.name not in cls.__dict__:
            setattr(cls, op.name, method_of(op))
    return cls


def _binary(op: Op) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (TensorBase, int, float, complex, np.generic, SymInt, SymFloat)):
            if not isinstance(other, np.ndarray):
                return op(self, other) if hasattr(type(other), "__torch_function__") else NotImplemented
            other = wrap(np.array(other))
        return dispatch(op, (self, other), {})

    return operator


def _reflected(op: Op) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float, complex, np.generic, SymInt, SymFloat)):
            return op(other, self) if hasattr(type(other), "__torch_function__") else NotImplemented
        return dispatch(op, (other, self), {})

    return operator


def _commuted(op: Op) -> Callable[[Any, Any], Any]:
    """number + tensor, which is tensor + number in PyTorch: its node and its overrides see the tensor first."""

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float, complex, np.generic, SymInt, SymFloat)):
            return op(other, self) if hasattr(type(other), "__torch_function__") else NotImplemented
        return dispatch(op, (self, other), {})

    return operator


def _number_divided(self: Any, number: Any) -> Any:
    """number / tensor, as PyTorch computes it: it rounds twice."""
    if not isinstance(number, (int, float, complex, np.generic, SymInt, SymFloat)):
        return NotImplemented
    if watching and not state.subclasses_off and (found := overriding((self,))):
        return call_overrides(Tensor.__rtruediv__, found, (self, number), {})
    return dispatch(ops.mul, (dispatch(ops.reciprocal, (self,), {}), number), {})


def _inplace(name: str) -> Callable[[Any, Any], Any]:
    op = ops.table[name]

    def operator(self: Any, other: Any) -> Any:
        return dispatch(op, (self, other), {})

    return operator


NO_SUBCLASS = (
    "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your class"
    " inherits from Tensor."
)


@with_op_methods
class Tensor(
    TensorConversions, TensorExchange, TensorResizing, TensorProperties, TensorGradient, WithOwnAttributes, OpMethods
):
    """A strided n-dimensional array that can be differentiated. Methods are those of PyTorch's Tensor."""

    __module__ = "minitorch_compile"  # as PyTorch shows it

    __array_priority__ = 1000  # numpy_array * tensor asks the tensor

    def __new__(cls, *args: Any, device: Any = None) -> Any:
        """PyTorch's old constructor: Tensor(2, 3) has those sizes, Tensor([2, 3]) those values, in the default dtype.

        `tensor(...)` is the function to use.
        """
        made = LegacyTensorType(None)(*args, device=device)
        return made if cls is Tensor else made.as_subclass(cls)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        note_class(cls)
        note_dispatching_class(cls)

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """What a call means that has an instance of a subclass among its arguments: what it means for tensors, and
        tensors that it gives are of that class."""
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        with DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return result if func in get_default_nowrap_functions() else as_class(result, cls)

    @staticmethod
    def _make_subclass(cls: type, data: Any, require_grad: bool = False) -> Any:
        """An instance of a subclass over the same storage, without history."""
        if not isinstance(data, Tensor):
            raise TypeError(f"_make_subclass(): argument 'data' (position 2) must be Tensor, not {type(data).__name__}")
        with DisableTorchFunctionSubclass():
            result = ops.detach(data).as_subclass(cls)
        result.requires_grad = require_grad
        return result

    _make_wrapper_subclass = staticmethod(make_wrapper_subclass)

    def as_subclass(self, cls: type) -> Any:
        """An instance of a subclass of Tensor over the same storage, with the same history. That of a leaf begins at
        the leaf."""
        source = self
        if self._requires_grad and self.grad_fn is None and grad_mode.enabled:
            with DisableTorchFunctionSubclass():
                source = ops.view_as(self, self)
        if not issubclass(cls, Tensor):
            raise TypeError(NO_SUBCLASS)
        result: Any = object.__new__(cls)
        of_source = {name: value for name, value in kept_by(source).items() if name in OWN_ATTRIBUTES}
        kept_by(result).update(of_source, storage=source.storage)
        return result

    def fill_(self, value: Any) -> Any:
        """Stores one value, a number or a 0-d tensor, everywhere."""
        if not isinstance(value, Tensor):
            return ops.table["fill_"](self, value)
        if value.sizes:
            raise RuntimeError(
                f"fill_ only supports 0-dimension value tensor but got tensor with {len(value.sizes)} dimensions."
            )
        return self.copy_(value)

    @says("(self, *shape)")
    def view(self, *size: Any, **kwargs: Any) -> Any:
        """The same elements in the same memory under other sizes, view(2, 3), or the same bytes in another dtype,
        view(torch.int32).

        One size in `shape` may be -1: it follows from the others. RuntimeError if the elements are another number,
        or don't lie so that strides can say it; reshape() copies then.

        >>> x = torch.arange(6)
        >>> x.view(2, 3)
        tensor([[0, 1, 2],
                [3, 4, 5]])
        >>> x.view(-1, 2).shape, torch.tensor([1.0]).view(torch.int32)
        (torch.Size([3, 2]), tensor([1065353216], dtype=torch.int32))
        """
        if "dtype" in kwargs or (len(size) == 1 and isinstance(size[0], (dtype, type))):
            return ops.view_dtype(self, *size, **kwargs)
        if kwargs.keys() - {"size"} if kwargs else not size:
            raise TypeError(f"view(): expected size or dtype, got {size} and {kwargs}")
        return ops.view(
            self, size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size or kwargs["size"]
        )

    @says("(self, dim=None)")
    def squeeze(self, *dims: Any, **kwargs: Any) -> Any:
        """Without the dimensions of size 1: all, or those that are named, as numbers or in a tuple."""
        return ops.squeeze(self, *([dims] if len(dims) > 1 else dims), **kwargs)

    def norm(self, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
        """The vector norm of all elements, or over the dimensions in `dim`."""
        return ops.norm(self, p, dim, keepdim, dtype=dtype)

    def where(self, condition: Any, other: Any) -> Any:
        """The tensor where the condition holds, else `other`."""
        return ops.where(condition, self, other)

    def index_put(self, indices: Any, values: Any, accumulate: bool = False) -> Any:
        """The tensor with self[indices] = values, or += if `accumulate`; indices may be bool masks."""
        _check_indices(indices, values)
        return ops.index_put(self, without_masks(self, indices), values, accumulate)

    def index_put_(self, indices: Any, values: Any, accumulate: bool = False) -> Any:
        """In place, self[indices] = values, or += if `accumulate`; indices may be bool masks."""
        _check_indices(indices, values)
        return ops.table["index_put_"](self, without_masks(self, indices), values, accumulate)

    def detach_(self) -> Any:
        """Takes the tensor itself out of the recorded graph, and returns it. RuntimeError for a view; use detach().

        >>> (2 * torch.ones(1, requires_grad=True)).detach_().requires_grad
        False
        """
        if self.base is not None and self.requires_grad:
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        self._requires_grad, self.grad_fn, self.output_index = False, None, 0
        return self

    @property
    def data(self) -> Tensor:
        """The same values outside the recorded graph, sharing memory. A write to them leaves the version as it is."""
        result = ops.detach(self)
        if not result.is_fake:
            memory = DataStorage(without_signs(self.storage), min(self.storage.version, 0))
            result.storage = with_signs(memory, self.storage.conj, self.storage.neg)
        return result

    @data.setter
    def data(self, value: Tensor) -> None:
        if recordings.starts:
            raise RuntimeError("mutating directly with `.data` inside functorch transform is not allowed.")
        if value.device != self.device:
            raise RuntimeError(
                "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor"
                f" type: {self.device} and {value.device}."
            )
        storage, version = value.storage, self.storage.version
        self.storage = storage if storage.version == version else DataStorage(storage, version)
        self.offset, self._array = value.offset, value._array
        self.sizes, self.strides, self.dtype = value.sizes, value.strides, value.dtype

    # ---------------------------------------------------------------------------------------------- as a Python object

    def __bool__(self) -> bool:
        if numel(self.sizes) != 1:
            raise RuntimeError(
                f"Boolean value of Tensor with {numel(self.sizes)} values is ambiguous; use .any() or .all()"
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self._real_item("int64_t"))

    def __float__(self) -> float:
        return float(self._real_item("double"))

    def _real_item(self, kind: str) -> Any:
        """The single element; of a complex number that is real, its real part. RuntimeError for another."""
        value = self.item()
        if not isinstance(value, complex):
            return value
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {kind} without overflow")
        return value.real

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        if self.dtype.category >= FLOATING or numel(self.sizes) != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        if not self.sizes:
            raise TypeError("len() of a 0-d tensor")
        return self.sizes[0]

    def __iter__(self) -> Iterator[Any]:
        if not self.sizes:
            raise TypeError("iteration over a 0-d tensor")
        return iter(ops.unbind(self))

    def __contains__(self, value: Any) -> bool:
        if not isinstance(value, (TensorBase, bool, int, float, complex, np.generic)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}."
            )
        return bool((self == value).any())

    def __repr__(self) -> str:
        return to_text(self)

    def __format__(self, spec: str) -> str:
        return repr(self) if self.sizes or self.is_fake else format(self.item(), spec)

    __hash__ = object.__hash__

    def __getstate__(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """For copy and pickle, attributes and slots: the array is a window on the storage, and is made anew."""
        kept = {name: value for name, value in kept_by(self).items() if name != "accumulator"}  # autograd's, made anew
        return {**kept, "storage": self.storage, "_array": None}, {"_grad": self.grad}

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return deep_copy(self, memo)

    # ----------------------------------------------------------------------------------------------- autograd's handles

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Asks for gradients: with `requires_grad`, operations on this tensor are recorded from now on. Returns the
        tensor. RuntimeError for integers, for switching off what a recorded operation made, and inside a function
        transform.

        >>> torch.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        refuse_in_transforms("Tensor.requires_grad_", vmap_too=True)
        self.requires_grad = requires_grad
        return self

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Adds to `.grad` of every leaf the gradient of this tensor with respect to it.

        The tensor must have a single element, unless `gradient`, of its sizes, says by what each one counts.
        `create_graph` records the walk, for higher derivatives; `retain_graph` (default: as create_graph) keeps what it
        needs for another walk; `inputs` limits it to those leaves. RuntimeError for a tensor that nothing was recorded
        for, and for a second walk through what was let go.

        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> (x**2).sum().backward()
        >>> x.grad
        tensor([2., 4.])
        """
        registered_tape().backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """`hook(grad)` is called with the gradient; what it returns, if not None, takes its place. Returns a handle,
        whose remove() takes it away. RuntimeError if the tensor doesn't require grad.

        >>> x = torch.ones(1, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> (2 * x).backward()
        >>> x.grad
        tensor([20.])
        """
        return registered_tape().register_hook(self, hook)

    def retain_grad(self) -> None:
        """Keeps the gradient in `.grad` although this is not a leaf."""
        refuse_in_transforms("Tensor.retain_grad")
        registered_tape().retain_grad(self)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Any], None]) -> Any:
        """`hook(tensor)` is called after a gradient was added to the `.grad` of this leaf. Returns a handle."""
        return registered_tape().register_post_accumulate_grad_hook(self, hook)

    # --------------------------------------------------------------------------------------------- transposes and casts

    @property
    def T(self) -> Any:
        return ops.permute(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:
        if self.ndim < 2:
            raise RuntimeError(
                f"tensor.mT is only supported on matrices or batches of matrices. Got {self.ndim}-D tensor."
            )
        return ops.transpose(self, -2, -1)

    @property
    def mH(self) -> Any:
        return ops.adjoint(self)

    @property
    def H(self) -> Any:
        if self.ndim not in (0, 2):
            raise RuntimeError(
                f"tensor.H is only supported on matrices (2-D tensors). Got {self.ndim}-D tensor. For batches of"
                " matrices, consider using tensor.mH"
            )
        return ops.adjoint(self) if self.ndim else ops.conj(self)

    # ------------------------------------------------------------------------------------- parts of complex numbers

    @property
    def real(self) -> Any:
        return ops.real(self)

    @real.setter
    def real(self, value: Any) -> None:
        self.copy_(ops.complex(value + ops.zeros_like(self.real), self.imag) if self.is_complex() else value)

    @property
    def imag(self) -> Any:
        return ops.imag(self)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.copy_(ops.complex(self.real, value + ops.zeros_like(self.imag)))

    # ------------------------------------------------------------------------------------------------ operators

    __add__, __radd__, __iadd__ = _binary(ops.add), _commuted(ops.add), _inplace("add_")
    __sub__, __rsub__, __isub__ = _binary(ops.sub), _reflected(ops.sub), _inplace("sub_")
    __mul__, __rmul__, __imul__ = _binary(ops.mul), _commuted(ops.mul), _inplace("mul_")
    __truediv__, __rtruediv__, __itruediv__ = _binary(ops.div), _number_divided, _inplace("div_")
    __floordiv__, __rfloordiv__ = _binary(ops.floor_divide), _reflected(ops.floor_divide)
    __ifloordiv__ = _inplace("floor_divide_")
    __mod__, __rmod__, __imod__ = _binary(ops.remainder), _reflected(ops.remainder), _inplace("remainder_")
    __pow__, __rpow__, __ipow__ = _binary(ops.pow), _reflected(ops.pow), _inplace("pow_")
    __matmul__ = _binary(ops.matmul)
    __eq__, __ne__ = _binary(ops.eq), _binary(ops.ne)
    __lt__, __le__, __gt__, __ge__ = _binary(ops.lt), _binary(ops.le), _binary(ops.gt), _binary(ops.ge)
    __and__, __rand__, __iand__ = _binary(ops.bitwise_and), _reflected(ops.bitwise_and), _inplace("bitwise_and_")
    __or__, __ror__, __ior__ = _binary(ops.bitwise_or), _reflected(ops.bitwise_or), _inplace("bitwise_or_")
    __xor__, __rxor__, __ixor__ = _binary(ops.bitwise_xor), _reflected(ops.bitwise_xor), _inplace("bitwise_xor_")
    __lshift__, __rlshift__ = _binary(ops.bitwise_left_shift), _reflected(ops.bitwise_left_shift)
    __rshift__, __rrshift__ = _binary(ops.bitwise_right_shift), _reflected(ops.bitwise_right_shift)
    __ilshift__, __irshift__ = _inplace("bitwise_left_shift_"), _inplace("bitwise_right_shift_")

    def __neg__(self) -> Any:
        return dispatch(ops.neg, (self,), {})

    def __pos__(self) -> Any:
        return ops.positive(self)

    def __abs__(self) -> Any:
        return dispatch(ops.abs, (self,), {})

    def polygamma(self, n: int) -> Any:
        """The n-th derivative of digamma, elementwise."""
        return ops.polygamma(n, self)

    def __invert__(self) -> Any:
        if self.dtype.category >= FLOATING:
            raise TypeError(
                f"~ (operator.invert) is only implemented on integer and Boolean-type tensors, got {self.dtype}"
            )
        return dispatch(ops.bitwise_not, (self,), {})

    def __getitem__(self, key: Any) -> Any:
        return ops.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        ops.setitem(self, key, value)


for _name, _value in list(vars(Tensor).items()):
    if getattr(_value, "__name__", "") in ("operator", "_number_divided"):  # made above, for many
        _value.__name__, _value.__qualname__ = _name, f"Tensor.{_name}"
TensorBase.concrete = Tensor
PLAIN.add(Tensor)
send_shared(Tensor)
