"""Random operations under vmap: whether the examples draw different numbers, or the same, has to be said.

>>> import minitorch_compile as torch
>>> def noisy(x):
...     return x + torch.rand(())
>>> torch.func.vmap(noisy)(torch.zeros(3))                                                # doctest: +ELLIPSIS
Traceback (most recent call last):
RuntimeError: vmap: uniform_random draws random numbers, and randomness is 'error'. ...
>>> same = torch.func.vmap(noisy, randomness="same")(torch.zeros(3))
>>> bool((same == same[0]).all())
True
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.func.batching.batch import Batch, Unbatched
from minitorch_compile.func.batching.rules import for_kind
from minitorch_compile.tensor.dispatch.op import Op


def random_refused(op: Op) -> RuntimeError:
    """The error for a random operation where none was asked for."""
    return RuntimeError(
        f"vmap: {op.name} draws random numbers, and randomness is 'error'. Pass randomness='different' if each"
        " example shall have its own numbers, or randomness='same'"
    )


@for_kind("random")
def random(batch: Batch, op: Op, *bound: Any) -> Any:
    if batch.randomness == "error":
        raise random_refused(op)
    if "size" not in op.parameters:
        raise RuntimeError(f"vmap: {op.name}: each element draws until a number is accepted; draw outside of vmap")
    if batch.randomness == "same":
        return Unbatched(op(*bound))
    values = list(bound)
    place = op.parameters.index("size")
    values[place] = (batch.size, *values[place])
    return op(*values)
