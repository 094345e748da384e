"""Is a gradient right? Compare it with what happens when the inputs are moved a little.

>>> from minitorch_compile.tensor import float64, tensor
>>> x = tensor([0.5, -1.0], dtype=float64, requires_grad=True)
>>> gradcheck(lambda x: x.exp() * x, x), gradgradcheck(lambda x: x.exp() * x, x)
(True, True)

The numerical Jacobian has a column for each input element: (f(x + eps) - f(x - eps)) / 2 eps. The analytical one has a
row for each output element: the gradient of that element alone. float64 is needed: in float32 the difference is mostly
rounding.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.autograd.engine import grad
from minitorch_compile.tensor import Tensor, enable_grad, float64, no_grad, ops, tensor
from minitorch_compile.tensor.dtype import FLOATING


class GradcheckError(RuntimeError):
    """The analytical gradient differs from the numerical one."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
) -> bool:
    """Whether the gradients of `func` at `inputs` agree with finite differences.

    Checks every float64 input that requires grad, against every floating-point output. GradcheckError if they differ,
    or False unless `raise_exception`. ValueError if there is nothing to check, or in another dtype.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i in checked:
        if inputs[i].dtype is not float64:
            raise ValueError(
                f"gradcheck: input {i} must be float64 for finite differences to mean anything, got {inputs[i].dtype}"
            )
    outputs = _outputs(func, inputs)
    differentiable = [(o, x) for o, x in enumerate(outputs) if x.requires_grad]
    for (o, output), i in itertools.product(differentiable, checked):
        analytical = _analytical(output, inputs[i])
        numerical = _numerical(func, inputs, i, o, eps)
        if not np.allclose(analytical, numerical, rtol, atol, equal_nan=True):
            if not raise_exception:
                return False
            raise GradcheckError(
                f"Jacobian mismatch for output {o} with respect to input {i},\nnumerical:"
                f" {numerical}\nanalytical: {analytical}"
            )
    return True


def gradgradcheck(func: Callable[..., Any], inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """Whether gradients of gradients are right: gradcheck of the backward pass, by inputs and output gradients."""
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [x for x in _outputs(func, inputs) if x.requires_grad]
    upper = [_generic_like(x).requires_grad_() for x in outputs] if grad_outputs is None else grad_outputs
    upper = [upper] if isinstance(upper, Tensor) else list(upper)
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args: Any) -> tuple[Any, ...]:
        xs, upper = args[: len(inputs)], args[len(inputs) :]
        with enable_grad():
            results = [x for x in _outputs(func, xs) if x.requires_grad]
            found = grad(results, [xs[i] for i in wanted], upper, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, (*inputs, *upper), **options)


def _outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """The floating-point tensors that `func` returns."""
    result = func(*inputs)
    sequence = [result] if isinstance(result, Tensor) else list(result)
    return [x for x in sequence if isinstance(x, Tensor) and x.dtype.category >= FLOATING]


def _generic_like(x: Any) -> Any:
    """Numbers without pattern, the same every time."""
    values = np.sin(1.0 + 1.7 * np.arange(x.numel()))
    return tensor(values, dtype=x.dtype).reshape(x.shape)


def _analytical(output: Any, x: Any) -> np.ndarray:
    """The Jacobian (output elements, input elements) by backward passes, one for each output element."""
    rows = []
    for i in range(output.numel()):
        one = np.zeros(output.numel())
        one[i] = 1
        (g,) = grad(
            output, x, tensor(one, dtype=output.dtype).reshape(output.shape), retain_graph=True, allow_unused=True
        )
        rows.append(np.zeros(x.numel()) if g is None else ops.detach(g).array.reshape(-1))
    return np.stack(rows) if rows else np.zeros((0, x.numel()))


def _numerical(func: Callable[..., Any], inputs: Sequence[Any], which: int, output: int, eps: float) -> np.ndarray:
    """The same Jacobian by central differences; the input is moved where it lies, so its strides are as given."""
    data = inputs[which].array
    columns = []
    with no_grad():
        for index in np.ndindex(data.shape):
            kept = data[index]
            data[index] = kept + eps
            above = _values(func, inputs, output)
            data[index] = kept - eps
            below = _values(func, inputs, output)
            data[index] = kept
            columns.append((above - below) / (2 * eps))
    return np.stack(columns, axis=1) if columns else np.zeros((_values(func, inputs, output).size, 0))


def _values(func: Callable[..., Any], inputs: Sequence[Any], output: int) -> np.ndarray:
    return np.array(_outputs(func, inputs)[output].array, dtype=np.float64).reshape(-1)
