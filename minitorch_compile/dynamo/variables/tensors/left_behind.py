"""Tensors that live on and have a past: computed beside a `.data` that was read, in a transform, or before backward().

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda x: (x.data, x + 1), ones(2)))
(out_0,) = graph(x)
tensor_0 = x.data
return (tensor_0, out_0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.fakes.freed_history import BackwardCall, is_freed, leaves_of
from minitorch_compile.dynamo.fakes.graph_steps import confinement
from minitorch_compile.dynamo.variables.rebuilding import IT, Computed, Description, Held, Read, Template, call, commas

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
    from minitorch_compile.dynamo.variables.tracer import Output


def left_behind(tensor: TensorVariable, output: Output) -> Description:
    """How the tensor is made after the graph has run; a break if no graph can leave it behind."""
    if tensor.data_of is not None:
        return Template(tensor.data_of, ".data")
    if tensor.fake.storage in output.fakes.behind_data:
        raise Unsupported("unrebuildable-value", "a view of a tensor whose .data was read lives on.")
    reason = confinement(tensor.fake) if output.has_steps else ""
    if reason:
        raise Unsupported("unrebuildable-value", f"{reason}.")
    if output.backward_call is None or not tensor.fake.requires_grad:
        return Computed()
    return Computed(_freed(tensor, output, output.backward_call))


def _freed(tensor: TensorVariable, output: Output, backward: BackwardCall) -> Template:
    """Gives a result of the graph its freed history; one whose history lives is refused."""
    if not is_freed(tensor.fake):
        raise backward.refused("a tensor")
    leaves = [output.tensor_of(leaf) for leaf in leaves_of([tensor.fake])]
    read = [Read(leaf.source) for leaf in leaves if leaf is not None and leaf.source is not None]
    history = repr(tensor.fake.grad_fn.name()), repr(tensor.fake.output_index)
    function = Held(backward.with_freed_history, "with_freed_history")
    return call(function, IT, *history, Template("(", commas(read), ",)"))
