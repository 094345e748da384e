"""torch.index_put and torch.index_put_: the methods of these names, which take bool masks, as functions.

>>> from minitorch_compile.tensor import tensor
>>> x = tensor([1, 2, 3])
>>> index_put(x, [x > 1], tensor(0)), index_put_(x, [tensor([0])], tensor(7)) is x, x
(tensor([1, 0, 0]), True, tensor([7, 2, 3]))
"""

from typing import Any


def index_put(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The tensor with input[indices] = values, or += if `accumulate`; indices may be bool masks."""
    return input.index_put(indices, values, accumulate)


def index_put_(input: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """In place, input[indices] = values, or += if `accumulate`; indices may be bool masks."""
    return input.index_put_(indices, values, accumulate)
