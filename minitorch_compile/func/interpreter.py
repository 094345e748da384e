"""The interpreter that vmap puts on the stack of transforms: operations on an example become operations on the batch.

>>> from minitorch_compile.func.batch_tensor import BatchTensor
>>> from minitorch_compile.tensor import ones
>>> from minitorch_compile.tensor.dispatch.transform_stack import transform
>>> with transform(VmapInterpreter(level=1, size=5, randomness="error")):
...     x = BatchTensor.of(ones(5, 3), level=1)
...     y = x + ones(3)
>>> y.shape, y.value.shape
(torch.Size([3]), torch.Size([5, 3]))
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch
from minitorch_compile.func.batching.random import random_refused
from minitorch_compile.func.batching.rules import rule_of
from minitorch_compile.tensor.dispatch.dispatch import stacks
from minitorch_compile.tensor.dispatch.op import Op


class VmapInterpreter:
    """Gives operations their meaning on a batch of `size` examples. `randomness`: what random operations do."""

    def __init__(self, level: int, size: int, randomness: str) -> None:
        self.level = level
        self.size = size
        self.randomness = randomness

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        bound = op.bind(args, kwargs)
        batch = Batch(self.level, self.size, self.randomness)
        if op.kind != "random" and not any(map(batch.holds, bound)):
            return op(*bound)
        return batch.wrapped(rule_of(op)(batch, op, *bound))


class RandomnessRefused:
    """Lets operations be, but for those that draw random numbers: a RuntimeError."""

    def process(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if op.kind == "random":
            raise random_refused(op)
        return op(*args, **kwargs)


def active_vmaps() -> list[VmapInterpreter]:
    """The vmaps that the running code is inside, the outermost first."""
    return [t for t in stacks.transforms if isinstance(t, VmapInterpreter)]
