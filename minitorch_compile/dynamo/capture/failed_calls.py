"""A call fails on fake tensors: because it needs data, because nothing tells its shape, or as it would in the program.

>>> from minitorch_compile.dynamo.explaining.explain import explain
>>> from minitorch_compile.tensor import ones
>>> print(explain(lambda x: x[x > 0])(ones(2)).break_reasons[0].reason)
getitem needs the tensor's data, which does not exist while tracing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.symbolic import GuardOnDataDependentSymNode
from minitorch_compile.tensor import FakeDataError
from minitorch_compile.tensor.memory.storage import Storage
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph


def raise_failure(output: OutputGraph, name: str, error: Exception, arguments: Any) -> NoReturn:
    """A break, or the exception in the program."""
    if isinstance(error, GuardOnDataDependentSymNode):
        raise error
    if isinstance(error, FakeDataError):
        reason = "data-dependent-shape" if "size" in str(error) else "data-dependent-value"
        raise Unsupported(reason, f"{name} needs the tensor's data, which does not exist while tracing.") from error
    if isinstance(error, NotImplementedError):
        raise Unsupported("missing-rule", f"{name}: {error}") from error
    _refuse_views(output, arguments)
    output.tracer.raise_real(error)


def _refuse_views(output: OutputGraph, arguments: Any) -> None:
    """The fake of an input is no view. Autograd refuses a write to one in other words, so the real one is asked."""
    storages: set[Storage] = set()
    map_aggregate(arguments, lambda x: storages.add(x.storage) if isinstance(x, TensorBase) else None)
    for variable in output.inputs:
        if variable.fake.storage in storages and variable.fake.requires_grad and variable.real.base is not None:
            raise Unsupported("aliased-inputs-mutated", "a view that requires grad, and is used where that fails.")
