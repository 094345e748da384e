"""mode="reduce-overhead" on a GPU: a compiled graph recorded, and launched by one call of the driver from then on.

    call 1   runs plainly: kernels are loaded, libraries choose
    call 2   recorded, and launched            call 3, 4, ...   launched

A recording knows addresses. An input is for it one of three things:

    static   a parameter, what the graph writes to, or memory that was given twice: its address is checked at each call
    copied   anything else on the device, into a place of the recording's
    number   in main memory, such as a learning rate: written to its place when it has changed

A static input that has moved means another recording, or, if it needn't stay, that it is copied from then on. Results
lie in the recording's memory. As in PyTorch, the next run overwrites those that the user has, and who looks at one
later is told (`recorded_block.py`); one that is saved for a backward pass, or a gradient, is never overwritten: while
it is alive, another recording with other memory is launched. Logged under "cudagraphs".

>>> import minitorch_compile as torch
>>> from minitorch_compile import logs
>>> from minitorch_compile.cuda.runtime import using
>>> from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
>>> with using(FakeDriver()), logs.capture("cudagraphs") as records:
...     double = torch.compile(lambda x: (x * 2).exp(), mode="reduce-overhead")
...     found = [double(torch.full((2,), value, device="cuda")).tolist() for value in (0.0, 1.0, 0.0)]
>>> found[2], [record.text for record in records]
([1.0, 1.0], ['recorded: 1 launches; inputs: 0 static, 1 copied, 0 numbers'])
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import Any

from minitorch_compile import logs
from minitorch_compile.cuda.recording import Recording
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_call import DeviceCall
from minitorch_compile.inductor.device_calls.host_status import HostStatus
from minitorch_compile.inductor.device_calls.input_places import HostPlace, Place, is_plain_in_main_memory
from minitorch_compile.inductor.device_calls.recorded_block import RecordedBlock
from minitorch_compile.inductor.device_calls.recorded_run import Launch, Run, look
from minitorch_compile.user_warnings import warn_user

MOST_RUNS = 8  # recordings of one graph: for other parameters, and for calls whose backward passes are still to come
PENDING = (
    "Unable to hit fast path of CUDAGraphs because of pending, uninvoked backwards. Consider running with"
    " torch.no_grad() or using torch.compiler.cudagraph_mark_step_begin() before each model invocation"
)

log = logs.artifact("cudagraphs")


class RecordedGraph:
    """A compiled graph as a function of tensors. `plain`: the function that runs it launch by launch. `overwritable`:
    which of the results the next run may overwrite."""

    def __init__(self, plain: Any, overwritable: Collection[int] = ()) -> None:
        self.plain = plain
        self.call: DeviceCall = plain.call
        self.runtime: Runtime = self.call.runtime
        self.index = self.call.index
        self.allocator = self.runtime.allocators[self.index]
        # The places of results that the next run may not overwrite while somebody has them.
        self.kept = sorted(
            {m[0] for i, m in enumerate(self.call.results) if type(m) is tuple and i not in frozenset(overwritable)}
        )
        self.written = {made for made in self.call.results if type(made) is int}
        self.seen: list[Any] = []  # the memory of the inputs of the first call
        self.copied: set[int] = set()  # inputs that needn't stay, and didn't
        self.runs: list[Run] = []
        self.launches: list[Launch] = []  # of these
        self.reason = ""  # why it isn't recorded
        self.turn = threading.Lock()
        self.status = HostStatus(self.runtime) if self.call.uses_status else None
        if self.runtime.sanitizer is not None:
            self.refuse("the sanitizer watches each launch")

    def run(self, *inputs: Any) -> tuple[Any, ...]:
        """The results."""
        with self.turn:
            if self.status is not None:
                self.status()  # of an earlier launch, which nobody waited for
            if not self.allocator.is_recording:
                for launch in self.launches:
                    results = launch(*inputs)
                    if results is not None:
                        return results
                made = None if self.reason else self.recorded(inputs)
                results = None if made is None else made(*inputs)
                if results is not None:
                    return results
            return self.plain(*inputs)

    # ------------------------------------------------------------------------------------------ recording

    def recorded(self, inputs: Sequence[Any]) -> Launch | None:
        """A new recording, as what launches it; None if this call is to run plainly."""
        if not self.seen:
            self.seen = [_memory_of(x) for x in inputs]
            return None
        if self.runs and not any(run.fits(inputs) for run in self.runs):
            self._note_moved(inputs)
        if len(self.runs) >= MOST_RUNS:
            log(PENDING if any(run.fits(inputs) for run in self.runs) else f"{MOST_RUNS} recordings; this runs plainly")
            return None
        try:
            run = self._record(inputs)
        except RuntimeError as error:  # the driver's, or a library's; the plain call tells what isn't about recording
            self.refuse(str(error))
            return None
        if run is None:
            return None
        self.runs.append(run)
        self.launches.append(run.launcher(len(inputs)))
        if log.is_on:
            numbers = sum(isinstance(place, HostPlace) for _, place in run.places)
            kinds = f"{len(run.statics)} static, {len(run.places) - numbers} copied, {numbers} numbers"
            log(f"recorded: {len(self.call.launches)} launches; inputs: {kinds}")
        return self.launches[-1]

    def forget(self) -> None:
        """Drops its recordings."""
        self.runs, self.launches = [], []

    def refuse(self, reason: str) -> None:
        """Runs plainly from now on, and says why."""
        self.reason = reason
        self.forget()
        warn_user(f"torch.compile: skipping cudagraphs due to {reason}")

    def _note_moved(self, inputs: Sequence[Any]) -> None:
        """Inputs that have moved, and need not stay, are copied from now on."""
        last = self.runs[-1]
        moved = [i for (i, size), was in zip(last.statics, last.looks) if look(inputs[i], size) != was]
        loose = [i for i in moved if not self._stays(i, inputs[i])]
        if loose:
            log(f"recorded again: inputs {loose} have moved, and are copied from now on")
            self.copied.update(loose)
            self.forget()

    def _stays(self, position: int, x: Any) -> bool:
        """Whether an input is one that stays where it is: a parameter, or what the graph writes to."""
        return position in self.written or (x.requires_grad and x.is_leaf)

    def _is_static(self, position: int, x: Any) -> bool:
        if position in self.copied or x.strides != self.plain.strides[position] or x.storage.flips:
            return False
        block = x.storage.block
        if isinstance(block, RecordedBlock):  # of another recording, whose results are always there
            return block.address not in {mine.address for run in self.runs for mine in run.memories}
        return self._stays(position, x) or self.seen[position]() is block

    def _record(self, inputs: Sequence[Any]) -> Run | None:
        statics: list[tuple[int, int]] = []
        places: list[tuple[int, Place]] = []
        for i, (x, buffer) in enumerate(zip(inputs, self.call.inputs, strict=True)):
            if x.storage.block is None:
                if not is_plain_in_main_memory(x, buffer.strides):
                    self.refuse(f"cpu device: input {i} lies in main memory, with strides {list(x.strides)}")
                    return None
                places.append((i, HostPlace(self.runtime, self.index, buffer)))
            elif self._is_static(i, x):
                statics.append((i, x.dtype.itemsize))
            else:
                places.append((i, Place(self.runtime, self.index, buffer)))
        at = {i: place.tensor for i, place in places}
        recording = Recording(self.runtime, self.runtime.recording_stream(self.index), pool=object())
        with recording:
            status = None if self.status is None else self.status.address
            results = self.call.results_of([at.get(i, x) for i, x in enumerate(inputs)], status=status)
        made = self.call.results
        memories = {m[0]: x.storage.block for m, x in zip(made, results) if type(m) is tuple}
        numbers = {place: number for number, place in enumerate(memories)}
        looks = [look(inputs[i], size) for i, size in statics]
        written = [at.get(m, m) if type(m) is int else (numbers[m[0]], *m[1:]) for m in made]
        kept = [numbers[place] for place in self.kept]
        stream = self.runtime.current_stream(self.index)
        run = Run(recording, statics, looks, places, written, [*memories.values()], kept, stream, self.status)
        run.use_on(stream)
        return run


def _memory_of(x: Any) -> Callable[[], Any]:
    """What tells whether memory is that of a tensor, without keeping it."""
    block = x.storage.block
    return weakref.ref(block) if block is not None else lambda: None
