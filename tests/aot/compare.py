"""Runs a function plainly and through ahead-of-time autograd on equal inputs, and compares all that one can see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile import prims
from minitorch_compile.aot import aot_eager
from minitorch_compile.fx import Graph, GraphModule
from minitorch_compile.pytree import tree_leaves
from minitorch_compile.tensor import Tensor, from_numpy, ops

Backend = Callable[[GraphModule, Sequence[Tensor]], Callable[..., Any]]
BACKENDS: dict[str, Backend] = {"aot_eager": aot_eager, "aot_eager_decomp": prims.aot_eager_decomp}


def captured(function: Callable[..., Any], argument_count: int) -> GraphModule:
    """A graph of a single node that calls the function: what a tracer would make of it, untraced."""
    graph = Graph()
    arguments = [graph.placeholder(f"x{i}") for i in range(argument_count)]
    graph.output(graph.call_function(function, tuple(arguments), name="program"))
    return GraphModule({}, graph)


def compiled(function: Callable[..., Any], backend: Backend) -> Callable[..., Any]:
    """The function, compiled for the arguments of its first call."""
    made: list[Callable[..., Any]] = []

    def call(*arguments: Tensor) -> Any:
        if not made:
            made.append(backend(captured(function, len(arguments)), arguments))
        return made[0](*arguments)

    return call


def sample(*sizes: int, seed: int = 0, requires_grad: bool = True, dtype: Any = np.float64) -> Tensor:
    """A leaf with random numbers."""
    x = from_numpy(np.asarray(np.random.default_rng(seed).normal(size=sizes), dtype))
    return x.requires_grad_() if requires_grad else x


def check(
    function: Callable[..., Any], inputs: Callable[[], list[Tensor]], backend: Backend, rtol: float = 1e-10
) -> None:
    """`inputs` makes the arguments anew for each run: the function may overwrite them."""
    expected = observe(function, inputs(), rtol)
    actual = observe(compiled(function, backend), inputs(), rtol)
    for what, (want, got) in {key: (expected[key], actual[key]) for key in expected}.items():
        _assert_same(got, want, rtol, what)


def observe(function: Callable[..., Any], arguments: list[Tensor], rtol: float) -> dict[str, Any]:
    """What a call leaves behind: results, arguments, versions, who shares memory with whom, gradients."""
    leaves = [x for x in arguments if x.requires_grad and x.grad_fn is None]
    start = [x + 0 if x.requires_grad and x.grad_fn is None else x for x in arguments]  # leaves can't be overwritten
    outputs = [x for x in tree_leaves(function(*start)) if isinstance(x, Tensor)]
    seen = {
        "values": [np.array(x.detach().array) for x in outputs],
        "dtypes": [x.dtype for x in outputs],
        "strides": [tuple(x.strides) if x.numel() > 1 else None for x in outputs],
        "requires_grad": [x.requires_grad for x in outputs],
        "arguments": [np.array(x.detach().array) for x in start],
        "arguments require grad": [x.requires_grad for x in start],
        "versions": [x.storage.version for x in start],
        "same objects": [[x is y for y in (*start, *outputs)] for x in outputs],
        "shared memory": [[x.storage is y.storage for y in (*start, *outputs)] for x in outputs],
    }
    seen["gradients"] = _gradients([x for x in (*outputs, *start) if x.requires_grad], leaves)
    return seen


def _gradients(outputs: list[Tensor], leaves: list[Tensor]) -> list[Any]:
    terms = [(x * _cotangent(x, i)).sum() for i, x in enumerate(outputs)]
    if terms:
        total = terms[0]
        for term in terms[1:]:
            total = ops.add(total, term)
        total.backward()
    return [None if x.grad is None else np.array(x.grad.array) for x in leaves]


def _cotangent(x: Tensor, seed: int) -> Tensor:
    return from_numpy(np.asarray(np.random.default_rng(100 + seed).normal(size=tuple(x.shape)), x.dtype.numpy))


def _assert_same(actual: Any, expected: Any, rtol: float, what: str) -> None:
    if isinstance(expected, list):
        assert len(actual) == len(expected), what
        for position, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _assert_same(a, e, rtol, f"{what}[{position}]")
    elif isinstance(expected, np.ndarray) and expected.dtype.kind == "f":
        assert actual is not None, what
        np.testing.assert_allclose(actual, expected, rtol=rtol, atol=rtol, err_msg=what)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(actual, expected, err_msg=what)
    else:
        assert actual == expected, f"{what}: {actual} instead of {expected}"
