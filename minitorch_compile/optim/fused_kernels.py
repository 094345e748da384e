"""The update rules as native loops: one call steps all parameters of one dtype. Importing this imports Numba.

`places[i]` has the addresses of the arrays of parameter i (the parameter, its gradient, its state): of the Python
objects, in which the address of their data is found. `lengths[i]` is how many elements each has, and `numbers[i]` are
the rule's constants for it, in the dtype of the elements: a constant of another dtype would widen every product. The
compiled functions are kept on disk by Numba.

>>> p, g = np.array([1.0, 2.0]), np.array([0.5, 0.5])
>>> places = np.array([[id(a) for a in (p, g)]])
>>> sgd_step(places, np.array([2]), np.array([[1.0, 0.0, 0.1]]))
>>> p
array([0.95, 1.95])
"""

from __future__ import annotations

import ctypes
from math import sqrt
from typing import Any

import numpy as np
from numba import carray, types
from numba.extending import intrinsic

from minitorch_compile.tensor.cpu.native import native

ARRAY_DATA = object.__basicsize__  # where the address of an array's data lies in NumPy's object


def check_layout() -> None:
    """RuntimeError if an array's data isn't where `data_of` looks for it."""
    array = np.zeros(3)
    if ctypes.c_int64.from_address(id(array) + ARRAY_DATA).value != array.ctypes.data:
        raise RuntimeError("fused=True: this NumPy lays out its arrays in an unknown way; leave fused out")


check_layout()


@intrinsic
def data_of(typing_context: Any, array: Any, like: Any) -> Any:
    """The data of the array at an address, as a pointer to elements of the dtype of `like`."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        pointer = context.get_value_type(signature.return_type).as_pointer()
        place = builder.add(values[0], values[0].type(ARRAY_DATA))
        return builder.load(builder.inttoptr(place, pointer))

    return types.CPointer(like.dtype)(array, like), code


@native
def sgd_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """p -= lr * (sign * g + decay * p)."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        row = numbers[i]
        sign, decay, lr = row[0], row[1], row[2]
        for j in range(n):
            p[j] -= lr * (sign * g[j] + decay * p[j])


@native
def sgd_momentum_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """With a running sum of gradients; `ahead` and `here` are the weights of that sum and of the gradient itself."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        buffer = carray(data_of(places[i, 2], numbers), n)
        row = numbers[i]
        sign, decay, lr, momentum, fresh, ahead, here = row[0], row[1], row[2], row[3], row[4], row[5], row[6]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            buffer[j] = momentum * buffer[j] + fresh * gradient
            p[j] -= lr * (ahead * buffer[j] + here * gradient)


@native
def adam_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """`rate` is lr / (1 - beta1^step), `root` the square root of 1 - beta2^step."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        mean = carray(data_of(places[i, 2], numbers), n)
        square = carray(data_of(places[i, 3], numbers), n)
        row = numbers[i]
        sign, decay, shrink, fresh, beta2, fresh2, eps, rate, root = (
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            row[5],
            row[6],
            row[7],
            row[8],
        )
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            mean[j] += fresh * (gradient - mean[j])
            square[j] = beta2 * square[j] + fresh2 * gradient * gradient
            p[j] = shrink * p[j] - rate * mean[j] / (sqrt(square[j]) / root + eps)


@native
def amsgrad_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """Adam with the largest mean square so far."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        mean = carray(data_of(places[i, 2], numbers), n)
        square = carray(data_of(places[i, 3], numbers), n)
        largest = carray(data_of(places[i, 4], numbers), n)
        row = numbers[i]
        sign, decay, shrink, fresh, beta2, fresh2, eps, rate, root = (
            row[0],
            row[1],
            row[2],
            row[3],
            row[4],
            row[5],
            row[6],
            row[7],
            row[8],
        )
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            mean[j] += fresh * (gradient - mean[j])
            square[j] = beta2 * square[j] + fresh2 * gradient * gradient
            # NaN must win, as in torch.maximum; a comparison with it is false.
            largest[j] = largest[j] if largest[j] > square[j] or largest[j] != largest[j] else square[j]
            p[j] = shrink * p[j] - rate * mean[j] / (sqrt(largest[j]) / root + eps)


@native
def adagrad_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """p -= rate * g / (sqrt(total) + eps)."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        total = carray(data_of(places[i, 2], numbers), n)
        row = numbers[i]
        sign, decay, eps, rate = row[0], row[1], row[2], row[3]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            total[j] += gradient * gradient
            p[j] -= rate * gradient / (sqrt(total[j]) + eps)


@native
def rmsprop_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """p -= lr * g / (sqrt(square) + eps)."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        square = carray(data_of(places[i, 2], numbers), n)
        row = numbers[i]
        sign, decay, alpha, fresh, eps, lr = row[0], row[1], row[2], row[3], row[4], row[5]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            square[j] = alpha * square[j] + fresh * gradient * gradient
            p[j] -= lr * (gradient / (sqrt(square[j]) + eps))


@native
def rmsprop_momentum_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """With a running sum of such steps."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        square = carray(data_of(places[i, 2], numbers), n)
        buffer = carray(data_of(places[i, 3], numbers), n)
        row = numbers[i]
        sign, decay, alpha, fresh, eps, lr, momentum = row[0], row[1], row[2], row[3], row[4], row[5], row[6]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            square[j] = alpha * square[j] + fresh * gradient * gradient
            buffer[j] = momentum * buffer[j] + gradient / (sqrt(square[j]) + eps)
            p[j] -= lr * buffer[j]


@native
def adadelta_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """p -= lr * delta, and delta is g by the ratio of both running roots."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        square = carray(data_of(places[i, 2], numbers), n)
        moved = carray(data_of(places[i, 3], numbers), n)
        row = numbers[i]
        sign, decay, rho, fresh, eps, lr = row[0], row[1], row[2], row[3], row[4], row[5]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            square[j] = rho * square[j] + fresh * gradient * gradient
            delta = sqrt(moved[j] + eps) / sqrt(square[j] + eps) * gradient
            moved[j] = rho * moved[j] + fresh * delta * delta
            p[j] -= lr * delta


@native
def nadam_step(places: np.ndarray, lengths: np.ndarray, numbers: np.ndarray) -> None:
    """As Adam's; `here` and `ahead` are the weights of the gradient and of its mean."""
    for i in range(len(lengths)):
        n = lengths[i]
        p = carray(data_of(places[i, 0], numbers), n)
        g = carray(data_of(places[i, 1], numbers), n)
        mean = carray(data_of(places[i, 2], numbers), n)
        square = carray(data_of(places[i, 3], numbers), n)
        row = numbers[i]
        sign, decay, shrink, fresh, beta2, fresh2 = row[0], row[1], row[2], row[3], row[4], row[5]
        eps, correction, here, ahead = row[6], row[7], row[8], row[9]
        for j in range(n):
            gradient = sign * g[j] + decay * p[j]
            mean[j] += fresh * (gradient - mean[j])
            square[j] = beta2 * square[j] + fresh2 * gradient * gradient
            root = sqrt(square[j] / correction) + eps
            p[j] = shrink * p[j] - here * (gradient / root) - ahead * (mean[j] / root)
