"""Copies of a module on several GPUs, which tensors of the CPU have none of.

>>> from minitorch_compile import nn
>>> replicate(nn.Linear(2, 1), [])
[]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parallel.scatter_gather import NO_GPUS


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """A copy for each device. AssertionError, as in PyTorch, if there is one: the module's tensors are not copied."""
    if devices:
        raise AssertionError(f"Broadcast function not implemented for CPU tensors: {NO_GPUS}")
    return []
