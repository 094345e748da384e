"""Random numbers that a GPU draws: the generator says where in its stream they are, a kernel makes them.

What an eager call takes from the generator, seed and offset, are numbers that each launch is given, so that drawing
again compiles and traces nothing. They are those of the CPU: uniform numbers and integers to the bit, normal ones to
2 units in the last place of float64, as the device's log1p, sine and cosine are.

>>> from minitorch_compile.tensor import float32, manual_seed, ops
>>> _ = manual_seed(3)
>>> as_function_of_place(ops.normal_random, ((2, 3), float32, None))
Draw(op=ops.philox_normal, bound=((2, 3), torch.float32), place=(3, 0))
>>> as_function_of_place(ops.normal_random, ((2, 3), float32, None)).place        # two numbers of the stream each
(3, 12)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from minitorch_compile.inductor.device_calls.one_op_graph import DTYPES, NoKernelError
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.ops.random import DRAWS
from minitorch_compile.tensor.random.generator import checked_generator, draws_as_pytorch

PHILOX = {
    ops.uniform_random: ops.philox_uniform,
    ops.normal_random: ops.philox_normal,
    ops.randint_random: ops.philox_randint,
}
FROM_PLACE = frozenset(PHILOX.values())
SEQUENTIAL = "PyTorch's stream (config.random_stream) is one number after another; Philox's is made on the device"
# What a seed and an offset are while the kernels of a draw are made.
MARKS = (0x5EED_5EED_5EED_5EED, 0x0FF5_E700_0FF5_E700)


class Draw(NamedTuple):
    """A call of an op that makes numbers from their place in the stream; `bound` are its other arguments."""

    op: Op
    bound: tuple[Any, ...]
    place: tuple[int, int]


def as_function_of_place(op: Op, bound: Sequence[Any]) -> Draw | None:
    """The draw that a call is; None for one that draws nothing. NoKernelError if only the host can draw so."""
    if op.kind != "random":
        return None
    if op not in PHILOX or draws_as_pytorch():
        raise NoKernelError(SEQUENTIAL)
    result = op.meta(*bound)
    if result.dtype not in DTYPES:
        raise NoKernelError(f"kernels don't compute in {result.dtype} yet")
    seed, offset = checked_generator(bound[-1]).advance(DRAWS[op.name] * numel(result.sizes))
    return Draw(PHILOX[op], (*bound[:-2], result.dtype), (signed(seed), offset))


def signed(seed: int) -> int:
    """The int64 with the bits of a seed.

    >>> signed(2**64 - 1), signed(5)
    (-1, 5)
    """
    return (seed + 2**63) % 2**64 - 2**63


def marked(draw: Op, *bound: Any) -> Any:
    """The numbers, drawn where the marks say."""
    seed, offset = (ops.full((), mark, int64) for mark in MARKS)
    return draw(*bound[:-1], seed, offset, bound[-1])
