"""Memory of a GPU that other libraries read and write, without a copy: `__cuda_array_interface__`, and DLPack.

Both say on which stream the memory is ready. Whoever takes it lets their own stream wait for that one, and nobody waits
on the host.

>>> typestr_of(FROM_NUMPY[np.dtype("int64")])
'<i8'
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor.dispatch import dlpack_capsule
from minitorch_compile.tensor.dispatch.accelerators import accelerators, located
from minitorch_compile.tensor.dispatch.dlpack_capsule import Described
from minitorch_compile.tensor.memory.device import device as Device
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import contiguous_strides
from minitorch_compile.tensor.numerics.dtype import FROM_NUMPY, dtype
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

NOT_ORDERED = -1  # DLPack: the consumer takes care of streams itself
LEGACY_DEFAULT = 1  # both protocols: CUDA's default stream, whose handle is 0


def typestr_of(element: dtype) -> str:
    """A dtype as NumPy's protocol writes it. TypeError for one that NumPy lacks."""
    if FROM_NUMPY.get(element.numpy) is not element or element.name == "bfloat16":
        raise TypeError(f"__cuda_array_interface__: NumPy has no name for {element}; view it as integers first")
    return element.numpy.str


def cuda_array_interface(x: Any) -> dict[str, Any]:
    """Version 3 of the protocol. AttributeError for a tensor that isn't on a GPU, RuntimeError for one that requires
    grad, as in PyTorch."""
    if x.storage.block is None:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: {x.type()} If CUDA data is required use"
            " tensor.cuda() to copy tensor to device memory."
        )
    if x.requires_grad:
        raise RuntimeError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use"
            " var.detach() to get Variable that doesn't require grad."
        )
    size = x.dtype.itemsize
    dense = tuple(x.strides) == contiguous_strides(tuple(x.sizes))
    return {
        "typestr": typestr_of(x.dtype),
        "shape": tuple(x.sizes),
        "strides": None if dense else tuple(stride * size for stride in x.strides),
        "data": (x.storage.block.address + x.offset * size if 0 not in x.sizes else 0, False),
        "version": 3,
        "stream": accelerators[x.device.type].current_stream(x.device) or LEGACY_DEFAULT,
    }


def from_cuda_array_interface(owner: Any) -> Any:
    """A tensor over the memory that another library's array describes, on the GPU where it is."""
    said = owner.__cuda_array_interface__
    element = np.dtype(said["typestr"])
    if element not in FROM_NUMPY:
        raise TypeError(f"__cuda_array_interface__: no dtype here holds {said['typestr']}")
    if said.get("mask") is not None:
        raise TypeError("__cuda_array_interface__: tensors have no mask; fill what it hides first")
    sizes, strides = tuple(said["shape"]), said.get("strides")
    if strides is None:
        steps = contiguous_strides(sizes)
    elif any(stride % element.itemsize for stride in strides):
        raise ValueError(f"given array strides not a multiple of the element byte size, got {strides}")
    else:
        steps = tuple(stride // element.itemsize for stride in strides)
    address = said["data"][0]
    accelerator = accelerators["cuda"]
    where = accelerator.where_is(address) if address else located(Device("cuda"))
    if said.get("stream") is not None:
        accelerator.wait_for(said["stream"], where)
    assert where.index is not None
    return over_memory(Described(owner, where.index, address, sizes, steps, FROM_NUMPY[element]))


def over_memory(memory: Described) -> TensorBase:
    """A tensor over memory that somebody else owns. ValueError for negative strides."""
    if any(stride < 0 for stride in memory.strides):
        raise ValueError("at least one stride is negative, which tensors don't support; pass a copy")
    where = located(Device("cuda", memory.device_index))
    steps = [(size - 1) * stride for size, stride in zip(memory.sizes, memory.strides, strict=True)]
    nbytes = 0 if 0 in memory.sizes else (sum(steps) + 1) * memory.dtype.itemsize
    block = accelerators["cuda"].over(memory.address, nbytes, where, memory.owner)
    return from_parts(DeviceStorage(block), 0, Size(memory.sizes), memory.strides, memory.dtype, where)


def to_dlpack(x: TensorBase, stream: Any, max_version: tuple[int, int] | None) -> Any:
    """A capsule of memory on a GPU, which is ready when work comes that the consumer puts into `stream` now."""
    if stream is not None and not isinstance(stream, int):
        raise TypeError("stream must be ``int`` or ``none``")
    if stream == 0:
        raise BufferError("__dlpack__: stream 0 is ambiguous on CUDA; 1 is the legacy default stream")
    if stream != NOT_ORDERED:
        accelerators[x.device.type].let_wait(LEGACY_DEFAULT if stream is None else stream, x.device)
    return dlpack_capsule.capsule_of(x, max_version is not None and max_version[0] >= 1)


def from_dlpack(source: Any) -> TensorBase:
    """A tensor over memory that an object with `__dlpack__` has on a GPU, or a capsule, whose memory is ready."""
    if not hasattr(source, "__dlpack__"):
        return over_memory(dlpack_capsule.read(source))
    _, index = source.__dlpack_device__()
    where = located(Device("cuda", index))
    stream = accelerators["cuda"].current_stream(where) or LEGACY_DEFAULT
    try:
        capsule = source.__dlpack__(stream=stream, max_version=(1, 0))
    except TypeError:  # who knows nothing of versions doesn't know the word
        capsule = source.__dlpack__(stream=stream)
    return over_memory(dlpack_capsule.read(capsule))
