"""A library of some programs and kernels for the operations of this process, and what a call gives with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile import config
from minitorch_compile.inductor.library_writer import write_library as writer
from minitorch_compile.kernel_library import library, replaced


@cache
def written(names: tuple[str, ...]) -> tuple[Path, library.Library]:
    """A library of these programs, and where it lies: in a file of this process's own, since another that runs tests
    may be writing one, too."""
    own = library.library_path().with_name(f"library of {os.getpid()}, {hash(names)}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(library, "library_path", lambda: own)
        patch.setattr(writer, "library_path", lambda: own)
        assert writer.write_library(names)
        found = library.read_library()
    assert found is not None
    return own, found


def used_library(names: Iterable[str]) -> Iterator[library.Library]:
    """A library of these programs, which the operations of this process use meanwhile."""
    own, found = written(tuple(names))
    with pytest.MonkeyPatch.context() as patch, config.patch(eager_kernels="on_disk"):
        patch.setattr(library, "library_path", lambda: own)
        patch.setattr(replaced, "_library", lambda: found)
        yield found


def results(call: Any, arrays: list[np.ndarray], dtype: type) -> list[np.ndarray]:
    """What a call gives, and all its gradients."""
    tensors = [torch.tensor(array.astype(dtype), requires_grad=True) for array in arrays]
    out = call(*tensors)
    out.backward(torch.tensor(np.cos(np.arange(out.numel())).reshape(out.shape).astype(dtype)))
    return [out.detach().numpy(), *(tensor.grad.numpy() for tensor in tensors)]
