"""Fourier transforms on a GPU: the passes of cuFFT, one for each dimension, and a kernel that scales at the end.

The first pass reads the tensor as it lies, the others work in the result. From half a spectrum to real numbers, all but
the last work in memory of their own; the last may destroy what it reads, so even a single one reads a copy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from minitorch_compile.cuda_runtime.cufft import Axis, CuFft, PreparedPass, one_dimension
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.inductor.device_calls.launcher import SIZE, Kernel, Launch, Launcher
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float64

SCALED = """\
def scaled(x, n, factor):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        x[i] = x[i] * factor
"""
CompileText = Callable[[str, str, Sequence[str]], Kernel]
Step = Callable[[Sequence[int], StreamHandle], None]


def transform_launch(call: ExternCall, library: CuFft, launcher: Launcher, compile: CompileText) -> Launch:
    """A launch of fft_c2c, fft_r2c or fft_c2r, given the addresses of the tensor and of the outputs."""
    kind, (dims, norm, *more) = call.kernel.removeprefix("fft_"), call.parameters
    forward = more[0] if kind == "c2c" else kind == "r2c"
    out = call.outputs[0]
    lengths = [_length(call, dim) for dim in dims]
    steps: list[Step] = list(_passes(call, kind, dims, forward, library))
    factor = _factor(norm, forward, math.prod(lengths))
    if factor != 1:
        steps.append(_scaling(out, factor, len(call.inputs), launcher, compile))

    def launch(addresses: Sequence[int], stream: StreamHandle) -> None:
        for step in steps:
            step(addresses, stream)

    return launch


def _length(call: ExternCall, dim: int) -> int:
    """How many numbers are transformed along a dimension: where half of them say all, the real ones count."""
    return max(call.inputs[0].sizes[dim], call.outputs[0].sizes[dim])


def _factor(norm: str, forward: bool, count: int) -> float:
    """What PyTorch's `norm` multiplies the bare sums by.

    >>> _factor("backward", True, 4), _factor("backward", False, 4), _factor("ortho", True, 4)
    (1.0, 0.25, 0.5)
    """
    if norm == "ortho":
        return 1 / math.sqrt(count)
    return 1 / count if (norm == "forward") == forward else 1.0


def _passes(call: ExternCall, kind: str, dims: Sequence[int], forward: bool, library: CuFft) -> list[Step]:
    """The half spectrum is made first, along the last of the dimensions, and taken back last."""
    order = list(dims) if kind == "c2r" else [dims[-1], *dims[:-1]]
    halved = len(order) - 1 if kind == "c2r" else 0
    source, at = call.inputs[0].strides, 0  # where the next pass reads: its strides, and its place among addresses
    passes: list[Step] = []
    if kind == "c2r" and len(order) == 1:
        at = len(call.inputs) + 1
        passes.append(_copy(call.outputs[1], at, library))
    for number, dim in enumerate(order):
        special = kind != "c2c" and number == halved
        into_result = kind != "c2r" or special
        place = len(call.inputs) + (0 if into_result else 1)
        target = call.outputs[0 if into_result else 1]
        sizes = [_length(call, d) if special and d == dim else n for d, n in enumerate(target.sizes)]
        axes = [Axis(*numbers) for numbers in zip(sizes, source, target.strides, strict=True)]
        described = one_dimension(kind if special else "c2c", axes, dim)
        wide = call.outputs[0].dtype.to_real() is float64
        passes.append(_step(PreparedPass(library, described, wide, forward), at, place))
        source, at = target.strides, place
    return passes


def _copy(kept: Buffer, place: int, library: CuFft) -> Step:
    """Copies the memory that a tensor spans, as it is."""
    copy, nbytes = library.driver.copy_device_to_device, kept.nbytes
    return lambda addresses, stream: copy(addresses[place], addresses[0], nbytes, stream)


def _step(prepared: PreparedPass, source: int, target: int) -> Step:
    return lambda addresses, stream: prepared(addresses[source], addresses[target], stream)


def _scaling(out: Buffer, factor: float, place: int, launcher: Launcher, compile: CompileText) -> Step:
    """Complex numbers are scaled as pairs of real ones."""
    element = out.dtype.to_real()
    count = numel(out.sizes) * (2 if out.dtype.is_complex else 1)
    kernel = compile(SCALED, "scaled", [element.name, SIZE, f"={element.name}"])
    blocks = max(1, min(-(-count // launcher.threads), launcher.most_blocks))
    launch = kernel(blocks, [(count, element.numpy)], [count, factor])
    return lambda addresses, stream: launch([addresses[place]], stream)
