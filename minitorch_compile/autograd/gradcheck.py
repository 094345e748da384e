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
from typing import Any, NamedTuple

import numpy as np

from minitorch_compile.autograd.entry_points import grad
from minitorch_compile.autograd.forward_mode_slot import registered_forward_mode
from minitorch_compile.tensor import Tensor, enable_grad, from_numpy, no_grad, ops
from minitorch_compile.tensor.numerics.dtype import FLOATING


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
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Whether the gradients of `func` at `inputs` agree with finite differences, of steps `eps`, up to `atol` + `rtol`
    times their size.

    Checks every float64 or complex128 input that requires grad, against every floating-point output, and that a second
    backward pass differs by no more than `nondet_tol`. GradcheckError if not, or False unless `raise_exception`.
    ValueError if there is nothing to check, or in another dtype. The whole Jacobian is compared also with `fast_mode`;
    `check_undefined_grad`, `check_grad_dtypes` and `masked` are about what can't occur here. `check_batched_grad`,
    `check_batched_forward_grad`, `check_forward_ad`, `check_backward_ad`: further ways to be compared.

    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, (x,))
    True
    """
    _check_modes(check_forward_ad, check_backward_ad, check_batched_grad, check_batched_forward_grad)
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    checked = _checked_inputs(inputs)
    outputs = _outputs(func, inputs)
    differentiable = [(o, x) for o, x in enumerate(outputs) if x.requires_grad]
    allowed = Tolerances(atol, rtol, nondet_tol)
    for (o, output), i in itertools.product(differentiable, checked):
        numerical = _numerical(func, inputs, i, o, eps)
        problem = _forward_difference(func, inputs, i, o, numerical, allowed) if check_forward_ad else ""
        if not problem and check_backward_ad:
            problem = _difference(inputs, i, o, output, numerical, allowed)
        if not problem and check_batched_grad:
            problem = _batched_difference(output, inputs[i], o, i, allowed)
        if not problem and check_batched_forward_grad:
            problem = _batched_forward_difference(func, inputs, i, o, allowed)
        if problem and raise_exception:
            raise GradcheckError(problem)
        if problem:
            return False
    return True


def _check_modes(forward: bool, backward: bool, batched: bool, batched_forward: bool) -> None:
    if not (forward or backward):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if batched and not backward:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if batched_forward and not forward:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")


def _checked_inputs(inputs: Sequence[Any]) -> list[int]:
    """Which inputs are differentiated. ValueError if none is, or one that is too coarse."""
    checked = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for i in checked:
        if inputs[i].dtype.numpy not in (np.float64, np.complex128):
            raise ValueError(
                f"gradcheck: input {i} must be float64 for finite differences to mean anything, got {inputs[i].dtype}"
            )
    return checked


class Tolerances(NamedTuple):
    """How far gradients may be from the numerical ones, and a second backward pass from the first."""

    atol: float
    rtol: float
    nondet_tol: float


def _difference(inputs: Sequence[Any], i: int, o: int, output: Any, numerical: np.ndarray, allowed: Tolerances) -> str:
    """What is wrong with the gradient of one output by one input; empty if nothing is."""
    analytical = _analytical(output, inputs[i])
    if not np.allclose(analytical, numerical, allowed.rtol, allowed.atol, equal_nan=True):
        return _mismatch("Jacobian mismatch", o, i, numerical, analytical)
    again = _analytical(output, inputs[i], only_first=True)
    if not np.allclose(analytical[: len(again)], again, rtol=0, atol=allowed.nondet_tol, equal_nan=True):
        return (
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives"
            f" different values, although analytical gradient matches numerical gradient. The tolerance for"
            f" nondeterminism was {allowed.nondet_tol}."
        )
    return ""


def _mismatch(what: str, o: int, i: int, numerical: np.ndarray, analytical: np.ndarray) -> str:
    return f"{what} for output {o} with respect to input {i},\nnumerical: {numerical}\nanalytical: {analytical}"


def _forward_difference(
    func: Callable[..., Any], inputs: Sequence[Any], i: int, o: int, numerical: np.ndarray, allowed: Tolerances
) -> str:
    """What is wrong with the derivative of one output by one input that tangents give."""
    analytical = _analytical_forward(func, inputs, i, o, len(numerical))
    if np.allclose(analytical, numerical, allowed.rtol, allowed.atol, equal_nan=True):
        return ""
    return _mismatch("Jacobian computed with forward mode mismatch", o, i, numerical, analytical)


def _batched_forward_difference(
    func: Callable[..., Any], inputs: Sequence[Any], i: int, o: int, allowed: Tolerances
) -> str:
    """What is wrong with two tangents that are computed as a batch."""

    def moved(x: Any) -> Any:
        return _outputs(func, [*inputs[:i], x, *inputs[i + 1 :]])[o]

    forward_mode, x, loop = registered_forward_mode(), inputs[i].detach(), []
    tangents = [_generic_like(x, 1), _generic_like(x, 1).flip(0) if x.dim() else _generic_like(x, 1) * 2]
    for tangent in tangents:
        with forward_mode.dual_level():
            found = forward_mode.unpack_dual(moved(forward_mode.make_dual(x, tangent))).tangent
        if found is None:  # that the result doesn't move has been compared before
            return ""
        loop.append(found.detach().array)
    batch = forward_mode.batched_tangents(moved, x, ops.stack(tangents)).detach().array
    if np.allclose(batch, np.stack(loop), allowed.rtol, allowed.atol):
        return ""
    return f"For output {o} and input {i}: tangents computed as a batch differ from those of a loop."


def _batched_difference(output: Any, x: Any, o: int, i: int, allowed: Tolerances) -> str:
    """What is wrong with two gradients that are computed as a batch."""
    upper = [_generic_like(output, 1), _generic_like(output, 1).flip(0) if output.dim() else _generic_like(output, 1)]
    loop = [grad(output, x, u, retain_graph=True, allow_unused=True)[0] for u in upper]
    (batch,) = grad(output, x, ops.stack(upper), retain_graph=True, allow_unused=True, is_grads_batched=True)
    if loop[0] is None or batch is None:
        return (
            "" if loop[0] is batch else f"For output {o} and input {i}, only one of a batch and a loop has gradients."
        )
    if np.allclose(batch.detach().array, np.stack([g.detach().array for g in loop]), allowed.rtol, allowed.atol):
        return ""
    return f"For output {o} and input {i}: gradients computed as a batch differ from those of a loop."


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Whether gradients of gradients are right: gradcheck of the backward pass, by inputs and output gradients.

    `grad_outputs` are numbers without pattern unless given, not contiguous with `gen_non_contig_grad_outputs`. The
    others are those of gradcheck.
    """
    options = {"eps": eps, "atol": atol, "rtol": rtol, "raise_exception": raise_exception, "nondet_tol": nondet_tol}
    options |= {"check_undefined_grad": check_undefined_grad, "check_grad_dtypes": check_grad_dtypes}
    options |= {"check_batched_grad": check_batched_grad, "fast_mode": fast_mode, "masked": masked}
    options |= {"check_forward_ad": check_fwd_over_rev, "check_backward_ad": check_rev_over_rev}
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    outputs = [x for x in _outputs(func, inputs) if x.requires_grad]
    apart = 2 if gen_non_contig_grad_outputs else 1
    upper = [_generic_like(x, apart).requires_grad_() for x in outputs] if grad_outputs is None else grad_outputs
    upper = [upper] if isinstance(upper, Tensor) else list(upper)
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad]

    def gradients(*args: Any) -> tuple[Any, ...]:
        xs, upper = args[: len(inputs)], args[len(inputs) :]
        with enable_grad():
            results = [x for x in _outputs(func, xs) if x.requires_grad]
            found = grad(results, [xs[i] for i in wanted], upper, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(gradients, (*inputs, *upper), **options)  # type: ignore[arg-type]  # each by its name


def _outputs(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """The floating-point tensors that `func` returns."""
    result = func(*inputs)
    sequence = [result] if isinstance(result, Tensor) else list(result)
    return [x for x in sequence if isinstance(x, Tensor) and x.dtype.category >= FLOATING]


def _generic_like(x: Any, apart: int) -> Any:
    """Numbers without pattern, the same every time, `apart` places from each other."""
    values = np.sin(1.0 + 1.7 * np.arange(x.numel()))
    if x.dtype.numpy.kind == "c":
        values = values + 1j * np.cos(1.0 + 1.7 * np.arange(x.numel()))
    return from_numpy(values.astype(x.dtype.numpy).repeat(apart).reshape(*x.shape, apart)[..., 0])


def _analytical(output: Any, x: Any, only_first: bool = False) -> np.ndarray:
    """The real Jacobian (output numbers, input numbers) by backward passes. A complex element is two numbers: its
    gradient is that by the real part plus i times that by the imaginary part."""
    rows = []
    directions = (1, 1j) if output.dtype.numpy.kind == "c" else (1,)
    for i, direction in itertools.product(range(min(output.numel(), 1) if only_first else output.numel()), directions):
        one = np.zeros(output.numel(), output.dtype.numpy)
        one[i] = direction
        upper = from_numpy(one.reshape(tuple(output.shape)))
        (g,) = grad(output, x, upper, retain_graph=True, allow_unused=True)
        rows.append(_real_numbers(np.zeros(x.numel(), x.dtype.numpy) if g is None else ops.detach(g).array))
    return np.stack(rows) if rows else np.zeros((0, _real_numbers(x.array).size))


def _analytical_forward(func: Callable[..., Any], inputs: Sequence[Any], i: int, o: int, rows: int) -> np.ndarray:
    """The same Jacobian by tangents: a column for each number of the input, which moves alone."""
    forward_mode, x = registered_forward_mode(), inputs[i]
    directions = (1, 1j) if x.dtype.numpy.kind == "c" else (1,)
    columns = []
    for place, direction in itertools.product(range(x.numel()), directions):
        one = np.zeros(x.numel(), x.dtype.numpy)
        one[place] = direction
        with forward_mode.dual_level():
            moving = forward_mode.make_dual(x, from_numpy(one.reshape(tuple(x.shape))))
            tangent = forward_mode.unpack_dual(_outputs(func, [*inputs[:i], moving, *inputs[i + 1 :]])[o]).tangent
            columns.append(np.zeros(rows) if tangent is None else _real_numbers(ops.detach(tangent).array))
    return np.stack(columns, axis=1) if columns else np.zeros((rows, 0))


def _real_numbers(array: np.ndarray) -> np.ndarray:
    """The elements one after another, complex ones as their two parts."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return (flat.astype(np.complex128).view(np.float64) if flat.dtype.kind == "c" else flat).astype(np.float64)


def _numerical(func: Callable[..., Any], inputs: Sequence[Any], which: int, output: int, eps: float) -> np.ndarray:
    """The same Jacobian by central differences; the input is moved where it lies, so its strides are as given."""
    data = inputs[which].array
    columns = []
    directions = (1, 1j) if data.dtype.kind == "c" else (1,)
    with no_grad():
        for index, direction in itertools.product(np.ndindex(data.shape), directions):
            kept = data[index]
            data[index] = kept + eps * direction
            above = _values(func, inputs, output)
            data[index] = kept - eps * direction
            below = _values(func, inputs, output)
            data[index] = kept
            columns.append((above - below) / (2 * eps))
    return np.stack(columns, axis=1) if columns else np.zeros((_values(func, inputs, output).size, 0))


def _values(func: Callable[..., Any], inputs: Sequence[Any], output: int) -> np.ndarray:
    return _real_numbers(_outputs(func, inputs)[output].array)
