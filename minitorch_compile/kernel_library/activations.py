"""Activations on programs: one kernel for the values, and one for the gradient, over elements side by side.

>>> ACTIVATIONS[ops.leaky_relu]
'slope'
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from minitorch_compile.kernel_library.replaced import are_numbers, dense_if_large, gradient, is_dense, kernel, program
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import wrap

Array = np.ndarray

ACTIVATIONS = {
    ops.hardsigmoid: "",
    ops.hardswish: "",
    ops.hardtanh: "low high",
    ops.leaky_relu: "slope",
    ops.log_sigmoid: "",
    ops.silu: "",
    ops.softplus: "beta threshold",
}  # those whose gradient needs the input, with the numbers that each takes


def by_element(name: str, defaults: tuple[float, ...] = ()) -> Callable[..., Any]:
    """`defaults`: of the numbers that a call may leave out."""

    def run(input: Array, *given: Any) -> Any:
        numbers = (*given, *defaults[len(given) :])
        found = program(name) if is_dense(input) and are_numbers(numbers) else None
        return found and found((input.size,), (input.shape,), (input,), *numbers)[0]

    return run


def by_element_backward(name: str) -> Callable[..., Any]:
    def run(grad: Any, out: Any, x: Any, *numbers: Any) -> Any:
        arrays = dense_if_large(grad, x)
        if arrays is None or arrays[0].shape != arrays[1].shape or not are_numbers(numbers):
            return None
        found = program(name)
        return found and wrap(found((arrays[0].size,), (arrays[0].shape,), arrays, *numbers)[0])

    return run


for _op in (ops.erf, ops.sigmoid, *ACTIVATIONS):
    kernel(_op)(by_element(_op.name, _op.kernel.__defaults__ or ()))
for _op in ACTIVATIONS:
    gradient(_op)(by_element_backward(f"{_op.name}_backward"))


def _by_result_backward(name: str) -> Callable[..., Any]:
    return lambda grad, out, x: by_element_backward(name)(grad, out, out)


for _op in (ops.relu, ops.sigmoid, ops.tanh):
    gradient(_op)(_by_result_backward(f"{_op.name}_backward"))


GELUS = {"none": "gelu", "tanh": "tanh_gelu"}


@kernel(ops.gelu)
def _(input: Array, approximate: str = "none") -> Any:
    name = GELUS.get(approximate)
    return name and by_element(name)(input)


@gradient(ops.gelu)
def _(grad: Any, out: Any, x: Any, approximate: str) -> Any:
    return by_element_backward(f"{GELUS[approximate]}_backward")(grad, out, x)


@kernel(ops.elu)
def _(input: Array, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    fits = are_numbers((alpha, scale, input_scale))
    return by_element("elu")(input, alpha * scale, scale, input_scale) if fits else None


@gradient(ops.elu)
def _(grad: Any, out: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    fits = are_numbers((alpha, scale, input_scale))
    run = by_element_backward("elu_backward")
    return run(grad, out, x, alpha * scale * input_scale, scale, input_scale) if fits else None
