"""The Tensor class: the layout of `tensor_base.py` with every op as a method and Python's operators on top.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.0, 2.0], [3.0, 4.0]])
>>> (x @ x.T).sum().item(), x[0].shape, (x > 2).any()
(52.0, torch.Size([2]), tensor(True))
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch import dispatch, registered_tape
from minitorch_compile.tensor.dtype import (
    FLOATING,
    bool_,
    dtype,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.op import Op
from minitorch_compile.tensor.printing import to_text
from minitorch_compile.tensor.strides import is_contiguous, numel, wrap_dim
from minitorch_compile.tensor.tensor_base import TensorBase


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
    return method


def with_op_methods(cls: type) -> type:
    """Gives a class a method for each op that is declared to be one."""
    for op in ops.table.values():
        if "method" in op.namespaces and op.name not in cls.__dict__:
            setattr(cls, op.name, method_of(op))
    return cls


def _binary(op: Op) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (TensorBase, int, float, np.generic)):
            return NotImplemented
        return dispatch(op, (self, other), {})

    return operator


def _reflected(op: Op) -> Callable[[Any, Any], Any]:
    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float, np.generic)):
            return NotImplemented
        return dispatch(op, (other, self), {})

    return operator


def _inplace(name: str) -> Callable[[Any, Any], Any]:
    op = ops.table[name]

    def operator(self: Any, other: Any) -> Any:
        return dispatch(op, (self, other), {})

    return operator


def _converter(target: dtype) -> Callable[[Any], Any]:
    def convert(self: Any) -> Any:
        return ops.to(self, target)

    return convert


@with_op_methods
class Tensor(TensorBase):
    """A strided n-dimensional array that can be differentiated. Methods are those of PyTorch's Tensor."""

    __array_priority__ = 1000  # numpy_array * tensor asks the tensor

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The methods that are made from the op table, for the type checker."""

    # ----------------------------------------------------------------------------------------------- what it looks like

    @property
    def shape(self) -> Any:
        return self.sizes

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self.sizes)

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or the size of one dimension."""
        return self.sizes if dim is None else self.sizes[wrap_dim(dim, len(self.sizes))]

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, or that of one dimension."""
        return self.strides if dim is None else self.strides[wrap_dim(dim, len(self.sizes))]

    def storage_offset(self) -> int:
        """Where in the storage the first element lies, in elements."""
        return self.offset

    def numel(self) -> int:
        """The number of elements."""
        return numel(self.sizes)

    nelement = numel

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.array.__array_interface__["data"][0]

    def is_contiguous(self) -> bool:
        """Whether the elements lie in row-major order without gaps."""
        return is_contiguous(self.sizes, self.strides)

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    @property
    def _version(self) -> int:
        return self.storage.version

    @property
    def is_cuda(self) -> bool:
        return self.device.type == "cuda"

    @property
    def data(self) -> Tensor:
        """The same values outside the recorded graph, sharing storage."""
        return ops.detach(self)

    @data.setter
    def data(self, value: Tensor) -> None:
        self.storage, self.offset, self._array = value.storage, value.offset, value._array
        self.sizes, self.strides, self.dtype = value.sizes, value.strides, value.dtype

    # ---------------------------------------------------------------------------------------------- to Python and NumPy

    def item(self) -> bool | int | float:
        """The single element as a Python number. RuntimeError if there are more or none."""
        if numel(self.sizes) != 1:
            raise RuntimeError(f"a Tensor with {numel(self.sizes)} elements cannot be converted to Scalar")
        return self.array.item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers."""
        return self.array.tolist()

    def numpy(self) -> np.ndarray:
        """A NumPy array over the same memory. RuntimeError if the tensor requires grad."""
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        return self.array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.numpy()
        return array if dtype is None and not copy else np.array(array, dtype=dtype)

    def cpu(self) -> Tensor:
        """The tensor in main memory: itself."""
        return self

    def __bool__(self) -> bool:
        if numel(self.sizes) != 1:
            raise RuntimeError(
                f"Boolean value of Tensor with {numel(self.sizes)} values is ambiguous; use .any() or .all()"
            )
        return bool(self.array.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

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
        return bool((self == value).any())

    def __repr__(self) -> str:
        return to_text(self)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.sizes else repr(self)

    __hash__ = object.__hash__

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if self.grad_fn is not None:
            raise RuntimeError(
                "Only Tensors created explicitly by the user support the deepcopy protocol at the moment; detach()"
                " it first"
            )
        copy = type(self).__new__(type(self))
        memo[id(self)] = copy
        copy.__dict__.update(ops.clone(ops.detach(self)).__dict__)
        copy.requires_grad = self.requires_grad
        if self.grad is not None:
            copy.grad = ops.clone(self.grad)
        return copy

    # ----------------------------------------------------------------------------------------------- autograd's handles

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Asks for gradients. RuntimeError for integers, and for switching off what a recorded operation made."""
        if requires_grad and self.dtype.category < FLOATING:
            raise RuntimeError(f"only Tensors of floating point dtype can require gradients, got {self.dtype}")
        if not requires_grad and self.grad_fn is not None:
            raise RuntimeError("you can only change requires_grad flags of leaf variables; use .detach()")
        self.requires_grad = requires_grad
        return self

    def backward(
        self, gradient: Any = None, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Adds to `.grad` of every leaf the gradient of this tensor, which must be 0-d unless `gradient` is given."""
        registered_tape().backward(self, gradient, retain_graph, create_graph, inputs)

    def register_hook(self, hook: Callable[[Any], Any]) -> Any:
        """`hook(grad)` is called with the gradient; what it returns, if not None, takes its place. Returns a handle."""
        return registered_tape().register_hook(self, hook)

    def retain_grad(self) -> None:
        """Keeps the gradient in `.grad` although this is not a leaf."""
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
        return ops.transpose(self, -2, -1)

    float = _converter(float32)
    double = _converter(float64)
    half = _converter(float16)
    long = _converter(int64)
    int = _converter(int32)
    short = _converter(int16)
    char = _converter(int8)
    byte = _converter(uint8)
    bool = _converter(bool_)

    # ------------------------------------------------------------------------------------------------ operators

    __add__, __radd__, __iadd__ = _binary(ops.add), _reflected(ops.add), _inplace("add_")
    __sub__, __rsub__, __isub__ = _binary(ops.sub), _reflected(ops.sub), _inplace("sub_")
    __mul__, __rmul__, __imul__ = _binary(ops.mul), _reflected(ops.mul), _inplace("mul_")
    __truediv__, __rtruediv__, __itruediv__ = _binary(ops.div), _reflected(ops.div), _inplace("div_")
    __floordiv__, __rfloordiv__ = _binary(ops.floor_divide), _reflected(ops.floor_divide)
    __mod__, __rmod__ = _binary(ops.remainder), _reflected(ops.remainder)
    __pow__, __rpow__, __ipow__ = _binary(ops.pow), _reflected(ops.pow), _inplace("pow_")
    __matmul__ = _binary(ops.matmul)
    __eq__, __ne__ = _binary(ops.eq), _binary(ops.ne)
    __lt__, __le__, __gt__, __ge__ = _binary(ops.lt), _binary(ops.le), _binary(ops.gt), _binary(ops.ge)
    __and__, __rand__, __iand__ = _binary(ops.bitwise_and), _reflected(ops.bitwise_and), _inplace("bitwise_and_")
    __or__, __ror__, __ior__ = _binary(ops.bitwise_or), _reflected(ops.bitwise_or), _inplace("bitwise_or_")
    __xor__, __rxor__, __ixor__ = _binary(ops.bitwise_xor), _reflected(ops.bitwise_xor), _inplace("bitwise_xor_")

    def __neg__(self) -> Any:
        return dispatch(ops.neg, (self,), {})

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return dispatch(ops.abs, (self,), {})

    def __invert__(self) -> Any:
        return dispatch(ops.bitwise_not, (self,), {})

    def __getitem__(self, key: Any) -> Any:
        return ops.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        ops.setitem(self, key, value)


TensorBase.concrete = Tensor
