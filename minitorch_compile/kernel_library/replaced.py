"""How an operation comes to its kernel: the formula of its declaration, or of its derivative, gets a short cut.

The formula stays what the operation means, and is what runs wherever the short cut answers None: on small arrays, on
other dtypes, on arrays with gaps between their elements, and where there is no library. Nothing above notices: the
tape, transforms, modes and tracers are asked before a formula runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any

import numpy as np

from minitorch_compile import config
from minitorch_compile.autograd.derivative_table import DERIVATIVES
from minitorch_compile.tensor import Op
from minitorch_compile.tensor.dispatch.dispatch import any_requires_grad, contexts
from minitorch_compile.tensor.dispatch.overrides import state as overrides
from minitorch_compile.tensor.dispatch.plain_arrays import arrays_of
from minitorch_compile.tensor.dispatch.torch_dispatch import is_asked
from minitorch_compile.tensor.grad_mode import state as grad_state

ShortCut = Callable[..., Any]

LEAST = 1 << 12  # elements: fewer are no work, and a small program needs no library
FLOAT32 = np.dtype(np.float32)
NUMBERS = (float, int)  # of which a kernel takes the value; what else came, the formula knows

KERNELS: dict[Op, ShortCut] = {}  # for each op, what is tried before its formula
COMPOSITES: dict[Op, ShortCut] = {}  # the same for the body of an op that is written in others
RECORDED_COMPOSITES: dict[Op, ShortCut] = {}  # the same, of what leaves its own nodes where something is recorded
GRADIENTS: dict[Op, ShortCut] = {}  # the same for its derivative

start_writing: list[Callable[[], None]] = []  # where the compiler says how a library is written in the background


@cache
def _library() -> Any:
    from minitorch_compile.kernel_library.library import library

    found = library()
    if found is None and config.eager_kernels == "on":
        for start in start_writing:
            start()
    return found


def program(name: str) -> Any:
    """The program of that name in this process's library; None where kernels are off, or there is none."""
    found = None if config.eager_kernels == "off" else _library()
    return None if found is None else found.program(name)


def planned(name: str) -> Any:
    """The kernel of that name that takes a plan, likewise."""
    found = None if config.eager_kernels == "off" else _library()
    return None if found is None else found.kernel(name)


def is_dense(*arrays: np.ndarray) -> bool:
    """Whether all are float32 and row by row in memory."""
    for array in arrays:
        flags = array.flags
        if array.dtype is not FLOAT32 or not flags.c_contiguous or not flags.aligned:
            return False
    return True


def dense(*tensors: Any) -> tuple[np.ndarray, ...] | None:
    """The arrays of these tensors, the first of them, a gradient, put row by row if it isn't; None if a tensor is of
    another class, somewhere else, or no such array."""
    arrays = arrays_of(*tensors)
    if arrays is None:
        return None
    arrays[0] = np.ascontiguousarray(arrays[0])
    return tuple(arrays) if is_dense(*arrays) else None


def dense_if_large(*tensors: Any) -> tuple[np.ndarray, ...] | None:
    """The arrays of these tensors if the first is large enough to be worth a kernel."""
    return dense(*tensors) if math.prod(tensors[0].sizes) >= LEAST else None


def are_numbers(given: Iterable[Any]) -> bool:
    """Whether kernels take the values of all of these."""
    return all(isinstance(number, NUMBERS) for number in given)


def kernel(op: Op) -> Callable[[ShortCut], ShortCut]:
    """Registers the function below, which takes what the op's formula takes, and answers with what that gives, or with
    None."""

    def register(short_cut: ShortCut) -> ShortCut:
        KERNELS[op] = short_cut
        return short_cut

    return register


def composite(op: Op) -> Callable[[ShortCut], ShortCut]:
    """Registers the function below, which takes what the op's body takes, and answers with what that gives, or with
    None. It is asked where nothing is recorded."""

    def register(short_cut: ShortCut) -> ShortCut:
        COMPOSITES[op] = short_cut
        return short_cut

    return register


def recorded_composite(op: Op) -> Callable[[ShortCut], ShortCut]:
    """As `composite`, for a function that is asked where something is recorded, too, and records that itself."""

    def register(short_cut: ShortCut) -> ShortCut:
        RECORDED_COMPOSITES[op] = short_cut
        return short_cut

    return register


def gradient(op: Op) -> Callable[[ShortCut], ShortCut]:
    """Registers the function below, which takes what the derivative's formula takes, and answers with what that gives,
    or with None."""

    def register(short_cut: ShortCut) -> ShortCut:
        GRADIENTS[op] = short_cut
        return short_cut

    return register


def install() -> None:
    """Puts the short cuts in front of the formulas."""
    for op, short_cut in KERNELS.items():
        if not hasattr(op.kernel, "short_cut"):
            replaced = op.kernel
            op.kernel = _with_kernel(replaced, short_cut)
            if getattr(op, "of_tensors", None) is replaced:
                op.of_tensors = op.kernel  # type: ignore[attr-defined]
    for op, short_cut in COMPOSITES.items() | RECORDED_COMPOSITES.items():
        if not hasattr(op.kernel, "short_cut"):
            op.kernel = _with_body(op.kernel, short_cut, op in RECORDED_COMPOSITES)
    for op, short_cut in GRADIENTS.items():
        derivative = DERIVATIVES[op]
        if not hasattr(derivative.formula, "short_cut"):
            derivative.formula = _with_gradient(derivative.formula, short_cut)


def _with_kernel(formula: Callable[..., Any], short_cut: ShortCut) -> Callable[..., Any]:
    @wraps(formula)
    def run(input: np.ndarray, *rest: Any) -> Any:
        if input.size >= LEAST and input.dtype is FLOAT32:
            found = short_cut(input, *rest)
            if found is not None:
                return found
        return formula(input, *rest)

    run.short_cut = short_cut  # type: ignore[attr-defined]
    return run


def _with_body(body: Callable[..., Any], short_cut: ShortCut, records: bool) -> Callable[..., Any]:
    @wraps(body)
    def run(*args: Any, **kwargs: Any) -> Any:
        recording = not records and grad_state.enabled and any_requires_grad(args, kwargs)
        if not (contexts or overrides.modes or recording or is_asked(args, kwargs)):
            found = short_cut(*args, **kwargs)
            if found is not None:
                return found
        return body(*args, **kwargs)

    run.short_cut = short_cut  # type: ignore[attr-defined]
    return run


def _with_gradient(formula: Callable[..., Any], short_cut: ShortCut) -> Callable[..., Any]:
    @wraps(formula)
    def run(grad: Any, out: Any, *parameters: Any) -> Any:
        if not (contexts or grad_state.enabled or overrides.modes):
            found = short_cut(grad, out, *parameters)
            if found is not None:
                return found
        return formula(grad, out, *parameters)

    run.short_cut = short_cut  # type: ignore[attr-defined]
    return run
