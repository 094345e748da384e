"""How far a decomposition is from the truth, in units that fit the call.

The truth is the op's own kernel on the same numbers in float64 (complex128 for complex ones). The unit of an element is

    eps * |truth|  +  how far the truth moves when every argument moves by eps of itself  +  the smallest normal number

where eps is half a unit in the last place of the result's dtype. The first part is the rounding of the result. The
second is what no computation in this dtype can know better, since its arguments were rounded to it: it is large where
digits cancel (a sum that is nearly 0, a logarithm near 1), whatever formula is used. So a formula that loses digits
for no such reason, like log(1 + x) for small x, is many units off.

A *tolerance* is 2 units, one in the last place. A decomposition is right if its error is at most 2 tolerances; `MORE`
lists the ops that get more, and why. Where the kernel's own result, in the dtype of the arguments, isn't finite, values
aren't compared but must be the same infinity or NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.tensor import Tensor, float64, from_numpy, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.numerics.dtype import (
    FLOATING,
    bfloat16,
    complex128,
    dtype,
    float16,
    float32,
    get_default_dtype,
    set_default_dtype,
)

EPS = {bfloat16: 2.0**-8, float16: 2.0**-11, float32: 2.0**-24, float64: 2.0**-53}
TINY = {bfloat16: 1.2e-38, float16: 6.1e-5, float32: 1.2e-38, float64: 2.3e-308}
TOLERANCE = 2.0
PROBES = 8

# Ops whose decomposition may be off by more than 2 tolerances: by how many, and why.
ADDS_UP = "sums of many products round once for each: the kernel and the prim are the same call of BLAS or NumPy"
MORE: dict[str, tuple[float, str]] = {
    "convolution": (16, ADDS_UP),
    "convolution_input_grad": (16, ADDS_UP),
    "convolution_weight_grad": (16, ADDS_UP),
    "im2col": (4, ADDS_UP),
    "col2im": (8, ADDS_UP),
    "resample": (8, ADDS_UP),
    "avg_pool_backward": (8, ADDS_UP),
    "mm": (8, ADDS_UP),
    "bmm": (8, ADDS_UP),
    "addmm": (8, ADDS_UP),
    "flash_attention": (8, ADDS_UP),
    "flash_attention_backward": (8, ADDS_UP),
    "native_layer_norm": (4, "mean, variance and quotient round one after the other"),
    "native_batch_norm": (4, "mean, variance and quotient round one after the other"),
    "linalg_matrix_exp": (16, "SciPy's own error: prim and kernel are the same call"),
    "special_log_ndtr": (64, "x / sqrt 2 is rounded before erfc, which falls by 80 units for each of it at x = 9"),
}
MORE.update(
    {
        name: (64, "a recurrence adds up the rounding of its steps; only float64 shows it, in which it is computed")
        for name in ops.table
        if name.startswith("special_") and "polynomial" in name
    }
)
# Ops whose formula adds numbers far larger than the result, in PyTorch's kernels too: their unit has eps of these.
LARGER_TERMS: dict[str, tuple[Any, str]] = {
    "gelu": (lambda bound, truth: np.abs(_wide(bound[0])), "0.5 x (1 + erf), where 1 + erf nearly vanishes"),
    "gelu_slope": (lambda bound, truth: 1 + np.abs(_wide(bound[0])), "Phi(x) + x phi(x): Phi is 1 + erf"),
    "log_softmax": (lambda bound, truth: np.maximum(np.abs(truth), 1), "the log of a sum of numbers of which one is 1"),
    "flash_attention": (lambda bound, truth: np.maximum(np.abs(truth), 1), "as log_softmax"),
}


def parts_of(result: Any) -> list[Tensor]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def tolerances_off(op: Op, bound: tuple[Any, ...], results: Sequence[Tensor], kernels: Sequence[Tensor]) -> float:
    """The largest error of the floating-point `results` of a call, in tolerances, and divided by what MORE allows
    beyond 2 of them. `kernels` are the results of the op itself."""
    truths = in_float64(op, bound, lambda array, eps: array)
    still = [np.zeros(truth.shape) for truth in truths]
    worst = _in_tolerances(op, bound, results, kernels, truths, still)
    # Moving the arguments takes time, and only makes units larger.
    return worst if worst <= 2 else _in_tolerances(op, bound, results, kernels, truths, movement(op, bound, truths))


def _in_tolerances(
    op: Op,
    bound: tuple[Any, ...],
    results: Sequence[Tensor],
    kernels: Sequence[Tensor],
    truths: list[np.ndarray],
    moved: list[np.ndarray],
) -> float:
    worst = 0.0
    for result, kernel, truth, movement in zip(results, kernels, truths, moved, strict=True):
        if kernel.dtype.category < FLOATING:
            continue
        element = kernel.dtype.to_real()
        got, expected = _wide(result), _wide(kernel)
        terms = LARGER_TERMS[op.name][0](bound, truth) if op.name in LARGER_TERMS else np.abs(truth)
        with np.errstate(all="ignore"):
            units = np.abs(got - truth) / (EPS[element] * terms + movement + TINY[element])
        counts = np.isfinite(expected) & np.isfinite(truth) & np.isfinite(units)
        worst = max(worst, float(np.max(units, initial=0.0, where=counts)))
    return worst / TOLERANCE / (MORE[op.name][0] / 2 if op.name in MORE else 1)


def _wide(x: Tensor) -> np.ndarray:
    return np.asarray(x.detach().to(wide_of(x.dtype)).array)


def movement(op: Op, bound: tuple[Any, ...], truths: list[np.ndarray]) -> list[np.ndarray]:
    """By how much each element of the truth moves with the arguments."""
    moved = [np.zeros(truth.shape) for truth in truths]
    for seed in range(PROBES):
        rng = np.random.default_rng(seed)
        others = in_float64(op, bound, lambda array, eps, rng=rng: array * (1 + eps * rng.choice([-1, 1], array.shape)))
        with np.errstate(all="ignore"):
            steps = [np.abs(other - 1.0 * truth) for other, truth in zip(others, truths, strict=True)]
        moved = [np.maximum(m, np.where(np.isfinite(step), step, 0)) for m, step in zip(moved, steps, strict=True)]
    return moved


def in_float64(op: Op, bound: tuple[Any, ...], change: Any) -> list[np.ndarray]:
    """The results of the call on float64 tensors whose numbers are `change`d, as NumPy arrays."""

    def widened(value: Any) -> Any:
        if isinstance(value, Tensor) and value.dtype.category >= FLOATING:
            return from_numpy(np.asarray(change(_wide(value), EPS[value.dtype.to_real()])))
        if isinstance(value, dtype) and value.category >= FLOATING:
            return wide_of(value)
        return value

    with default_float64(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [np.asarray(part.array) for part in parts_of(op(*map_aggregate(bound, widened)))]


def wide_of(element: dtype) -> dtype:
    return complex128 if element.is_complex else float64 if element.is_floating_point else element


@contextmanager
def default_float64() -> Any:
    """Inside, what becomes floating-point becomes float64."""
    before = get_default_dtype()
    set_default_dtype(float64)
    try:
        yield
    finally:
        set_default_dtype(before)
