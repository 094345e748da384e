"""foreach_map: a function of tensors, for each of the tensors in lists.

>>> import minitorch_compile as torch
>>> foreach_map(torch.add, [torch.ones(1), torch.zeros(2)], 2.0)
[tensor([3.]), tensor([2., 2.])]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any


def foreach_map(op: Callable[..., Any], *operands: Any, **kwargs: Any) -> Any:
    """A list of `op` of the first of each list, of the second, ...; an operand that is no list or tuple is given to
    each call, and so are `kwargs`. Without a list, `op` is called once. In a compiled function the calls are one graph,
    whose loops fuse.

    >>> foreach_map(lambda x, y: x * y, (1, 2, 3), (4, 5, 6))
    [4, 10, 18]
    """
    if not any(isinstance(operand, (list, tuple)) for operand in operands):
        return op(*operands, **kwargs)
    lists = [operand if isinstance(operand, (list, tuple)) else itertools.repeat(operand) for operand in operands]
    return [op(*each, **kwargs) for each in zip(*lists)]
