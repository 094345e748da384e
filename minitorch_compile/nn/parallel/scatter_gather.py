"""Shares of arguments for several devices, and results put together again. Without GPUs there is one device, and a
tensor has no shares: what is no tensor is repeated for each, as everywhere.

>>> scatter({"scale": 2, "sizes": (3, 4)}, [0, 1])
[{'scale': 2, 'sizes': (3, 4)}, {'scale': 2, 'sizes': (3, 4)}]

Source: torch/nn/parallel/scatter_gather.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile import pytree
from minitorch_compile.tensor import Tensor

NO_GPUS = "tensors live on the CPU here, which has no shares for several devices; ask torch.cuda.is_available() first"


def is_namedtuple(obj: Any) -> bool:
    """Whether it is a tuple with names for its parts."""
    return isinstance(obj, tuple) and hasattr(obj, "_asdict") and hasattr(obj, "_fields")


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> list[Any]:
    """One copy of the arguments for each device. RuntimeError if there is a tensor among them."""
    if any(isinstance(leaf, Tensor) for leaf in pytree.tree_leaves(inputs)):
        raise RuntimeError(f"scatter: {NO_GPUS}")
    return [pytree.tree_map(lambda leaf: leaf, inputs) for _ in target_gpus]


def scatter_kwargs(
    inputs: tuple[Any, ...], kwargs: dict[str, Any] | None, target_gpus: Sequence[Any], dim: int = 0
) -> tuple[tuple[Any, ...], tuple[dict[str, Any], ...]]:
    """The same of positional and named arguments."""
    return tuple(scatter(inputs, target_gpus, dim)), tuple(scatter(kwargs or {}, target_gpus, dim))


def gather(outputs: Sequence[Any], target_device: Any, dim: int = 0) -> NoReturn:
    """AssertionError, as in PyTorch: tensors of the CPU are not gathered."""
    raise AssertionError(f"Gather function not implemented for CPU tensors: {NO_GPUS}")
