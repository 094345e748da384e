"""Rules for functions of this package that ask about tensors and dtypes; they leave nothing in the graph.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile import finfo, numel, ones
>>> print(captured(lambda x: x.clamp(min=finfo(x.dtype).eps) * numel(x), ones(2)))
x -> (x.clamp(min=1.1920928955078125e-07) * 2,)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.fx.tracer import is_fx_symbolic_tracing
from minitorch_compile.overrides import is_tensor_like
from minitorch_compile.tensor import get_default_dtype, promote_types
from minitorch_compile.tensor.functions import predicates as inquiries
from minitorch_compile.tensor.memory.strides import broadcast_sizes
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


def _asked_of_the_fake(function: Callable[..., Any]) -> Callable[..., Value]:
    """The answer is the same for a tensor without data."""
    return lambda tracer, *args, **kwargs: tracer.output.call("call_function", function, list(args), kwargs)


for _function in (
    inquiries.numel,
    inquiries.is_floating_point,
    inquiries.is_complex,
    inquiries.is_signed,
    inquiries.is_same_size,
    inquiries.result_type,
    broadcast_sizes,
):
    handles(_function)(_asked_of_the_fake(_function))


@handles(inquiries.is_tensor)
def _is_tensor(tracer: Tracer, obj: Value) -> Value:
    return ConstantVariable(issubclass(obj.realize().python_type(), TensorBase))


@handles(is_tensor_like)
def _is_tensor_like(tracer: Tracer, inp: Value) -> Value:
    return tracer.call(tracer.output.from_python(hasattr), [inp, ConstantVariable("__torch_function__")], {})


@handles(is_fx_symbolic_tracing)
def _is_fx_symbolic_tracing(tracer: Tracer) -> Value:
    """A function that is traced by fx is called as it is, so a graph is never asked this while fx traces."""
    return ConstantVariable(False)


@handles(get_default_dtype)
def _get_default_dtype(tracer: Tracer) -> Value:
    return ConstantVariable(get_default_dtype())


@handles(promote_types)
def _promote_types(tracer: Tracer, a: Value, b: Value) -> Value:
    return ConstantVariable(tracer.compute(promote_types, tracer.constant(a), tracer.constant(b)))


@handles(finfo)
def _finfo(tracer: Tracer, dtype: Value | None = None) -> Value:
    element = get_default_dtype() if dtype is None else tracer.constant(dtype)
    return ConstantVariable(tracer.compute(finfo, element))


@handles(iinfo)
def _iinfo(tracer: Tracer, dtype: Value) -> Value:
    return ConstantVariable(tracer.compute(iinfo, tracer.constant(dtype)))
