"""Functions of elements, of any number of dimensions, as fused ones of one dimension.

>>> FUSED["softshrink"].numbers
'lambd'
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from minitorch_compile.kernel_library.fused import FUSED, Fused, fused
from minitorch_compile.kernel_library.replaced import LEAST, are_numbers, recorded_composite
from minitorch_compile.nn.functional.loss_reduction import reduced
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dispatch.op import table
from minitorch_compile.tensor.tensor_base import TensorBase


def _squared(x: Tensor, y: Tensor) -> Any:
    difference = x - y
    return difference * difference


def _rounded_distance(x: Tensor, y: Tensor, beta: float, curve: float, less: float) -> Any:
    """smooth_l1_loss of each element: `curve` = 0.5 / beta, `less` = 0.5 * beta."""
    distance = ops.abs(x - y)
    return ops.where(distance < beta, _squared(x, y) * curve, distance - less)


def _huber(x: Tensor, y: Tensor, delta: float, less: float) -> Any:
    """huber_loss of each element: `less` = 0.5 * delta."""
    distance = ops.abs(x - y)
    return ops.where(distance <= delta, 0.5 * _squared(x, y), delta * (distance - less))


def _row(formula: Callable[..., Any], numbers: str = "", *others: str) -> Fused:
    return Fused(formula, dict.fromkeys(("x", *others), ("elements",)), numbers)


FUSED |= {
    "softshrink": _row(table["F.softshrink"].kernel, "lambd"),
    "hardshrink": _row(ops.hardshrink.kernel, "lambd"),
    "threshold": _row(table["F.threshold"].kernel, "limit value"),
    "mish": _row(table["F.mish"].kernel),
    "mse_loss": _row(_squared, "", "target"),
    "smooth_l1_loss": _row(_rounded_distance, "beta curve less", "target"),
    "huber_loss": _row(_huber, "delta less", "target"),
}


def on_elements(name: str, numbers: tuple[Any, ...], *tensors: Any) -> Any:
    """What a row of FUSED gives for these, of one size; None if they don't fit."""
    x = tensors[0]
    count = math.prod(x.sizes) if isinstance(x, TensorBase) else 0
    if count < LEAST or any(not isinstance(t, TensorBase) or t.sizes != x.sizes for t in tensors[1:]):
        return None
    return fused(name, (count,), numbers, *tensors)


# ------------------------------------------------------------------------------------------------ short cuts


@recorded_composite(table["F.softshrink"])
def _(input: Any, lambd: Any = 0.5) -> Any:
    return on_elements("softshrink", (lambd,), input) if are_numbers((lambd,)) and lambd >= 0 else None


@recorded_composite(ops.hardshrink)
def _(input: Any, lambd: Any = 0.5) -> Any:
    return on_elements("hardshrink", (lambd,), input)


@recorded_composite(table["F.threshold"])
def _(input: Any, threshold: Any, value: Any, inplace: bool = False) -> Any:
    return None if inplace else on_elements("threshold", (threshold, value), input)


@recorded_composite(table["F.mish"])
def _(input: Any, inplace: bool = False) -> Any:
    return None if inplace else on_elements("mish", (), input)


@recorded_composite(table["F.mse_loss"])
def _(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Any:
    plain = size_average is None and reduce is None and weight is None
    loss = on_elements("mse_loss", (), input, target) if plain else None
    return None if loss is None else reduced(loss, reduction)


@recorded_composite(table["F.smooth_l1_loss"])
def _(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: Any = 1.0
) -> Any:
    if size_average is not None or reduce is not None or not are_numbers((beta,)) or not beta > 0:
        return None
    loss = on_elements("smooth_l1_loss", (beta, 0.5 / beta, 0.5 * beta), input, target)
    return None if loss is None else reduced(loss, reduction)


@recorded_composite(table["F.huber_loss"])
def _(input: Any, target: Any, reduction: str = "mean", delta: Any = 1.0, weight: Any = None) -> Any:
    fits = weight is None and are_numbers((delta,)) and delta > 0
    loss = on_elements("huber_loss", (delta, 0.5 * delta), input, target) if fits else None
    return None if loss is None else reduced(loss, reduction)
