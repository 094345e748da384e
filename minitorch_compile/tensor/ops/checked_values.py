"""A condition on data as part of a graph: where a plain program looks at its data, a graph that is traced has none yet.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1.0, -1.0])
>>> checked(x, x >= 0) is x
True

The value itself is read through an index, which is out of range where the condition does not hold. So nobody has to
know of assertions: a graph that needs the value has the check, and whatever runs it raises. A compiled function then
runs the plain program, which says what is wrong in its own words.
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.tensor.numerics.dtype import int64
from minitorch_compile.tensor.ops.copies import to_copy
from minitorch_compile.tensor.ops.gathering import gather
from minitorch_compile.tensor.ops.pointwise import logical_not
from minitorch_compile.tensor.ops.view import squeeze, unsqueeze


def checked(x: Any, fine: Any) -> Any:
    """`x`. If it has no data yet, a graph raises unless `fine`, of the same sizes, holds for each element."""
    if not x.is_fake:
        return x
    index = to_copy(logical_not(fine), int64)
    return squeeze(gather(unsqueeze(x, -1), -1, unsqueeze(index, -1)), -1)
