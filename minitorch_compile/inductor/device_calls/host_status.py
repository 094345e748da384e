"""What goes wrong in kernels that nobody waits for: they leave it in pinned memory of the host, and whoever comes by
later is told.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()) as runtime:
...     status = HostStatus(runtime)
...     status()
...     status.words[:] = 1, 9, 4                                     # as a kernel writes them
...     status()
Traceback (most recent call last):
IndexError: index 9 is out of bounds for dimension with size 4
"""

from __future__ import annotations

import numpy as np

from minitorch_compile.cuda.pinned_memory import pinned_bytes
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.runtime.tensor_call import index_error

STATUS_BYTES = 24  # three int64: what went wrong, the index, the size


class HostStatus:
    """Called, it raises the error for what kernels have left since the last call, if there is something."""

    def __init__(self, runtime: Runtime) -> None:
        self.words = pinned_bytes(runtime, STATUS_BYTES).view(np.int64)
        self.words[:] = 0
        self.address = self.words.ctypes.data
        self.allocator, self.streams = runtime.host_allocator, set[StreamHandle]()

    def __call__(self) -> None:
        if self.words[0]:
            reported = self.words.copy()
            self.words[:] = 0
            raise_reported(reported)

    def used_on(self, stream: StreamHandle) -> None:
        """Keeps the memory back, when nobody has it any more, until the kernels in this stream are done with it."""
        if stream not in self.streams:
            self.streams.add(stream)
            self.allocator.record_stream(self.address, stream)


def raise_reported(reported: np.ndarray) -> None:
    """The error for what kernels left in a status, if there is something."""
    if reported[0]:
        raise index_error(reported)
