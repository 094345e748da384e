"""Collectives that give a new tensor. With one process, it is what was given.

>>> from minitorch_compile import tensor
>>> wait_tensor(tensor([1, 2]))
tensor([1, 2])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.distributed.process_group import the_group
from minitorch_compile.tensor import Tensor


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, when it has arrived: it is there."""
    return tensor


def all_to_all_single_autograd(
    self: Tensor,
    output_split_sizes: Sequence[int] | None,
    input_split_sizes: Sequence[int] | None,
    group: Any,
    tag: str = "",
) -> Tensor:
    """The parts that each process has for this one: its own."""
    the_group(group)
    return self
