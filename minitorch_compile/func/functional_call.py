"""functional_call: a module as a function of its parameters, for grad and vmap.

>>> from minitorch_compile import nn, ones
>>> functional_call(nn.Linear(2, 1), {"weight": ones(1, 2), "bias": ones(1)}, ones(1, 2))
tensor([[3.]])
"""

from __future__ import annotations

from typing import Any

from minitorch_compile.nn.module import Module
from minitorch_compile.nn.utils import stateless


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: Any,
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """module(*args, **kwargs) with the tensors of a dict, or of several, in the place of those of the same names:
    `nn.utils.stateless.functional_call`."""
    return stateless.functional_call(
        module, parameter_and_buffer_dicts, args, kwargs, tie_weights=tie_weights, strict=strict
    )
