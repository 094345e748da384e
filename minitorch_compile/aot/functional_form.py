"""The functional form of a program, in one line: for looking at.

>>> from minitorch_compile.tensor import tensor
>>> print(trace_functionally(lambda x: x.exp().add_(1), tensor([1.0, 2.0])))
x -> add(exp(x), 1)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minitorch_compile.aot.functionalize import Functionalize
from minitorch_compile.aot.tracing import Tracer
from minitorch_compile.tensor.dispatch import dispatch
from minitorch_compile.tensor.tensor_base import TensorBase, fake_like


def trace_functionally(program: Callable[[Any], Any], x: TensorBase) -> str:
    """What is left of a program of one tensor when its writes have become new values."""
    tracer, functional = Tracer(), Functionalize()
    argument = functional.bind(fake_like(x), tracer.placeholder("x", x))
    with dispatch.mode(tracer):
        with dispatch.mode(functional):
            result = program(argument)
        value = functional.value_of(result)
    return tracer.finish(value).graph.compact()
