"""Elements of one tensor into the memory of another, on a GPU: what an in-place operation ends with where its tensor
has gaps, or lies across memory. A kernel moves bits, so that all dtypes of one size share it.

>>> from minitorch_compile.tensor import zeros
>>> is_for_kernels(zeros(2, 3).t(), zeros(3, 2)), is_for_kernels(x := zeros(4)[:2], x)
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.inductor.device_calls.device_call import Compile, prepared_launch, tell
from minitorch_compile.inductor.device_calls.launcher import Launcher
from minitorch_compile.inductor.device_calls.lifted_kernel import Write, write_lifted_kernel
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.tensor.numerics.dtype import complex128, int8, int16, int32, int64
from minitorch_compile.tensor.tensor_base import TensorBase

BITS = {1: int8, 2: int16, 4: int32, 8: int64, 16: complex128}


def is_for_kernels(target: TensorBase, source: TensorBase) -> bool:
    """Whether elements can be copied in any order, as they are: of one size, from other memory."""
    same = target.dtype is source.dtype and tuple(target.sizes) == tuple(source.sizes)
    return same and target.storage is not source.storage and target.dtype.itemsize in BITS


class StridedCopy:
    """A copy between tensors of such sizes and strides, made ready."""

    waits: Mapping[str, int] = {}  # faster kernels (`warm_up.py`)

    def __init__(
        self,
        target: TensorBase,
        source: TensorBase,
        launcher: Launcher,
        compile: Compile,
        write: Write = write_lifted_kernel,
    ) -> None:
        element = BITS[target.dtype.itemsize]
        read = Buffer("source", tuple(source.sizes), tuple(source.strides), element, "input")
        written = Buffer("target", tuple(target.sizes), tuple(target.strides), element)
        group = Group.of(Loop(written, written.sizes, lambda ops, at: ops.load(read, read.address(at)))).merged()
        kernel = write(group, frozenset(), launcher.threads)
        kernel.source.title = "strided_copy"
        self.launch = prepared_launch(group, kernel, {read: 0, written: 1}, launcher, compile)

    def __call__(self, addresses: Sequence[int], runtime: Runtime, index: int) -> None:
        """From the first address to the second."""
        stream, sanitizer = runtime.current_stream(index), getattr(runtime.driver, "sanitizer", None)
        if sanitizer is not None:
            tell(sanitizer, self.launch, addresses, stream)
        self.launch.launch([addresses[place] for place in self.launch.places], stream)
