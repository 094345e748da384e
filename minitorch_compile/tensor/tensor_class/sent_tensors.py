"""Tensors on their way to another process, through a queue, a pipe, or as arguments of it: both look at the same
memory, of which only the file travels.

>>> from multiprocessing import Pipe
>>> from minitorch_compile import zeros
>>> x, (receive, send) = zeros(2), Pipe(duplex=False)
>>> send.send(x)
>>> received = receive.recv()
>>> x[0] = 5.0
>>> received
tensor([5., 0.])

What has no plain memory (sparse, fake or conjugate tensors) is copied, as `pickle` does it; so is everything where a
process can't send an open file.
"""

from __future__ import annotations

import os
from multiprocessing import reduction
from typing import Any

import numpy as np

from minitorch_compile.tensor.memory.shared_memory import file_of, mapped, share
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

Layout = tuple[int, tuple[int, ...], tuple[int, ...]]  # offset, sizes, strides


def send_shared(tensor_class: type) -> None:
    """From now on tensors of exactly this class are sent so."""
    if hasattr(reduction, "DupFd"):
        reduction.ForkingPickler.register(tensor_class, _reduced)


def _reduced(x: Any) -> tuple[Any, ...]:
    """What stands for a tensor in the message. RuntimeError for a result that requires grad."""
    if x.requires_grad and not x.is_leaf:
        raise RuntimeError(
            "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support"
            " crossing process boundaries.  If you just want to transfer the data, call detach() on the tensor before"
            " serializing (e.g., putting it on the queue)."
        )
    if x.is_sparse_layout or x.is_fake or x.storage.flips or x.storage.block is not None:
        return x.__reduce_ex__(2)
    share([x.storage])
    buffer = x.storage.buffer
    handle = reduction.DupFd(file_of(buffer).fileno())
    layout = x.offset, tuple(x.sizes), x.strides
    return _rebuilt, (type(x), handle, buffer.dtype, buffer.size, x.dtype, layout, x.requires_grad)


def _rebuilt(
    tensor_class: type, handle: Any, kind: np.dtype, count: int, element: dtype, layout: Layout, requires_grad: bool
) -> Any:
    """The tensor, in the process that it was sent to."""
    try:
        descriptor = handle.detach()
    except (ConnectionError, FileNotFoundError) as error:
        error.add_note("The process that sent this tensor has ended: it must live until its tensors have arrived.")
        raise
    memory = Storage(mapped(os.fdopen(descriptor, "r+b", buffering=0), kind, count))
    offset, sizes, strides = layout
    result = from_parts(memory, offset, Size(sizes), strides, element, TensorBase.device)
    result.__class__ = tensor_class
    result.requires_grad = requires_grad
    return result
