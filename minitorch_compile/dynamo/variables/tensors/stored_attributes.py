"""What programs keep on a tensor: its gradient, and attributes of their own.

A store of a gradient is noted and done again after the graph has run. All other stores would change what the graph was
traced with.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     x.grad = x * 2
>>> print(generated(f, ones(2)))
(out_0,) = graph(x)
x.grad = out_0
return None
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards.content_guards import attribute_absent
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up
from minitorch_compile.tensor.tensor_base import kept_by

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tracer import Tracer


def hung_on(tracer: Tracer, tensor: TensorVariable, name: str) -> Value:
    """An attribute that no class of tensors knows: read from the tensor itself, or guarded to be missing."""
    if tensor.source is not None:
        if name in kept_by(tensor.real):
            source = AttrSource(tensor.source, name)
            tracer.output.guards.must_read(source)
            return tracer.output.wrap(kept_by(tensor.real)[name], source)
        tracer.output.guards.add(attribute_absent(tensor.source, name))
    tracer.raise_error(AttributeError, f"'{tensor.cls.__name__}' object has no attribute '{name}'")


def store_attribute(tracer: Tracer, tensor: TensorVariable, name: str, value: Value) -> None:
    """`tensor.name = value`, where that is followed."""
    known = look_up(tensor.cls, name) is not None or name in kept_by(tensor.fake)
    if name != "grad" and known:
        raise Unsupported("unsupported-store", f"setting .{name} of a tensor changes what the graph was traced with.")
    if tensor.source is None:
        raise Unsupported("unsupported-store", f"setting .{name} of a tensor that the graph computes.")
    if name == "grad" and not tracer.is_none(value) and not _can_be_gradient(value.realize(), tensor):
        raise Unsupported("unsupported-store", f"{value.realize().describe()} can't be the gradient of this tensor.")
    if name == "grad" and tracer.is_none(value) and tracer.side_effects.attribute(tensor, name) is None:
        tracer.output.gradient_dropped(tensor)
    tracer.side_effects.store_attribute(tensor, name, value)


def _can_be_gradient(value: VariableTracker, tensor: TensorVariable) -> bool:
    """Whether the store succeeds; the real one tells best why not, at once and not at the end of the graph."""
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable

    return (
        isinstance(value, TensorVariable)
        and value is not tensor
        and tuple(value.fake.sizes) == tuple(tensor.fake.sizes)
        and value.fake.dtype is tensor.fake.dtype
        and value.fake.device == tensor.fake.device
    )
