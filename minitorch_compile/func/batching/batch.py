"""What a batching rule works with: the batch it is for, and how arguments look from inside.

>>> from minitorch_compile.func.batch_tensor import BatchTensor
>>> from minitorch_compile.tensor import ones
>>> batch = Batch(level=1, size=5)
>>> x, shared = BatchTensor.of(ones(5, 3), 1), ones(3)
>>> batch.holds(x), batch.holds(shared)
(True, False)
>>> batch.spread(x).shape, batch.spread(shared).shape
(torch.Size([5, 3]), torch.Size([5, 3]))
"""

from __future__ import annotations

from typing import Any, NamedTuple

from minitorch_compile.func.batch_tensor import BatchTensor
from minitorch_compile.tensor import Tensor, ops


class Unbatched(NamedTuple):
    """What a rule returns whose result is not to be wrapped: it is the same for all examples, or wrapped already."""

    value: Any


class Batch(NamedTuple):
    """The vmap of one level: its rules see tensors of this level as batched and all others as the same for all."""

    level: int
    size: int
    randomness: str = "error"

    def holds(self, x: Any) -> bool:
        """Whether a tensor, or one in a list, differs between the examples."""
        if isinstance(x, (list, tuple)):
            return any(map(self.holds, x))
        return isinstance(x, BatchTensor) and x.level == self.level

    def value(self, x: Any) -> Any:
        """The whole batch of a batched tensor; anything else as it is."""
        return x.value if self.holds(x) and isinstance(x, BatchTensor) else x

    def spread(self, x: Any) -> Any:
        """A tensor with the batch as its first dimension, repeated (without a copy) if it is the same for all."""
        if self.holds(x):
            return x.value
        return ops.expand(ops.unsqueeze(x, 0), (self.size, *x.sizes))

    def wrapped(self, result: Any) -> Any:
        """What a rule gives, as the function under vmap sees it."""
        if isinstance(result, Unbatched):
            return result.value
        if isinstance(result, tuple):
            return (
                type(result)(*map(self.wrapped, result))
                if hasattr(result, "_fields")
                else tuple(map(self.wrapped, result))
            )
        if isinstance(result, list):
            return [self.wrapped(part) for part in result]
        return BatchTensor.of(result, self.level) if isinstance(result, Tensor) else result


def with_ones(value: Any, count: int) -> Any:
    """A batch whose examples get `count` more dimensions of size 1 in front.

    >>> from minitorch_compile.tensor import ones
    >>> with_ones(ones(5, 3), 2).shape
    torch.Size([5, 1, 1, 3])
    """
    for _ in range(count):
        value = ops.unsqueeze(value, 1)
    return value
