"""What came of a call: values, sizes, strides and dtypes, gradients, or the class of an error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.battery.arguments import Arguments


@dataclass(frozen=True)
class Part:
    """One tensor of a result."""

    dtype: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    values: np.ndarray | None


@dataclass(frozen=True)
class Outcome:
    """The tensors of a result, the numbers beside them, the gradients of the arguments; or an error."""

    parts: tuple[Part, ...] = ()
    numbers: tuple[Any, ...] = ()
    gradients: tuple[np.ndarray | None, ...] = ()
    error: BaseException | None = None


def evaluate(text: str, arguments: Arguments) -> Outcome:
    """Runs one line of a sheet."""
    tensor_class = arguments.library.Tensor
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(text, arguments.vocabulary())
            leaves = list(_leaves(result))
            tensors = [leaf for leaf in leaves if isinstance(leaf, tensor_class)]
            gradients = _gradients(tensors, arguments)
    except Exception as error:  # whatever the library raises is the outcome
        return Outcome(error=error)
    numbers = tuple(str(leaf) for leaf in leaves if not isinstance(leaf, tensor_class))
    return Outcome(tuple(part_of(x) for x in tensors), numbers, gradients)


def part_of(x: Any) -> Part:
    """A tensor as NumPy sees it; a fake one without values."""
    known = not getattr(x, "is_fake", False) and str(x.dtype) != "torch.complex32"
    return Part(str(x.dtype), tuple(x.shape), tuple(x.stride()), values_of(x) if known else None)


def values_of(x: Any) -> np.ndarray:
    """A copy of a tensor's elements; those of bfloat16, which NumPy hasn't, in float32."""
    x = x.detach().resolve_conj()
    return np.array((x.float() if str(x.dtype) == "torch.bfloat16" else x).numpy(force=True))


def _leaves(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _gradients(tensors: list[Any], arguments: Arguments) -> tuple[np.ndarray | None, ...]:
    """The gradients of a weighted sum of everything differentiable; the weights tell the elements apart."""
    differentiable = [x for x in tensors if x.requires_grad]
    if not arguments.made or not differentiable:
        return ()
    torch = arguments.library
    total = 0
    for x in differentiable:
        x = torch.view_as_real(x.resolve_conj()) if x.dtype.is_complex else x
        weights = torch.from_numpy(np.cos(np.arange(x.numel())).reshape(tuple(x.shape))).to(x)
        total = total + (x * weights).sum()
    total.backward()
    return tuple(None if x.grad is None else values_of(x.grad) for x in arguments.made)
