"""torch.cuda.Stream, Event and CUDAGraph: queues of work on a GPU, of which there is none.

Programs name the classes in annotations and choose a stream or None; only making one is an error, PyTorch's own.

>>> with stream(None):
...     print("stays where it is")
stays where it is
>>> Event(enable_timing=True)
Traceback (most recent call last):
RuntimeError: torch.cuda.Event requires CUDA support: tensors live on the CPU here; ask torch.cuda.is_available() first
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn

from minitorch_compile.cuda.absent import ADVICE, refuse


def _only_on_a_gpu(name: str) -> NoReturn:
    raise RuntimeError(f"torch.cuda.{name} requires CUDA support: {ADVICE}")


class Stream:
    """A queue of work on a GPU: RuntimeError when one is made."""

    def __init__(self, device: Any = None, priority: int = 0, **kwargs: Any) -> None:
        _only_on_a_gpu(type(self).__name__)


class ExternalStream(Stream):
    """A queue that another library made."""

    def __init__(self, stream_ptr: int, device: Any = None, **kwargs: Any) -> None:
        super().__init__(device)


class Event:
    """A mark in such a queue, for timing and for waiting. On the CPU, time.perf_counter() tells the time."""

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False, external: bool = False
    ) -> None:
        _only_on_a_gpu(type(self).__name__)


class CUDAGraph:
    """Kernels recorded to be launched at once."""

    def __init__(self, keep_graph: bool = False) -> None:
        _only_on_a_gpu(type(self).__name__)


class graph:
    """`with torch.cuda.graph(g)`: records into a CUDAGraph."""

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        _only_on_a_gpu(type(self).__name__)


class StreamContext:
    """`with torch.cuda.stream(s)`: work goes to s. Without a GPU s can only be None, which changes nothing."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        return None


def stream(stream: Stream | None) -> StreamContext:
    """The context in which work goes to a stream."""
    return StreamContext(stream)


def set_stream(stream: Stream | None) -> None:
    """Sends work to a stream from now on; None changes nothing."""


def current_stream(device: Any = None) -> NoReturn:
    """AssertionError: there is none."""
    refuse()


def default_stream(device: Any = None) -> NoReturn:
    """AssertionError: there is none."""
    refuse()


def is_current_stream_capturing() -> bool:
    """Whether kernels are being recorded: never."""
    return False


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> NoReturn:
    """AssertionError: there is no GPU to record on."""
    refuse()
