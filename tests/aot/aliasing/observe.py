"""What a program leaves behind: everything about its results, its arguments and what shares memory with them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import minitorch_compile as torch
from tests.aot.aliasing.worlds import World


def observe(function: Callable[..., Any], world: World) -> dict[str, Any]:
    """Runs the program, and then backward from all that requires grad. Errors are observations, too."""
    torch.manual_seed(7)
    seen: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            outputs = list(function(*world.arguments))
        except Exception as error:  # the class is compared; the limits of a backend are told apart by the caller
            return {"error": error}
        everything = [*outputs, *world.arguments, *world.outside]
        for i, x in enumerate(everything):
            seen[_name(i, outputs, world)] = _look(x)
        seen["same objects"] = [[x is y for y in everything] for x in everything]
        seen["shared memory"] = [[x.storage == y.storage for y in everything] for x in everything]
        seen["random numbers"] = torch.rand(2).tolist()
        seen["gradients"] = _gradients(everything, world)
    return seen


def _name(i: int, outputs: list[Any], world: World) -> str:
    if i < len(outputs):
        return f"output {i}"
    i -= len(outputs)
    return f"argument {i}" if i < len(world.arguments) else f"outside {i - len(world.arguments)}"


def _look(x: Any) -> dict[str, Any]:
    """Not grad_fn: a view of a base that was written to gets its new one when it is next used."""
    return {
        "value": np.array(x.detach().numpy()),
        "dtype": str(x.dtype),
        "sizes": tuple(x.shape),
        "strides": tuple(x.stride()) if x.numel() > 1 else None,
        "version": x._version,
        "requires_grad": x.requires_grad,
        "is_leaf": x.is_leaf,
    }


def _gradients(tensors: list[Any], world: World) -> Any:
    """The leaves' gradients of a weighted sum, or the error."""
    distinct = list({id(x): x for x in tensors if x.requires_grad}.values())
    try:
        total = sum((x.double() * _weights(x, i)).sum() for i, x in enumerate(distinct))
        if distinct:
            total.backward()
    except Exception as error:
        return error
    return [None if x.grad is None else np.array(x.grad.numpy()) for x in world.leaves]


def _weights(x: Any, seed: int) -> Any:
    return torch.from_numpy(np.random.default_rng(100 + seed).uniform(-1, 1, tuple(x.shape)))


def difference(came: Any, expected: Any, where: str = "") -> str:
    """The first place where two observations differ, in words; empty if they don't."""
    if isinstance(expected, Exception) or isinstance(came, Exception):
        same = isinstance(expected, Exception) and isinstance(came, type(expected))
        return "" if same else f"{where}: {_told(came)} instead of {_told(expected)}"
    if isinstance(expected, dict):
        if came.keys() != expected.keys():
            return f"{where}: {_told(came.get('error'))} instead of {_told(expected.get('error'))}"
        return next((d for key in expected if (d := difference(came[key], expected[key], f"{where} {key}"))), "")
    if isinstance(expected, list) and isinstance(came, list) and len(came) == len(expected):
        pairs = enumerate(zip(came, expected, strict=True))
        return next((d for i, (a, b) in pairs if (d := difference(a, b, f"{where}[{i}]"))), "")
    if isinstance(expected, np.ndarray) and isinstance(came, np.ndarray):
        rtol = 1e-4 if np.float32 in (came.dtype, expected.dtype) else 1e-6
        same = came.shape == expected.shape and np.allclose(came, expected, rtol=rtol, atol=rtol, equal_nan=True)
        return "" if same else f"{where}: {came.tolist()} instead of {expected.tolist()}"
    if isinstance(expected, np.ndarray) or isinstance(came, np.ndarray):  # one has a gradient, the other none
        return f"{where}: {came} instead of {expected}"
    return "" if came == expected else f"{where}: {came} instead of {expected}"


def _told(value: Any) -> str:
    return (
        f"{type(value).__name__}({value})"
        if isinstance(value, Exception)
        else "no error"
        if value is None
        else str(value)
    )
