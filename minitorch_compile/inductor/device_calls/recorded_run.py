"""One recording of a compiled graph, and the function that launches it, which is written for it.

A small step runs at the speed of what Python does around a launch. So this is text in which nothing is looked up that
the recording knows: where its static inputs lay, which results there are. Of a graph that doubles its second input,
and adds the first, a parameter:

>>> from minitorch_compile.tensor.numerics.dtype import float32
>>> looks, made = [(4096, (1,))], [(0, 0, (2,), (1,), float32, "cuda")]
>>> run = Run(None, [(0, 4)], looks, [(1, None)], made, [None], kept=[], stream=StreamHandle(0), status=None)
>>> print(launch_text(run, inputs=2, known=["usual", "..."]), end="")
def make_launched(usual, ...):
    def launched(x0, x1):
        nonlocal usual, step, block_0
        if x0.storage.block.address + x0.offset * 4 != 4096 or x0.strides != strides_0:
            return None
        stream = current_stream(0)
        if stream is not usual:
            use_on(stream)
            usual = stream
        fill_1(x1)
        if getrefcount(block_0) > alone:
            block_0 = replaced(block_0)
        launch(stream.handle)
        storage_0 = DeviceStorage(block_0)
        return (from_parts(storage_0, offset_of_0, sizes_of_0, strides_of_0, dtype_of_0, device_of_0), )
    return launched

The memory of a result is handed out as a block. If nobody has the one of the last launch any more, it is handed out
again; else that one becomes a block without an address, and a new one takes its place (`recorded_block.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from minitorch_compile import control
from minitorch_compile.cuda.device_block import DeviceBlock
from minitorch_compile.cuda.recording import Recording
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls.host_status import HostStatus
from minitorch_compile.inductor.device_calls.input_places import Place
from minitorch_compile.inductor.device_calls.recorded_block import RecordedBlock
from minitorch_compile.tensor.memory.device_storage import DeviceStorage
from minitorch_compile.tensor.tensor_base import TensorBase, from_parts

Look = tuple[int, tuple[int, ...]]
# The results; None where static inputs have moved, or somebody needs a result that may not be overwritten.
Launch = Callable[..., tuple[Any, ...] | None]
PARTS = ("offset", "sizes", "strides", "dtype", "device")  # of a tensor, behind its storage


@dataclass
class Run:
    """One recording.

    `statics`: positions and bytes of an element of the inputs that stay; `looks`: where they were, and their strides.
    `made`: the results, each what `from_parts` is told behind its storage, with the number of its memory first; of one
    that is written back, the position of the input, or the place that was copied into. `kept`: the numbers of memories
    that may not be overwritten while somebody has them.
    """

    recording: Recording
    statics: list[tuple[int, int]]
    looks: list[Look]
    places: list[tuple[int, Place]]
    made: list[Any]
    memories: list[DeviceBlock]  # of its results
    kept: list[int]
    stream: StreamHandle
    status: HostStatus | None

    def fits(self, inputs: Sequence[TensorBase]) -> bool:
        """Whether the static inputs are where they were."""
        return all(look(inputs[i], size) == was for (i, size), was in zip(self.statics, self.looks))

    def use_on(self, stream: StreamHandle) -> None:
        """Its launches are in this stream from now on, behind what it was launched in before: what they read and write
        is kept until they are done, be the recording gone."""
        self.recording.runtime.order(self.stream, stream)
        self.stream = stream
        for _, place in self.places:
            place.block.used_on(stream)
        if self.status is not None:
            self.status.used_on(stream)

    def launcher(self, inputs: int) -> Launch:
        """What launches it for so many inputs."""
        runtime = self.recording.runtime
        known: dict[str, Any] = {
            "use_on": self.use_on,
            "current_stream": runtime.current_stream,
            "usual": self.stream,
            "steps_begun": control.steps_begun,
            "step": 0,
            "getrefcount": sys.getrefcount,
            "alone": ALONE,
            "replaced": replaced,
            "launch": self.recording.ready(),
            "DeviceStorage": DeviceStorage,
            "from_parts": from_parts,
            **{f"strides_{i}": strides for (i, _), (_, strides) in zip(self.statics, self.looks)},
            **{f"fill_{i}": place.fill for i, place in self.places},
            **{f"block_{n}": RecordedBlock(memory, self.status) for n, memory in enumerate(self.memories)},
        }
        for i, made in enumerate(self.made):
            if type(made) is tuple:
                known |= {f"{name}_of_{i}": value for name, value in zip(PARTS, made[1:], strict=True)}
            elif type(made) is not int:
                known[f"result_{i}"] = made
        return function_from_source(launch_text(self, inputs, [*known]), "make_launched", {})(**known)


def look(x: TensorBase, size: int) -> Look:
    """The address of a tensor's first element, and its strides."""
    return x.storage.block.address + x.offset * size, x.strides


def replaced(block: RecordedBlock) -> RecordedBlock:
    """Another block of the same memory, in which something else will lie."""
    other = RecordedBlock(block.memory, block.check)
    block.overwritten()
    return other


def launch_text(run: Run, inputs: int, known: Sequence[str]) -> str:
    """The function that launches a recording, with what it knows as parameters of the one around it."""
    moved = [
        f"x{i}.storage.block.address + x{i}.offset * {size} != {address} or x{i}.strides != strides_{i}"
        for (i, size), (address, _) in zip(run.statics, run.looks)
    ]
    blocks = [f"block_{n}" for n in range(len(run.memories))]
    lines = [f"if {' or '.join(moved)}:", "    return None"] if moved else []
    if run.kept:
        needed = " or ".join(f"getrefcount(block_{n}) > alone" for n in run.kept)
        lines += [f"if step == steps_begun() and ({needed}):", "    return None", "step = steps_begun()"]
    lines += [f"stream = current_stream({run.stream.device})", "if stream is not usual:", "    use_on(stream)"]
    lines += ["    usual = stream", *(f"fill_{i}(x{i})" for i, _ in run.places)]
    for name in blocks:
        lines += [f"if getrefcount({name}) > alone:", f"    {name} = replaced({name})"]
    lines += ["launch(stream.handle)", *(f"storage_{n} = DeviceStorage(block_{n})" for n in range(len(blocks)))]
    results = "".join(f"{_result_text(i, made)}, " for i, made in enumerate(run.made))
    lines.append(f"return ({results})")
    changed = ", ".join(["usual", "step", *blocks])
    inner = "".join(f"        {line}\n" for line in [f"nonlocal {changed}", *lines])
    parameters = ", ".join(f"x{i}" for i in range(inputs))
    return f"def make_launched({', '.join(known)}):\n    def launched({parameters}):\n{inner}    return launched\n"


def _result_text(position: int, made: Any) -> str:
    """What is returned there."""
    if type(made) is int:
        return f"x{made}"
    if type(made) is not tuple:
        return f"result_{position}"
    parts = ", ".join(f"{name}_of_{position}" for name in PARTS)
    return f"from_parts(storage_{made[0]}, {parts})"


def _alone() -> int:
    """What is counted for an object that only a function and one inside it know; versions of CPython differ."""
    made = object()
    return (lambda: sys.getrefcount(made))()


ALONE = _alone()
