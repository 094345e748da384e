"""The memory that tensors look at: a flat run of elements, shared by every view of it.

>>> import numpy as np
>>> s = Storage(np.arange(4.0))
>>> len(s), s.version
(4, 0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

INFERENCE = -(1 << 62)  # the version of an inference tensor: any number of in-place writes leaves it negative


class Storage:
    """A one-dimensional typed NumPy buffer and a version that counts in-place writes.

    `buffer` is None for fake tensors, which have sizes and strides but no data. The version lets autograd notice that a
    value it saved was overwritten (PyTorch's VariableVersion). It is negative in tensors made in inference mode, which
    have no version.
    """

    __slots__ = ("__weakref__", "buffer", "version")

    def __init__(self, buffer: np.ndarray | None) -> None:
        self.buffer = buffer
        self.version = 0

    def __len__(self) -> int:
        return 0 if self.buffer is None else self.buffer.size

    def __call__(self) -> Any:
        """PyTorch's spelling: `x.storage()` looks at the elements."""
        from minitorch_compile.tensor.storage_faces import TypedStorage

        return TypedStorage(self)

    def __repr__(self) -> str:
        content = "no data" if self.buffer is None else f"{self.buffer.size} x {self.buffer.dtype}"
        return f"Storage({content}, version={self.version})"

    @property
    def is_inference(self) -> bool:
        """Whether it was made in inference mode, which keeps it out of differentiation."""
        return self.version < 0

    @property
    def nbytes(self) -> int:
        return 0 if self.buffer is None else self.buffer.nbytes
