"""What the exercises on `mini/program.py` share: the steps of small programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minitorch_compile.course.checking.exercise import WrongAnswer

Shapes = Sequence[tuple[int, ...]]


def lowered(mini: Any, program: Callable[..., Any], shapes: Shapes) -> tuple[Any, list[Any]]:
    graph = mini.graph.trace(program, *[mini.tensor.fake(shape) for shape in shapes])
    lowering = mini.loops.Lowering(mini.prims.decompose(graph))
    return lowering, mini.fusion.fuse(lowering)


def product_and_kernel(mini: Any, program: Callable[..., Any], shapes: Shapes) -> tuple[Any, Any]:
    """The steps of a program that is one product and one kernel."""
    lowering, groups = lowered(mini, program, shapes)
    product = next(group for group in groups if isinstance(group, mini.loops.Call))
    kernel = next(group for group in groups if group is not product)
    return mini.products.ProductStep(product), mini.emit.Kernel(kernel, {*lowering.outputs})


def tensors(mini: Any, shapes: Shapes) -> list[Any]:
    arrays = [np.linspace(-1, 1.5, math.prod(shape), dtype=np.float32).reshape(shape) for shape in shapes]
    return [mini.ops.from_numpy(array) for array in arrays]


def judge_values(mini: Any, program: Callable[..., Any], shapes: Shapes, why: str) -> Any:
    """The compiled program, called, against the eager one."""
    inputs = tensors(mini, shapes)
    compiled = mini.program.Program(mini.graph.trace(program, *[mini.tensor.fake(shape) for shape in shapes]))
    expected = program(*inputs)
    try:
        (got,) = compiled(*inputs)
    except NotImplementedError:
        raise
    except Exception as error:
        raise WrongAnswer(f"{compiled.steps} raises {type(error).__name__}: {error}", why) from error
    if got.sizes != expected.sizes or not np.allclose(got.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5):
        raise WrongAnswer(f"{compiled.steps}: expected {expected}, got {got}", why)
    return compiled
