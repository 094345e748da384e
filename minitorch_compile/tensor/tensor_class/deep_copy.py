"""copy.deepcopy of tensors: whole storages are copied, each once, so that copies share memory where the originals did.

>>> import copy
>>> from minitorch_compile.tensor import arange
>>> x = arange(4)
>>> whole, first = copy.deepcopy([x, x[0:1]])
>>> whole[0] = 7
>>> first, x
(tensor([7]), tensor([0, 1, 2, 3]))
"""

from __future__ import annotations

import copy
from typing import Any

from minitorch_compile.tensor.grad_mode import state
from minitorch_compile.tensor.memory.storage import INFERENCE


def deep_copy(tensor: Any, memo: dict[int, Any]) -> Any:
    """The tensor over a copy of its storage, with copies of its gradient and of the attributes that the user set.

    RuntimeError for what a recorded operation made, as in PyTorch.
    """
    if id(tensor) in memo:
        return memo[id(tensor)]
    if tensor.grad_fn is not None:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the"
            " moment; detach() it first"
        )
    result = object.__new__(type(tensor))
    memo[id(tensor)] = result
    look_at_copied_storage(result, tensor, memo)
    result.requires_grad = tensor.requires_grad
    result.grad = copy.deepcopy(tensor.grad, memo)
    for name, value in vars(tensor).items():
        setattr(result, name, copy.deepcopy(value, memo))
    return result


def look_at_copied_storage(result: Any, tensor: Any, memo: dict[int, Any]) -> None:
    """Makes `result` look at the copy of the tensor's storage as the tensor looks at the storage."""
    result.storage = copy.deepcopy(tensor.storage, memo)
    if state.inference:
        result.storage.version = INFERENCE
    result.offset, result.sizes, result.strides = tensor.offset, tensor.sizes, tensor.strides
    result.dtype, result.device, result.fake_mode = tensor.dtype, tensor.device, tensor.fake_mode
