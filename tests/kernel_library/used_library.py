"""A library of some programs and kernels for the operations of this process, and what a call gives with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.inductor.library_writer import write_library as writer
from minitorch_compile.kernel_library import library, replaced


def used_library(names: Any) -> Iterator[library.Library]:
    """Writes a library of these programs, which the operations of this process then use."""
    assert writer.write_library(names)
    found = library.read_library()
    assert found is not None
    with pytest.MonkeyPatch.context() as patch, config.patch(eager_kernels="on_disk"):
        patch.setattr(replaced, "_library", lambda: found)
        yield found


def results(call: Any, arrays: list[np.ndarray], dtype: type) -> list[np.ndarray]:
    """What a call gives, and all its gradients."""
    tensors = [torch.tensor(array.astype(dtype), requires_grad=True) for array in arrays]
    out = call(*tensors)
    out.backward(torch.tensor(np.cos(np.arange(out.numel())).reshape(out.shape).astype(dtype)))
    return [out.detach().numpy(), *(tensor.grad.numpy() for tensor in tensors)]
