"""Work on a GPU recorded, and launched again as one: what torch.cuda.CUDAGraph and mode="reduce-overhead" stand on.

    with recording(runtime, stream, pool) as made:     what is put into the stream is noted, not done;
        ...                                            memory for it comes from a pool of its own
    made.launch(stream)                                all of it is done, with one call of the driver

A recording knows addresses. So its memory stays its own until it is dropped, and whoever wants other inputs writes them
where the old ones were.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import tensor
>>> with using(FakeDriver()) as runtime:
...     x, stream = tensor([1.0, 2.0]).cuda(), runtime.driver.create_stream(0)
...     made = Recording(runtime, stream, pool="some name")
...     with made:
...         y = x + x
...     x.copy_(tensor([5.0, 6.0]))
...     made.launch(StreamHandle(0))
...     print(y)
tensor([5., 6.], device='cuda:0')
tensor([10., 12.], device='cuda:0')
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import TracebackType
from typing import Any

from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError


class Recording:
    """Entered, it records what this thread does on the stream's device. RuntimeError if another one is under way there;
    CudaError, when it is left, if something can't be recorded."""

    def __init__(self, runtime: Runtime, stream: StreamHandle, pool: Hashable, mode: str = "relaxed") -> None:
        self.runtime, self.stream, self.pool, self.mode = runtime, stream, pool, mode
        self.allocator = runtime.allocators[stream.device]
        self.graph = self.executable = 0
        self.workspaces: list[int] = []  # addresses of what libraries worked in
        self.has_pool = False
        self.check: Any = None  # raises what went wrong in kernels of the last launch, which didn't wait for them

    def begin(self) -> None:
        for workspaces in self.runtime.workspaces:
            if address := workspaces.take(self.stream):  # of something that was done there, not recorded
                self.allocator.free(address)
        self.allocator.begin_recording(self.stream, self.pool)
        self.has_pool, self.runtime.recordings[self.stream.device] = True, self
        try:
            self.runtime.driver.begin_capture(self.stream, self.mode)
        except CudaError:
            self._leave()
            raise

    def end(self) -> None:
        try:
            self.graph = self.runtime.driver.end_capture(self.stream)
        finally:
            self._leave()

    def _leave(self) -> None:
        taken = [workspaces.take(self.stream) for workspaces in self.runtime.workspaces]
        self.workspaces = [address for address in taken if address]
        self.allocator.end_recording()
        del self.runtime.recordings[self.stream.device]

    def __enter__(self) -> Recording:
        self.before = self.runtime.current_stream(self.stream.device)
        self.runtime.order(self.before, self.stream)
        self.begin()
        self.runtime.set_stream(self.stream)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.runtime.set_stream(self.before)
        try:
            self.end()
        except CudaError:
            if error is None:  # else that one says why
                raise

    def instantiate(self) -> None:
        """Makes it ready, as the first launch does."""
        if not self.executable:
            self.executable = self.runtime.driver.instantiate_graph(self.graph)
            self.launch_in: Callable[[int], None] = self.runtime.driver.prepared_graph(
                self.stream.device, self.executable
            )

    def ready(self) -> Callable[[int], None]:
        """What puts all of it into a stream of its device, given the stream's handle: without a question in between if
        nothing can go wrong in its kernels."""
        self.instantiate()
        checked = lambda handle: self.launch(StreamHandle(self.stream.device, handle))
        return self.launch_in if self.check is None else checked

    def launch(self, stream: StreamHandle) -> None:
        """Puts all of it into a stream of its device."""
        if self.check is not None:
            self.check()
            self.check.used_on(stream)
        if not self.executable:
            self.instantiate()
        self.launch_in(stream.handle)

    def drop(self) -> None:
        """Forgets what was recorded; its memory goes back when nothing else lies there."""
        driver = self.runtime.driver
        if self.executable:
            driver.destroy_executable(self.executable)
        if self.graph:
            driver.destroy_graph(self.graph)
        self.graph = self.executable = 0
        for address in self.workspaces:
            self.allocator.free_later(address)
        self.workspaces = []
        if self.has_pool:
            self.has_pool = False
            self.allocator.drop_recording(self.pool)

    def __del__(self) -> None:
        self.drop()
