"""Floor 1: tensors, and the operations on them.

>>> from minitorch_compile.tensor import ops, tensor
>>> ops.add(tensor([1, 2]), 1)
tensor([2, 3])
"""

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.cpu.heap import keep_freed_memory
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from minitorch_compile.tensor.memory.device import device
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.modes.inference_mode import inference_mode, is_inference, is_inference_mode_enabled
from minitorch_compile.tensor.numerics.dtype import (
    bfloat16,
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
    promote_types,
    set_default_dtype,
    uint8,
)
from minitorch_compile.tensor.ops import arange, empty, eye, full, linspace, ones, rand, randint, randn, zeros
from minitorch_compile.tensor.ops.construct import as_tensor, from_numpy, tensor
from minitorch_compile.tensor.random.generator import Generator, default_generator, manual_seed
from minitorch_compile.tensor.tensor_base import FakeDataError, empty_fake, fake_like
from minitorch_compile.tensor.tensor_class.tensor_class import Tensor

keep_freed_memory()

__all__ = [
    "FakeDataError",
    "Generator",
    "Op",
    "Size",
    "Tensor",
    "arange",
    "as_tensor",
    "bfloat16",
    "bool_",
    "default_generator",
    "device",
    "dtype",
    "empty",
    "empty_fake",
    "enable_grad",
    "eye",
    "fake_like",
    "float16",
    "float32",
    "float64",
    "from_numpy",
    "full",
    "get_default_dtype",
    "inference_mode",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "linspace",
    "manual_seed",
    "no_grad",
    "ones",
    "ops",
    "promote_types",
    "rand",
    "randint",
    "randn",
    "set_default_dtype",
    "set_grad_enabled",
    "tensor",
    "uint8",
    "zeros",
]
