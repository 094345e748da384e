"""torch.FloatTensor and its kin: PyTorch's first names for dtypes, which old programs construct and ask for.

>>> LongTensor([1, 2]), FloatTensor(2, 3).shape
(tensor([1, 2]), torch.Size([2, 3]))
>>> isinstance(FloatTensor([1]), FloatTensor), isinstance(FloatTensor([1]), LongTensor)
(True, False)
"""

from __future__ import annotations

from typing import Any, Union

import numpy as np

from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.tensor.dispatch.op import find
from minitorch_compile.tensor.numerics.dtype import (
    DTYPES,
    bool_,
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
from minitorch_compile.tensor.tensor_base import TensorBase

_NAMES = {
    float64: "DoubleTensor",
    float32: "FloatTensor",
    float16: "HalfTensor",
    int64: "LongTensor",
    int32: "IntTensor",
    int16: "ShortTensor",
    int8: "CharTensor",
    uint8: "ByteTensor",
    bool_: "BoolTensor",
}


def type_name(element: dtype, device_type: str = "cpu") -> str:
    """'torch.FloatTensor' for float32, and so on; on a GPU 'torch.cuda.FloatTensor'.

    >>> type_name(int64), type_name(int64, "cuda")
    ('torch.LongTensor', 'torch.cuda.LongTensor')
    """
    special = {
        "bfloat16": "BFloat16Tensor",
        "complex32": "ComplexHalfTensor",
        "complex64": "ComplexFloatTensor",
        "complex128": "ComplexDoubleTensor",
    }
    # The youngest dtypes have no such class; PyTorch names them likewise: 'torch.UInt16Tensor'.
    name = _NAMES.get(element) or special.get(element.name)
    place = "cuda." if device_type == "cuda" else ""
    return f"torch.{place}{name or element.name.replace('ui', 'UI').replace('fl', 'Fl') + 'Tensor'}"


def dtype_of_type_name(name: str) -> dtype:
    """The dtype of 'torch.FloatTensor'. ValueError for a name that is none."""
    for element in DTYPES:
        if type_name(element) == name.replace("torch.cuda.", "torch."):
            return element
    raise ValueError(f"invalid type: {name!r}; expected one such as {', '.join(map(type_name, DTYPES[:3]))}")


class LegacyTensorType:
    """torch.FloatTensor: makes tensors of a dtype, and isinstance() tells them. None stands for the default dtype."""

    device_type = "cpu"

    def __init__(self, element: dtype | None) -> None:
        self._element = element

    @property
    def dtype(self) -> dtype:
        return self._element or get_default_dtype()

    def __repr__(self) -> str:
        return f"<class '{type_name(self.dtype)}'>"

    def __instancecheck__(self, instance: object) -> bool:
        if not isinstance(instance, TensorBase) or instance.device.type != self.device_type:
            return False
        return instance.dtype is self.dtype

    def __call__(self, *args: Any, device: Any = None) -> Any:
        """A tensor of sizes (2, 3), of values ([2, 3]), an alias of a tensor, or an empty one.

        TypeError for a tensor of another dtype: those are converted by name, x.long().
        """
        if all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in args):
            return find("zeros")(args or (0,), dtype=self.dtype, device=device)
        if len(args) != 1:
            raise TypeError(f"{self!r}: expected sizes, or one sequence of values, got {args}")
        data = args[0]
        if isinstance(data, TensorBase):
            if data.dtype is not self.dtype:
                raise TypeError(f"expected {type_name(self.dtype)} (got {type_name(data.dtype)})")
            return data.detach()  # type: ignore[attr-defined]
        from minitorch_compile.tensor.memory.size import Size
        from minitorch_compile.tensor.ops.construct import tensor

        if isinstance(data, Size):
            return find("zeros")(data, dtype=self.dtype, device=device)
        if not hasattr(data, "__len__") and not hasattr(data, "__array__"):
            raise TypeError(f"new(): data must be a sequence (got {type(data).__name__})")
        return tensor(data, dtype=self.dtype, device=device)

    def __or__(self, other: Any) -> Any:
        """`LongTensor | None` in an annotation, where it stands for a class."""
        return Union[self, other]  # noqa: UP007  what an instance can be part of

    def __ror__(self, other: Any) -> Any:
        """`None | LongTensor`, likewise."""
        return Union[other, self]  # noqa: UP007


DoubleTensor, FloatTensor, HalfTensor = map(LegacyTensorType, (float64, float32, float16))
LongTensor, IntTensor, ShortTensor, CharTensor = map(LegacyTensorType, (int64, int32, int16, int8))
ByteTensor, BoolTensor = map(LegacyTensorType, (uint8, bool_))


class TypeOnAGPU(LegacyTensorType):
    """torch.cuda.FloatTensor, which programs name beside torch.FloatTensor. Without a GPU no tensor is one, and making
    one is a TypeError.

    >>> TypeOnAGPU(float32), isinstance(FloatTensor(1), TypeOnAGPU(float32))
    (<class 'torch.cuda.FloatTensor'>, False)
    """

    device_type = "cuda"

    @property
    def dtype(self) -> dtype:
        """TypeError if there is no GPU: nothing is converted to it either."""
        if not accelerators["cuda"].is_available():
            raise TypeError(
                f"type {type_name(super().dtype, 'cuda')} not available. Torch not compiled with CUDA enabled: tensors"
                " live on the CPU here; ask torch.cuda.is_available() first"
            )
        return super().dtype

    def __repr__(self) -> str:
        return f"<class '{type_name(super().dtype, 'cuda')}'>"

    def __call__(self, *args: Any, device: Any = None) -> Any:
        """Likewise, on the current GPU unless `device` names another."""
        return super().__call__(*args, device="cuda" if device is None and self.dtype else device)


def named_type(name: str) -> LegacyTensorType:
    """The type of 'torch.FloatTensor' or 'torch.cuda.FloatTensor'. ValueError for a name that is none."""
    kind = TypeOnAGPU if name.startswith("torch.cuda.") else LegacyTensorType
    return kind(dtype_of_type_name(name))
