"""The memory of a recorded graph's results, which the next run overwrites: who looks at an old result then is told.

A block says where a result lies. When the recording is launched again, those that were handed out before become
blocks without an address, so that nothing is asked of a result that is still what it was.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()) as runtime:
...     memory = DeviceBlock(runtime, 0, 16)
...     block = RecordedBlock(memory, None)
...     print(block.address == memory.address)
...     block.overwritten()
...     block.address
Traceback (most recent call last):
RuntimeError: Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. ...

Source: torch/_inductor/cudagraph_trees.py, whose rule and error these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.cuda.device_block import DeviceBlock

OVERWRITTEN = (
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. To prevent"
    " overwriting, clone the tensor outside of torch.compile() or call torch.compiler.cudagraph_mark_step_begin()"
    " before each model invocation."
)


class RecordedBlock(DeviceBlock):
    """Memory of a recording, which stays while somebody has a result there, be the recording gone. `check`: raises what
    went wrong on the device, when somebody waits for it."""

    __slots__ = ("check", "memory")

    def __init__(self, memory: DeviceBlock, check: Callable[[], None] | None) -> None:
        self.memory, self.address, self.check = memory, memory.address, check

    def __getattr__(self, name: str) -> Any:
        """What is seldom asked of it: each launch makes blocks anew."""
        if name in ("allocator", "device", "nbytes", "runtime"):
            return getattr(self.memory, name)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __del__(self) -> None:
        """The memory goes back when the recording doesn't need it either."""

    def read(self, start: int, count: int) -> np.ndarray:
        found = super().read(start, count)
        if self.check is not None:
            self.check()
        return found

    def used_on(self, stream: Any) -> None:
        """The recording is launched behind what is in the streams that it knows; others must wait for it."""

    def overwritten(self) -> None:
        """From now on it is an error to ask where the memory is."""
        self.__class__ = OverwrittenBlock


class OverwrittenBlock(RecordedBlock):
    """Memory in which something else lies now."""

    __slots__ = ()

    @property
    def address(self) -> int:  # type: ignore[override]
        raise RuntimeError(OVERWRITTEN)

    def __del__(self) -> None:
        """As before."""
