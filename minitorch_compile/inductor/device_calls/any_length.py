"""Operations element by element on tensors of sizes that are new: made ready by arithmetic, where tracing takes a
thousand times as long as a launch.

When a few sizes were met, two samples are made ready, for tensors of one dimension. Are they one kernel, given the same
but for the length, then it serves dense tensors of all sizes: what changes is how many elements there are.

>>> numbers_of([600, 3, 600], [700, 3, 700], (600, 700))
[None, 3, None]
>>> print(numbers_of([600, 300], [700, 350], (600, 700)))
None
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.inductor.device_calls import lifted_kernel
from minitorch_compile.inductor.device_calls.device_call import DeviceCall
from minitorch_compile.inductor.device_calls.launcher import Kernel, Launcher, memory_dtype
from minitorch_compile.inductor.device_calls.lifted_kernel import LiftedKernel
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.memory.strides import contiguous_strides, numel
from minitorch_compile.tensor.tensor_base import TensorBase

LENGTHS = (20011, 30011)  # of the samples: few enough for the kernel that is one for all sizes
PATIENCE = 2  # sizes that are traced first

Sample = tuple[DeviceCall | None, Sequence[LiftedKernel]]


def are_dense(tensors: Sequence[TensorBase]) -> bool:
    """Whether tensors of one to many dimensions have the same sizes, and lie row-major; not too many elements."""
    sizes = tensors[0].sizes
    strides = contiguous_strides(sizes)
    alike = all(x.sizes == sizes and x.strides == strides for x in tensors)
    return alike and bool(sizes) and 0 < numel(sizes) < lifted_kernel.FEW


def numbers_of(one: Sequence[Any], other: Sequence[Any], lengths: tuple[int, int]) -> list[Any] | None:
    """The numbers that two samples are given, None in the places of the length; None if they differ otherwise."""
    found = [None if pair == lengths else pair[0] for pair in zip(one, other, strict=True)]
    alike = all(a is None or repr(a) == repr(b) for a, b in zip(found, other))
    return found if alike else None


class Served(NamedTuple):
    """A kernel for all lengths: a call that is its example, of how many elements, dtypes in memory of what it reads and
    writes, and its numbers."""

    example: DeviceCall
    length: int
    kernel: Kernel
    elements: list[np.dtype]
    numbers: list[Any]

    def call(self, sizes: Sequence[int], launcher: Launcher) -> DeviceCall:
        """The example with other sizes."""
        single, n = self.example.single, numel(tuple(sizes))
        assert single is not None
        blocks = max(1, min(-(-n // launcher.threads), launcher.most_blocks))
        numbers = [n if number is None else number for number in self.numbers]
        launch = self.kernel(blocks, [(n, element) for element in self.elements], numbers)
        parts = (0, Size(sizes), contiguous_strides(tuple(sizes)), *single.parts[3:])
        made = copy(self.example)
        made.single = single._replace(launch=launch, nbytes=single.nbytes // self.length * n, parts=parts)
        return made


class AnyLength:
    """Calls of one op on dense tensors of the same dtypes. `sample`: makes one ready for tensors of one dimension."""

    def __init__(
        self, launcher: Launcher, compile: Callable[[LiftedKernel], Kernel], sample: Callable[[int], Sample]
    ) -> None:
        self.launcher, self.compile, self.sample = launcher, compile, sample
        self.met = 0
        self.served: Served | None = None

    def call_for(self, sizes: Sequence[int]) -> DeviceCall | None:
        """A call for tensors of these sizes; None if it is to be traced."""
        self.met += 1
        if self.met == PATIENCE + 1:
            self.served = self.compared(*(self.sample(length) for length in LENGTHS))
        return None if self.served is None else self.served.call(sizes, self.launcher)

    def compared(self, one: Sample, other: Sample) -> Served | None:
        """What serves all lengths, if two samples are the same but for theirs."""
        (call, kernels), (again, others) = one, other
        if call is None or again is None or call.single is None or len(kernels) != 1 or len(others) != 1:
            return None
        sources = [kernels[0].source, others[0].source]
        if sources[0].body != sources[1].body or tuple(source.extent for source in sources) != LENGTHS:
            return None
        reaches = [{buffer.length for buffer in source.buffers} for source in sources]
        numbers = numbers_of(call.described[0].numbers, again.described[0].numbers, LENGTHS)
        if numbers is None or reaches != [{length} for length in LENGTHS]:
            return None
        elements = [memory_dtype(buffer.dtype) for buffer in sources[0].buffers]
        return Served(call, LENGTHS[0], self.compile(kernels[0]), elements, numbers)
