"""Random ops as pure functions: seed and offset become values that the program is given.

>>> from minitorch_compile.tensor import manual_seed, ops, rand, tensor
>>> from minitorch_compile.tensor.dispatch import dispatch
>>> with dispatch.mode(DrawFrom(tensor(3), tensor(0))) as stream:
...     a, b = rand(2), rand(3)
>>> _ = manual_seed(3)
>>> (rand(2) == a).all(), (rand(3) == b).all(), stream.drawn
(tensor(True), tensor(True), 5)

So a compiled program draws the numbers that the plain program would draw, if its caller reserves `drawn` numbers of the
default generator's stream for each run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.ops.random import DRAWS
from minitorch_compile.tensor.random.generator import draws_as_pytorch
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

SEEDED: dict[Op, Op] = {
    ops.uniform_random: ops.philox_uniform,
    ops.normal_random: ops.philox_normal,
    ops.randint_random: ops.philox_randint,
}


def as_tensors(seed: int, offset: int) -> tuple[Any, Any]:
    """What a program is given for both: int64 in main memory, wherever it makes tensors of its own."""
    signed = seed - 2**64 if seed >= 2**63 else seed
    return wrap(np.array(signed, np.int64)), wrap(np.array(offset, np.int64))


class DrawFrom:
    """The mode: random ops take their numbers from the stream of `seed`, from `offset` on."""

    def __init__(self, seed: TensorBase, offset: TensorBase) -> None:
        self.seed = seed
        self.offset = offset
        self.drawn: Any = 0

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind != "random":
            return op(*args, **kwargs)
        if draws_as_pytorch():
            raise NotImplementedError(
                f"aot: {op!r} draws from PyTorch's stream, whose numbers depend on all before them; draw outside of"
                " the compiled function, or set config.random_stream = 'philox'"
            )
        if op not in SEEDED:
            raise NotImplementedError(
                f"aot: {op!r} draws random numbers and has no form with an explicit seed and offset; draw them outside"
                " of the compiled function and pass them in"
            )
        *parameters, _, generator = op.bind(args, kwargs)
        if generator is not None:
            raise NotImplementedError(
                f"aot: {op!r} draws from a generator of its own, and compiled code from the default one; draw outside"
                " of the compiled function, or leave out generator="
            )
        like = op.meta(*args, **kwargs)
        if 0 in like.sizes:  # nothing is drawn, so the program may have no seed at all
            return ops.full(like.sizes, 0, like.dtype)
        first = self.offset if type(self.drawn) is int and self.drawn == 0 else ops.add(self.offset, self.drawn)
        self.drawn += DRAWS[op.name] * like.sizes.numel()
        return SEEDED[op](*parameters, self.seed, first, like.dtype)
