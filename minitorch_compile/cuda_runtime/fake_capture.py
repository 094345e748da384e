"""Recording in streams that aren't there: what is put into a stream is noted instead of run, and run at each launch.

    begin     put a, put b     end        launch      launch
    |-------- a, b noted ------|          a, b run    a, b run

As in CUDA, a second stream is drawn in when it waits for a mark in the first, and must be waited for before the end.
Nobody may wait for a stream that records, as nothing in it is ever done.

>>> from minitorch_compile.cuda_runtime.driver import StreamHandle
>>> captures, stream = FakeCaptures(), StreamHandle(0, 3)
>>> captures.begin(stream)
>>> captures.takes(lambda: print("run"), stream)
True
>>> works = captures.end(stream)
>>> for work in works: work()
run
>>> captures.takes(lambda: print("run"), stream)
False
"""

from __future__ import annotations

from dataclasses import dataclass, field

from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError
from minitorch_compile.cuda_runtime.fake_stream import Work

UNSUPPORTED = "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"


@dataclass
class FakeCapture:
    """What one stream, and those that were drawn in, have recorded. `apart`: streams that nobody waited for yet."""

    origin: StreamHandle
    works: list[Work] = field(default_factory=list)
    apart: set[StreamHandle] = field(default_factory=set)
    is_invalid: bool = False


class FakeCaptures:
    """The recordings under way, by their streams."""

    def __init__(self) -> None:
        self.of: dict[StreamHandle, FakeCapture] = {}
        self.marks: dict[int, tuple[FakeCapture, StreamHandle]] = {}  # events that lie in recordings

    def begin(self, stream: StreamHandle) -> None:
        if not stream.handle:
            raise CudaError("cuStreamBeginCapture", UNSUPPORTED, "the default stream can't record")
        if stream in self.of:
            raise CudaError("cuStreamBeginCapture", "CUDA_ERROR_ILLEGAL_STATE", f"{stream} records already")
        self.of[stream] = FakeCapture(stream)

    def end(self, stream: StreamHandle) -> list[Work]:
        """What was recorded. CudaError if something was done that can't be, or a stream is still apart."""
        capture = self.of.get(stream)
        if capture is None or capture.origin != stream:
            raise CudaError("cuStreamEndCapture", "CUDA_ERROR_ILLEGAL_STATE", f"no recording began in {stream}")
        self.of = {other: found for other, found in self.of.items() if found is not capture}
        self.marks = {event: mark for event, mark in self.marks.items() if mark[0] is not capture}
        if capture.is_invalid:
            explanation = "the recording was spoilt by a call that can't be recorded"
            raise CudaError("cuStreamEndCapture", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", explanation)
        if capture.apart:
            explanation = "streams that were drawn into the recording must be waited for before its end"
            raise CudaError("cuStreamEndCapture", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", explanation)
        return capture.works

    def takes(self, work: Work, stream: StreamHandle) -> bool:
        """Whether a stream records; then the work is noted."""
        capture = self.of.get(stream)
        if capture is not None:
            capture.works.append(work)
            capture.apart |= {stream} - {capture.origin}
        return capture is not None

    def refuse(self, call: str, stream: StreamHandle, explanation: str) -> None:
        """CudaError if the stream records, which is spoilt by this call."""
        capture = self.of.get(stream)
        if capture is not None:
            capture.is_invalid = True
            raise CudaError(call, UNSUPPORTED, f"operation not permitted when stream is capturing: {explanation}")

    def records_event(self, event: int, stream: StreamHandle) -> bool:
        """Whether an event is a mark in a recording now."""
        self.marks.pop(event, None)
        capture = self.of.get(stream)
        if capture is not None:
            self.marks[event] = capture, stream
        return capture is not None

    def waits_for(self, stream: StreamHandle, event: int) -> bool:
        """Whether a stream that waits for an event is, or comes, into its recording."""
        mark, capture = self.marks.get(event), self.of.get(stream)
        if mark is None and capture is None:
            return False
        if mark is None or (capture is not None and capture is not mark[0]):
            assert capture is not None
            capture.is_invalid = True
            explanation = "a stream that records can't wait for what is outside of the recording"
            raise CudaError("cuStreamWaitEvent", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", explanation)
        self.of[stream] = mark[0]
        if stream != mark[0].origin:
            mark[0].apart.add(stream)
        mark[0].apart.discard(mark[1])
        return True
