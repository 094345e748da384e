"""Rules for functions of this package that are not operations: grad modes, torch.tensor, what steers the compiler.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones, tensor
>>> print(captured(lambda x: x + tensor([1, 2]), ones(2)))
x -> (x + tensor([1, 2]),)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.control import cudagraph_mark_step_begin, graph_break, is_compiling, is_exporting
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.tensors.arrays import ArrayVariable, tensor_of, tensor_sharing
from minitorch_compile.dynamo.variables.tensors.grad_mode import GradModeVariable
from minitorch_compile.dynamo.variables.tensors.graph_arrays import GraphArrayVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.tensor import (
    as_tensor,
    enable_grad,
    grad_mode,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    tensor,
)
from minitorch_compile.tensor import (
    device as Device,
)

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


@handles(is_exporting)
def _is_exporting(tracer: Tracer) -> Value:
    return ConstantVariable(False)


@handles(cudagraph_mark_step_begin)
def _cudagraph_mark_step_begin(tracer: Tracer) -> Value:
    return ConstantVariable(None)


@handles(is_compiling)
def _is_compiling(tracer: Tracer) -> Value:
    return ConstantVariable(True)


@handles(Device)
def _device(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
    known = {name: tracer.constant(arg) for name, arg in kwargs.items()}
    return ConstantVariable(tracer.compute(Device, *(tracer.constant(arg) for arg in args), **known))


@handles(graph_break)
def _graph_break(tracer: Tracer, reason: Value = ConstantVariable("")) -> Value:
    said = tracer.constant(reason)
    raise Unsupported("explicit-break", f"graph_break() was called{': ' + said if said else '.'}")


@handles(is_grad_enabled)
def _is_grad_enabled(tracer: Tracer) -> Value:
    return ConstantVariable(grad_mode.state.enabled)


def _grad_mode(tracer: Tracer, cls: type, mode: bool, function: tuple[Value, ...]) -> Value:
    manager = GradModeVariable.new(cls, mode)
    return manager.call(tracer, list(function), {}) if function else manager


@handles(no_grad)
def _no_grad(tracer: Tracer, *function: Value) -> Value:
    return _grad_mode(tracer, no_grad, False, function)


@handles(enable_grad)
def _enable_grad(tracer: Tracer, *function: Value) -> Value:
    return _grad_mode(tracer, enable_grad, True, function)


@handles(inference_mode)
def _inference_mode(tracer: Tracer, mode: Value = ConstantVariable(True)) -> Value:
    """As no_grad: what a graph gives is not marked as an inference tensor, whatever the mode."""
    is_flag = isinstance(mode, ConstantVariable)
    if is_flag and not tracer.truth(mode):
        return GradModeVariable.new(enable_grad, True)
    return _grad_mode(tracer, no_grad, False, () if is_flag else (mode,))


@handles(set_grad_enabled)
def _set_grad_enabled(tracer: Tracer, mode: Value) -> Value:
    """It switches at once; used in `with`, what was before returns at the end."""
    manager = GradModeVariable.new(set_grad_enabled, tracer.truth(mode), before=grad_mode.state.enabled)
    tracer.output.switch_grad_mode(manager.mode)
    return manager


@handles(tensor)
def make_tensor(
    tracer: Tracer,
    data: Value,
    dtype: Value | None = None,
    *,
    device: Value | None = None,
    requires_grad: Value = ConstantVariable(False),
) -> Value:
    """A constant of the graph, made anew at each call, in main memory, from where it goes to its device."""
    if tracer.truth(requires_grad):
        raise Unsupported("autograd-call", "tensor(requires_grad=True) makes a leaf, which a graph can't give.")
    if device is not None and not tracer.is_none(device):
        return make_tensor(tracer, data, dtype).realize().call_method(tracer, "to", [device], {})
    tracked = data.realize()
    if isinstance(tracked, GraphArrayVariable):
        tracked = tracked.tensor
    if isinstance(tracked, ArrayVariable):
        return tensor_of(tracer, tracked, dtype)
    options = {} if dtype is None else {"dtype": dtype}
    if isinstance(tracked, TensorVariable):
        copy = tracked.call_method(tracer, "clone", [], {}).realize().call_method(tracer, "detach", [], {})
        return copy if dtype is None else copy.realize().call_method(tracer, "to", [dtype], {})
    return tracer.output.call("call_function", tensor, [data], options)


@handles(as_tensor)
def _as_tensor(tracer: Tracer, data: Value, dtype: Value | None = None, device: Value | None = None) -> Value:
    """A tensor stays itself, in the dtype and on the device asked for."""
    if device is not None and not tracer.is_none(device):
        return _as_tensor(tracer, data, dtype).realize().call_method(tracer, "to", [device], {})
    tracked = data.realize()
    if isinstance(tracked, GraphArrayVariable):
        tracked = tracked.tensor.call_method(tracer, "detach", [], {}).realize()
    if isinstance(tracked, ArrayVariable):
        return tensor_sharing(tracer, tracked, dtype)
    if isinstance(tracked, TensorVariable):
        return tracked if dtype is None else tracked.call_method(tracer, "to", [dtype], {})
    return make_tensor(tracer, data, dtype)
