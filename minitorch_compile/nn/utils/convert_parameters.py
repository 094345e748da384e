"""All parameters as one vector, and back.

>>> from minitorch_compile import nn, tensor
>>> layer = nn.Linear(1, 2)
>>> vector_to_parameters(tensor([1.0, 2.0, 3.0, 4.0]), layer.parameters())
>>> layer.bias.data, parameters_to_vector(layer.parameters()).detach()
(tensor([3., 4.]), tensor([1., 2., 3., 4.]))
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from minitorch_compile.tensor import Tensor, ops


def parameters_to_vector(parameters: Iterable[Tensor]) -> Any:
    """The elements of all parameters, one after another."""
    return ops.cat([ops.reshape(p, (-1,)) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Sets the parameters to consecutive parts of a vector, whose memory they then share."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for p in parameters:
        count = p.numel()
        p.data = vec[start : start + count].view(p.shape).detach()
        start += count
