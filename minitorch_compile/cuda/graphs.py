"""torch.cuda.CUDAGraph: a program records its own work on a GPU, and launches it again as one.

>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> from minitorch_compile.tensor import zeros
>>> with using(FakeDriver()):
...     x, g = zeros(2, device="cuda"), CUDAGraph()
...     with graph(g):
...         y = x + 1
...     x.fill_(5)
...     g.replay()
...     print(y)
tensor([5., 5.], device='cuda:0')
tensor([6., 6.], device='cuda:0')

Source: torch/cuda/graphs.py and c10/cuda/CUDAGraph.cpp.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable
from itertools import count
from types import TracebackType
from typing import Any

from minitorch_compile.cuda.recording import Recording
from minitorch_compile.cuda.runtime import Runtime, find, required
from minitorch_compile.cuda.streams import Stream, StreamContext, runtime_for

NOTHING = "there is no recording"
MODES = ("global", "thread_local", "relaxed")
_pools = count(1)


def graph_pool_handle() -> tuple[int, int]:
    """A name for memory that several recordings share, for `pool=`."""
    return (0, next(_pools))


def is_current_stream_capturing() -> bool:
    """Whether work that this thread gives to the current stream is being recorded. False without a GPU.

    >>> is_current_stream_capturing()
    False
    """
    runtime = find()
    return runtime is not None and runtime.driver.is_capturing(runtime.current_stream())


class CUDAGraph:
    """Kernels recorded to be launched at once. RuntimeError without a GPU.

    What is recorded isn't done; `replay` does it, on the memory that it was recorded with. `keep_graph`: the recording
    is made ready by `instantiate` or the first `replay`, and can be looked at before.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        self._runtime: Runtime = runtime_for(type(self).__name__)
        self._keep = keep_graph
        self._recording: Recording | None = None
        self._is_done = False

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        """From now on, what is put into the current stream is recorded. RuntimeError on the default stream, and if
        there is a recording already; ValueError for an unknown mode."""
        if capture_error_mode not in MODES:
            expected = ", ".join(map(repr, MODES))
            raise ValueError(f"CUDAGraph: capture_error_mode must be one of {expected}, got {capture_error_mode!r}")
        if self._recording is not None:
            raise RuntimeError(
                "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance"
            )
        stream = self._runtime.current_stream()
        if not stream.handle:
            raise RuntimeError(
                "CUDA graphs must be captured on a non-default stream. (However, after capture, it's ok to replay them"
                " on the default stream.)"
            )
        name: Hashable = graph_pool_handle() if pool is None else pool
        made = Recording(self._runtime, stream, name, capture_error_mode)
        made.begin()
        self._recording = made

    def capture_end(self) -> None:
        """Ends the recording, which `replay` launches. RuntimeError if none began, or something can't be recorded."""
        recording = self._required()
        try:
            recording.end()
        except RuntimeError:
            self.reset()
            raise
        self._is_done = True
        if not self._keep:
            recording.instantiate()

    def instantiate(self) -> None:
        """Makes the recording ready, once it has ended."""
        self._finished().instantiate()

    def replay(self) -> None:
        """Does what was recorded, in the current stream. RuntimeError if nothing was."""
        recording = self._finished()
        recording.launch(self._runtime.current_stream(recording.stream.device))

    def reset(self) -> None:
        """Forgets the recording; its memory goes back once no tensor lies there."""
        recording, self._recording, self._is_done = self._recording, None, False
        if recording is not None:
            recording.drop()

    def pool(self) -> Any:
        """The name of its memory, for other recordings that may share it: those that are never launched at the same
        time, and always in the order in which they were recorded."""
        return self._required().pool

    def raw_cuda_graph(self) -> int:
        """The driver's handle of the recording. RuntimeError unless it was made with keep_graph=True."""
        if not self._keep:
            raise RuntimeError(
                "You cannot access the raw cudaGraph_t instance unless CUDAGraph was initialized with keep_graph=true"
            )
        return self._finished().graph

    def raw_cuda_graph_exec(self) -> int:
        """The driver's handle of what is launched."""
        return self._finished().executable

    def enable_debug_mode(self) -> None:
        """Nothing to do: a recording is kept as it was made."""

    def _required(self) -> Recording:
        if self._recording is None:
            raise RuntimeError(f"CUDAGraph: {NOTHING}; capture one with torch.cuda.graph(g) first")
        return self._recording

    def _finished(self) -> Recording:
        recording = self._required()
        if not self._is_done:
            raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")
        return recording


class graph:
    """`with torch.cuda.graph(g):` records what is done inside into `g`, on a stream of its own unless one is given.

    `pool`: the memory that it may share, from `graph_pool_handle()` or another graph's `pool()`. `capture_error_mode`:
    whose calls that can't be recorded are errors: "global", any thread's; "thread_local", this one's; "relaxed", none.
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        runtime = runtime_for(type(self).__name__)
        kept = graph.default_capture_stream
        if stream is None and (kept is None or kept._runtime is not runtime):
            kept = graph.default_capture_stream = Stream()
        chosen = stream or kept
        assert chosen is not None
        self.capture_stream, self.cuda_graph = chosen, cuda_graph
        self.pool, self.capture_error_mode = pool, capture_error_mode
        self.stream_ctx = StreamContext(chosen)

    def __enter__(self) -> None:
        runtime = self.capture_stream._runtime
        runtime.driver.synchronize_device(self.capture_stream.handle.device)
        gc.collect()  # so that nothing is freed in the middle for which somebody would have to wait
        runtime.allocators[self.capture_stream.handle.device].empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode)
        except BaseException:
            self.stream_ctx.__exit__(None, None, None)
            raise

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        try:
            self.cuda_graph.capture_end()
        except RuntimeError:
            if error is None:  # else that one says why
                raise
        finally:
            self.stream_ctx.__exit__(kind, error, traceback)


# Who makes them, and knows modules and gradients, which this floor can't import.
callable_makers: list[Callable[..., Any]] = []


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: Any = None,
) -> Any:
    """The callables, a function or module or a tuple of them, with recorded forward and backward passes.

    `sample_args`: a tuple of tensors like those of each call, or a tuple of such tuples; only whether they require
    grad, sizes, dtypes and devices count. A module is changed and returned: while it is in the mode that it is in now
    (training or not) its forward is the recording. Results are overwritten by the next call. `allow_unused_input`:
    inputs that no result depends on have no gradient; else that is a RuntimeError. `pool`: memory to share.

    AssertionError without a GPU; TypeError for arguments that aren't tensors; RuntimeError for modules with hooks or
    buffers that require grad.
    """
    required()
    return callable_makers[0](callables, sample_args, num_warmup_iters, allow_unused_input, pool)
