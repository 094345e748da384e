"""Memory that libraries write to while they work: one block for each stream, since what is in one stream runs in order.

>>> from minitorch_compile.cuda_runtime.allocator import CachingAllocator
>>> from minitorch_compile.cuda_runtime.driver import StreamHandle
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> workspaces, stream = StreamWorkspaces([CachingAllocator(FakeDriver(), 0)]), StreamHandle(0)
>>> first = workspaces.of(stream, 1024)
>>> workspaces.of(stream, 512) == first
True
>>> _ = workspaces.of(stream, 1 << 20)
>>> workspaces.blocks[stream][0]
1048576
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from minitorch_compile.cuda_runtime.allocator import CachingAllocator
from minitorch_compile.cuda_runtime.driver import StreamHandle


class StreamWorkspaces:
    """`allocators` are those of the devices. Who asks for a workspace has the `turn` until its work is in the stream: a
    block that another thread outgrew meanwhile would be somebody else's. Handles of libraries are shared under it, too.
    """

    def __init__(self, allocators: Sequence[CachingAllocator]) -> None:
        self.allocators = allocators
        self.turn = threading.RLock()
        self.blocks: dict[StreamHandle, tuple[int, int]] = {}  # bytes, address

    def of(self, stream: StreamHandle, nbytes: int) -> int:
        """The address of at least so many bytes for the work that is put into the stream next."""
        size, address = self.blocks.get(stream, (0, 0))
        if size < nbytes:
            allocator = self.allocators[stream.device]
            if address:
                allocator.free(address)  # whoever gets it works in the same stream, or waits
            address = allocator.allocate(nbytes, stream)
            self.blocks[stream] = nbytes, address
        return address

    def take(self, stream: StreamHandle) -> int:
        """The address of the stream's workspace, which is the caller's from now on; 0 if there is none."""
        return self.blocks.pop(stream, (0, 0))[1]
