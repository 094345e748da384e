"""From a tensor to something else: Python numbers, NumPy arrays, another dtype, another device.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([[1.5, 2.0]])
>>> x.tolist(), x.sum().item(), x.int(), x.type()
([[1.5, 2.0]], 3.5, tensor([[1, 2]], dtype=torch.int32), 'torch.FloatTensor')
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.accelerators import pinned
from minitorch_compile.tensor.dispatch.tensor_options import on_device
from minitorch_compile.tensor.dispatch.torch_dispatch import refuse_numbers
from minitorch_compile.tensor.grad_mode import state as grad_state
from minitorch_compile.tensor.memory.device import META, NO_DATA
from minitorch_compile.tensor.memory.memory_format import preserve_format
from minitorch_compile.tensor.memory.shared_memory import share
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import (
    FLOAT8,
    as_dtype,
    bfloat16,
    bool_,
    complex32,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from minitorch_compile.tensor.numerics.rounding import widened
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.tensor.tensor_class.legacy_types import LegacyTensorType, named_type, type_name


def _converter(target: dtype, name: str) -> Callable[..., Any]:
    def convert(self: Any, memory_format: Any = preserve_format) -> Any:
        return ops.to(self, target, memory_format=memory_format)

    convert.__doc__ = f"""The tensor in dtype {target}; `memory_format` may ask for another order of its elements.

    >>> torch.tensor([0, 1]).{name}().dtype
    {target}
    """
    return convert


class TensorConversions(TensorBase):
    """The part of Tensor that leads out of it."""

    # ---------------------------------------------------------------------------------------------- to Python and NumPy

    def item(self) -> Any:
        """The single element as a Python number. RuntimeError if there are more or none.

        >>> torch.tensor([2.5]).item(), torch.tensor(3).item()
        (2.5, 3)
        """
        if numel(self.sizes) != 1:
            raise RuntimeError(f"a Tensor with {numel(self.sizes)} elements cannot be converted to Scalar")
        if self.device is META:
            raise RuntimeError("Tensor.item() cannot be called on meta tensors")
        return widened(self.array).item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers; of a 0-d tensor, a number.

        >>> torch.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        if self.device is META:
            raise NotImplementedError(f"tolist: {NO_DATA}")
        refuse_numbers(self, "tolist")
        return widened(self.array).tolist()

    def numpy(self, *, force: Any = False) -> np.ndarray:
        """A NumPy array over the same memory. RuntimeError if the tensor requires grad, unless `force` or grad mode is
        off; TypeError for bfloat16, eight-bit floats and complex32, which NumPy doesn't have.

        >>> x = torch.zeros(2)
        >>> x.numpy()[0] = 1
        >>> x
        tensor([1., 0.])
        """
        if self.dtype in (bfloat16, complex32) or self.dtype in FLOAT8:
            name = type_name(self.dtype).removeprefix("torch.").removesuffix("Tensor")
            raise TypeError(f"Got unsupported ScalarType {name}: NumPy has no such dtype; convert with .float() first")
        refuse_numbers(self, "numpy")
        if self.requires_grad and grad_state.enabled and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device.type != "cpu" and not (force and self.device is not META):
            if force:
                raise NotImplementedError(f"numpy: {NO_DATA}")
            why = " (A tensor on meta has no data that could be copied: make it on the cpu.)"
            raise TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host"
                f" memory first.{why if self.device is META else ''}"
            )
        for kind, bit in (("conj", "conjugate"), ("neg", "negative")):
            if getattr(self.storage, kind) and not force:
                raise RuntimeError(
                    f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.resolve_{kind}().numpy() instead."
                )
        return self.array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = self.numpy()
        if dtype is None and not copy:
            return array
        return np.array(array, dtype=dtype, copy=copy)

    # ---------------------------------------------------------------------------------------------- to another dtype

    float = _converter(float32, "float")
    double = _converter(float64, "double")
    half = _converter(float16, "half")
    bfloat16 = _converter(bfloat16, "bfloat16")
    chalf = _converter(complex32, "chalf")
    cfloat = _converter(complex64, "cfloat")
    cdouble = _converter(complex128, "cdouble")
    long = _converter(int64, "long")
    int = _converter(int32, "int")
    short = _converter(int16, "short")
    char = _converter(int8, "char")
    byte = _converter(uint8, "byte")
    bool = _converter(bool_, "bool")

    def type(self, dtype: Any = None, non_blocking: Any = False) -> Any:
        """Without an argument, the name of the legacy type, as 'torch.FloatTensor'; else the tensor in that `dtype`.

        It may be given as a dtype, as such a name, as torch.FloatTensor itself, or as torch.Tensor: the default dtype.
        torch.cuda.FloatTensor is on a GPU. `non_blocking` has no effect on a CPU.

        >>> torch.ones(1).type(), torch.ones(1).type(torch.int64)
        ('torch.FloatTensor', tensor([1]))
        """
        if dtype is None:
            return type_name(self.dtype, self.device.type)
        if isinstance(dtype, type) and issubclass(dtype, TensorBase):
            return ops.to(self, get_default_dtype())
        if isinstance(dtype, LegacyTensorType):
            element = dtype.dtype
            return ops.to(on_device(self, dtype.device_type), element)
        if dtype in (float, int, bool, complex):
            raise ValueError(f"invalid type: '{dtype.__name__}'; give a torch.dtype, as torch.float64")
        if isinstance(dtype, str):
            return self.type(named_type(dtype))
        return ops.to(self, as_dtype(dtype))

    # ---------------------------------------------------------------------------------------------- to another device

    def cpu(self, memory_format: Any = preserve_format) -> Any:
        """The tensor in main memory: itself, unless `memory_format` asks for another order of its elements.
        NotImplementedError if it has no data.

        >>> x = torch.ones(2)
        >>> x.cpu() is x
        True
        """
        return ops.to(self, "cpu", memory_format=memory_format)

    def cuda(self, device: Any = None, non_blocking: Any = False, memory_format: Any = preserve_format) -> Any:
        """The tensor on a GPU, the current one unless `device` names another. AssertionError if there is none: ask
        torch.cuda.is_available() first. (`non_blocking`, `memory_format`: whether to wait, and in which order elements
        lie.)

        >>> torch.ones(2).cuda() if torch.cuda.is_available() else "no GPU"
        'no GPU'
        """
        return on_device(self, "cuda" if device is None else device, non_blocking)

    def record_stream(self, s: Any) -> None:
        """Keeps the memory back, when it is freed, until what is in stream `s` now is done. RuntimeError for a tensor
        that isn't on a GPU."""
        block = self.storage.block
        if block is None:
            raise RuntimeError(f"record_stream: expected a tensor on a GPU, got one on {self.device}")
        block.used_on(s.handle)

    def pin_memory(self, device: Any = None) -> Any:
        """The tensor in memory that a GPU copies from while the program goes on, as x.to("cuda", non_blocking=True)
        lets it: itself if it is there, else a copy. RuntimeError without a GPU, and for a tensor on one.

        >>> torch.ones(2).pin_memory().is_pinned() if torch.cuda.is_available() else "no GPU"
        'no GPU'
        """
        return pinned(self)

    def share_memory_(self) -> Any:
        """Moves the elements to memory that other processes look at: those forked later, those it is sent to."""
        share([self.storage])
        return self

    # ---------------------------------------------------------------------------------------------- legacy constructors

    def new(self, *args: Any, device: Any = None) -> Any:
        """PyTorch's old constructor: `args` are sizes, new(2, 3), or values, new([2, 3]); both in this dtype.

        >>> torch.tensor([1.5]).new([2, 3])
        tensor([2., 3.])
        """
        return LegacyTensorType(self.dtype)(*args, device=self.device if device is None else device)

    def apply_(self, callable: Callable[[Any], Any]) -> Any:
        """Replaces each element by what a Python function makes of it. Slow, and not differentiable."""
        return self._replaced(callable, self)

    def map_(self, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replaces each element by what a Python function makes of it and that of another tensor."""
        return self._replaced(callable, self, tensor.expand(self.sizes))

    def _replaced(self, function: Callable[..., Any], *operands: Any) -> Any:
        if self.requires_grad:
            raise TypeError("apply_ and map_ run Python on numbers: they can't be used where gradients are required")
        values = [function(*numbers) for numbers in zip(*(x.array.reshape(-1).tolist() for x in operands), strict=True)]
        result = np.array(values, dtype=self.dtype.numpy).reshape(self.sizes)
        self.store(result)
        self.storage.version += 1
        return self
