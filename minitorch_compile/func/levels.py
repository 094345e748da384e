"""Taking tensors out of the vmaps that run, and back in.

The tape lies below vmap: it records operations on whole batches. So what it watches, and what it is given, has to be
the data of *all* running vmaps, with one dimension for each:

>>> from minitorch_compile.func.batch_tensor import BatchTensor
>>> from minitorch_compile.tensor import ones
>>> levels = Levels(((1, 2), (2, 3)))                     # a vmap over 2 examples, inside it one over 3
>>> x = BatchTensor.of(ones(3, 4), level=2)               # the same for all examples of the outer one
>>> levels.stripped(x).shape
torch.Size([2, 3, 4])
>>> levels.restored(levels.stripped(x)).shape
torch.Size([4])

A tensor may also be batched at levels that are not among these, which were entered later; it stays so.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from minitorch_compile.func.batch_tensor import bottom, built_up, levels_of
from minitorch_compile.func.interpreter import VmapInterpreter, active_vmaps
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.dispatch import stacks


class Levels(NamedTuple):
    """The vmaps that run at some moment: (level, size of the batch), the outermost first."""

    entries: tuple[tuple[int, int], ...]

    @classmethod
    def active(cls) -> Levels:
        """Those that run now."""
        return cls(tuple((t.level, t.size) for t in active_vmaps()))

    def stripped(self, x: Any) -> Any:
        """The data for all examples, of sizes (sizes of these batches, sizes of x)."""
        if not self.entries and not levels_of(x):
            return x
        present = list(levels_of(x))
        data = bottom(x)
        for level, size in self.entries:
            if level not in present:
                data = ops.expand(ops.unsqueeze(data, 0), (size, *data.sizes))
                present.insert(0, level)
        ours = [level for level, _ in self.entries]
        order = [level for level in sorted(present) if level not in ours] + ours
        return built_up(_reordered(data, present, order), order[: len(order) - len(ours)])

    def restored(self, x: Any) -> Any:
        """The inverse of `stripped`."""
        if not self.entries:
            return x
        present = [*levels_of(x), *(level for level, _ in self.entries)]
        return built_up(_reordered(bottom(x), present, sorted(present)), sorted(present))

    @contextmanager
    def left(self) -> Iterator[None]:
        """Inside, these vmaps do not run: operations are on their data."""
        saved, ours = stacks.transforms, {level for level, _ in self.entries}
        stacks.transforms = [t for t in saved if not (isinstance(t, VmapInterpreter) and t.level in ours)]
        try:
            yield
        finally:
            stacks.transforms = saved


def _reordered(data: Any, levels: list[int], wanted: list[int]) -> Any:
    """The data with its first dimensions, one for each level, in another order."""
    if levels == wanted:
        return data
    places = [levels.index(level) for level in wanted]
    return ops.permute(data, (*places, *range(len(levels), data.dim())))
