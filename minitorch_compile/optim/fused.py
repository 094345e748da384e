"""fused=True: all parameters of a group in one native call.

The plain path computes a dozen small tensors for each parameter; here one compiled loop runs over its memory once. The
results are those of the rules in `functional`, up to rounding.

>>> from minitorch_compile import nn, tensor
>>> w = nn.Parameter(tensor([1.0, 2.0]))
>>> w.grad = tensor([0.5, 0.5])
>>> _ = fused_sgd([w], [w.grad], [None], lr=0.1)
>>> w.data
tensor([0.9500, 1.9500])

The kernels are compiled when first needed, once on a machine: Numba keeps them on disk. Where neither `fused` nor
`foreach` is said, large models are stepped this way too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.control import disable, is_compiling
from minitorch_compile.tensor import Tensor, float32, float64, ops
from minitorch_compile.tensor.dispatch.plain_arrays import unseen_arrays
from minitorch_compile.tensor.memory.strides import is_dense

LARGE = 1 << 16  # elements in a group from which on the native call is worth Numba's import
SUPPORTED = (float32, float64)

Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


def is_fused(group: dict[str, Any], params: Sequence[Tensor]) -> bool:
    """Whether a group is stepped by a native call: as it says, or if it doesn't say and is large.

    Not in a compiled program, where the plain path becomes part of the graph and is fused there. On a device, all
    parameters of a group are one kernel, unless the group says otherwise.
    """
    if is_compiling() or any(p.storage.block is not None for p in params):
        if group.get("fused"):
            check_elements(params)
        return "fused" in group and not is_compiling() and _is_together(group, params)
    if group.get("fused") is not None:
        return bool(group["fused"])
    said = group["foreach"] is not None or group.get("capturable") or group["differentiable"]
    return not said and _are_large(params)


def _are_large(tensors: Sequence[Tensor]) -> bool:
    return sum(x.numel() for x in tensors) >= LARGE and all(x.dtype in SUPPORTED for x in tensors)


def _is_together(group: dict[str, Any], params: Sequence[Tensor]) -> bool:
    """Whether parameters on a device are stepped by one kernel: all on one, dense, with gradients like them."""
    unsaid = group["fused"] is None and group["foreach"] is None
    if not (group["fused"] or group["foreach"] or unsaid) or group.get("capturable") or group["differentiable"]:
        return False
    where = params[0].device
    return all(
        p.device == where and p.dtype in SUPPORTED and is_dense(p.sizes, p.strides) and p.grad.dtype is p.dtype
        for p in params
    )


def fused_sgd(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    momentum_buffers: Sequence[Tensor | None],
    *,
    lr: Any,
    momentum: float = 0,
    dampening: float = 0,
    weight_decay: Any = 0,
    nesterov: bool = False,
    maximize: bool = False,
) -> list[Tensor | None]:
    """Steps the parameters in place, as functional.sgd would; returns the momentum buffers, the new ones too."""
    from minitorch_compile.optim import fused_kernels

    plain = [-1.0 if maximize else 1.0, float(weight_decay), float(lr)]
    if not momentum:
        run(fused_kernels.sgd_step, [(p, g) for p, g in zip(params, grads, strict=True)], [plain] * len(params))
        return list(momentum_buffers)
    weights = [float(momentum), 1.0] if nesterov else [1.0, 0.0]
    # A first buffer is the whole gradient, not dampened.
    numbers = [[*plain, float(momentum), 1.0 if b is None else 1.0 - dampening, *weights] for b in momentum_buffers]
    buffers = [ops.zeros_like(p) if b is None else b for p, b in zip(params, momentum_buffers, strict=True)]
    run(fused_kernels.sgd_momentum_step, list(zip(params, grads, buffers, strict=True)), numbers)
    return list(buffers)


def fused_adam(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    states: Sequence[Any],
    *,
    lr: Any,
    betas: tuple[Any, Any] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0,
    decoupled: bool = False,
    maximize: bool = False,
) -> list[Any]:
    """Steps the parameters and their running means in place, as functional.adam would; returns the states with their
    new counts."""
    from minitorch_compile.optim import fused_kernels

    lr, beta1, beta2 = float(lr), float(betas[0]), float(betas[1])
    sign = -1.0 if maximize else 1.0
    decay, shrink = (0.0, 1 - lr * weight_decay) if decoupled else (weight_decay, 1.0)
    numbers_at: dict[float, list[float]] = {}  # most parameters have seen the same number of steps
    for step in {state.step + 1 for state in states}:
        rate, root = lr / (1 - beta1**step), (1 - beta2**step) ** 0.5
        numbers_at[step] = [sign, decay, shrink, 1 - beta1, beta2, 1 - beta2, eps, rate, root]
    calls: dict[Kernel, tuple[list[tuple[Tensor, ...]], list[list[float]]]] = {}
    for p, g, state in zip(params, grads, states, strict=True):
        step, *means, largest = state
        kernel = fused_kernels.adam_step if largest is None else fused_kernels.amsgrad_step
        rows, numbers = calls.setdefault(kernel, ([], []))
        rows.append((p, g, *means) if largest is None else (p, g, *means, largest))
        numbers.append(numbers_at[step + 1])
    for kernel, (rows, numbers) in calls.items():
        run(kernel, rows, numbers)
    return counted(states)


def counted(states: Sequence[Any]) -> list[Any]:
    """The states after one more step."""
    return [state._replace(step=state.step + 1) for state in states]


def fused_adagrad(
    params: Sequence[Tensor],
    grads: Sequence[Tensor],
    states: Sequence[Any],
    *,
    lr: Any = 1e-2,
    lr_decay: float = 0,
    weight_decay: float = 0,
    eps: float = 1e-10,
    maximize: bool = False,
) -> list[Any]:
    """Steps the parameters and their sums of squares in place, as functional.adagrad would."""
    from minitorch_compile.optim import fused_kernels

    sign = -1.0 if maximize else 1.0
    numbers = [[sign, weight_decay, eps, float(lr) / (1 + state.step * lr_decay)] for state in states]
    rows = [(p, g, state.sum) for p, g, state in zip(params, grads, states, strict=True)]
    run(fused_kernels.adagrad_step, rows, numbers)
    return counted(states)


def move_towards(targets: Sequence[Tensor], values: Sequence[Tensor], weight: float) -> None:
    """target += weight * (value - target) for each, where numbers aren't floats the value itself.

    >>> mean = ops.full((1,), 2.0)
    >>> move_towards([mean], [ops.full((1,), 4.0)], 0.25)
    >>> mean
    tensor([2.5000])
    """
    alike = all(x.dtype is y.dtype and x.sizes == y.sizes for x, y in zip(targets, values, strict=True))
    nearer = weight < 0.5  # lerp begins at the nearer end
    native = nearer and alike and not is_compiling() and _are_large(targets)
    if native and unseen_arrays([*targets, *values]) is not None:
        from minitorch_compile.optim import fused_kernels

        run(fused_kernels.sgd_step, list(zip(targets, values, strict=True)), [[-1.0, 1.0, weight]] * len(targets))
        return
    for target, value in zip(targets, values, strict=True):
        if not (target.is_floating_point() or target.is_complex()):
            target.copy_(value)
        elif target.dtype is value.dtype and target.device == value.device:
            target.lerp_(value, weight)
        else:
            target.copy_(target + (value - target) * weight)


def check_elements(params: Sequence[Tensor]) -> None:
    """RuntimeError for a parameter that the kernels can't step."""
    for p in params:
        if p.dtype not in SUPPORTED:
            raise RuntimeError(
                f"`fused=True` requires all the params to be floating point Tensors of supported dtypes: torch.float32,"
                f" torch.float64; got {p.dtype}. Leave fused out for these."
            )


def check_sizes(rows: Sequence[tuple[Tensor, ...]]) -> None:
    """RuntimeError for a parameter whose gradient or state has other sizes: the kernels would go past its end. Such
    states are loaded from another model's, and `p.data` may be set while there is a gradient."""
    for p, *others in rows:
        for x in others:
            if x.sizes != p.sizes:
                raise RuntimeError(
                    f"expected the gradient and the state of a parameter to have its sizes {list(p.sizes)}, got"
                    f" {list(x.sizes)}; is the loaded state dict that of another model?"
                )


@disable(reason="a native call")
def run(kernel: Kernel, rows: Sequence[tuple[Tensor, ...]], numbers: Sequence[Sequence[float]]) -> None:
    """Calls a kernel for rows of tensors that are written to, all but the second: the gradient.

    One call for each dtype. RuntimeError for one that is not float32 or float64, and for a row of several sizes.
    """
    check_elements([row[0] for row in rows])
    check_sizes(rows)
    if rows[0][0].storage.block is not None:
        _run_on_device(kernel, rows, numbers)
        return
    for element in {row[0].dtype for row in rows}:
        chosen = [i for i, row in enumerate(rows) if row[0].dtype is element]
        _run_one_dtype(kernel, [rows[i] for i in chosen], _matrix([numbers[i] for i in chosen], element.numpy))


def _run_on_device(kernel: Any, rows: Sequence[tuple[Tensor, ...]], numbers: Sequence[Sequence[float]]) -> None:
    for element in dict.fromkeys(row[0].dtype for row in rows):
        chosen = [i for i, row in enumerate(rows) if row[0].dtype is element and row[0].numel()]
        alike = [tuple(_laid_out_as(x, rows[i][0]) for x in rows[i]) for i in chosen]
        if alike:
            block: Any = alike[0][0].storage.block
            block.step_together(kernel.__name__, alike, [numbers[i] for i in chosen])
    for row in rows:
        for position, x in enumerate(row):
            if position != 1:
                x.storage.version += 1


def _laid_out_as(x: Tensor, p: Tensor) -> Tensor:
    """A gradient whose elements lie in the order of the parameter's. What is written to, state, always does."""
    return x if x.strides == p.strides else ops.empty_like(p).copy_(x)


def _matrix(rows: Sequence[Sequence[float]], element: np.dtype) -> np.ndarray:
    """The numbers of each row. Reading one list costs more than a small kernel, and often all rows are one list."""
    if all(row is rows[0] for row in rows):
        return np.array(rows[:1], element).repeat(len(rows), 0)
    return np.array(rows, element)


def _run_one_dtype(kernel: Kernel, rows: Sequence[tuple[Tensor, ...]], numbers: np.ndarray) -> None:
    arrays = [x.array for row in rows for x in row]
    width, copies = len(rows[0]), []  # (an array that is written to, a copy of it as the kernel wants it)
    for i, array in enumerate(arrays):
        if not array.flags.c_contiguous or array.dtype is not numbers.dtype:
            arrays[i] = np.ascontiguousarray(array, numbers.dtype)
            if i % width != 1:
                copies.append((array, arrays[i]))
    # The kernel finds an array's data in the array: asking NumPy for each address would take longer than a small step.
    places = np.array([id(array) for array in arrays], np.int64).reshape(len(rows), -1)
    kernel(places, np.array([array.size for array in arrays[::width]]), numbers)
    for original, copy in copies:
        original[...] = copy
    for row in rows:
        for position, x in enumerate(row):
            if position != 1:
                x.storage.version += 1
