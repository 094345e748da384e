"""Several modules, each with its own inputs. PyTorch runs them at once, on a GPU each; here one after the other.

>>> from minitorch_compile import nn, ones
>>> parallel_apply([nn.Flatten(), nn.Identity()], [ones(1, 2, 2), (3,)])
[tensor([[1., 1., 1., 1.]]), 3]

Source: torch/nn/parallel/parallel_apply.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from minitorch_compile import pytree
from minitorch_compile.nn.module import Module
from minitorch_compile.nn.parallel.scatter_gather import NO_GPUS
from minitorch_compile.tensor import Tensor


def get_a_var(obj: Any) -> Tensor | None:
    """The first tensor in lists, tuples and dicts; None if there is none."""
    return next((leaf for leaf in pytree.tree_leaves(obj) if isinstance(leaf, Tensor)), None)


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Sequence[Any] | None = None,
) -> list[Any]:
    """The results of the modules. An input that isn't a list or a tuple is the only argument.

    AssertionError unless there are as many of each as there are modules; RuntimeError if `devices` names GPUs.
    """
    count = len(modules)
    if count != len(inputs):
        raise AssertionError(f"The number of modules {count} is not equal to the number of inputs {len(inputs)}")
    for name, others in (("kwargs_tup", kwargs_tup), ("devices", devices)):
        if others is not None and len(others) != count:
            raise AssertionError(f"parallel_apply: {len(others)} {name} for {count} modules; give one for each")
    if devices is not None and any(device is not None for device in devices):
        raise RuntimeError(f"parallel_apply: {NO_GPUS}")
    results = []
    for module, given, named in zip(modules, inputs, kwargs_tup or ({},) * count, strict=True):
        results.append(module(*(given if isinstance(given, (list, tuple)) else (given,)), **named))
    return results
