"""as_graph_input(number): a float from outside becomes an input of the graph, so that a new value is the same program.

A learning rate changes during training. As a constant of the graph, each new one would be compiled again.

>>> from minitorch_compile.control import as_graph_input
>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x, lr):
...     return x * as_graph_input(lr)
>>> print(generated(f, ones(2), 0.1))                                                     # doctest: +ELLIPSIS
(out_0,) = graph(t_..., x)
return out_0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from minitorch_compile.control import as_graph_input
from minitorch_compile.dynamo.guards.source import ChainedSource
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable
from minitorch_compile.tensor import Tensor, float64, tensor

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


@dataclass(frozen=True)
class NumberTensorSource(ChainedSource):
    """function(origin): a number as a tensor, made at each call. `function` is its name in the generated code."""

    function: str

    def read(self, base: str) -> str:
        return f"{self.function}({base})"


def _as_tensor(number: float) -> Tensor:
    """A 0-d tensor of float64, which takes part in arithmetic as a number does: it changes no dtype."""
    return tensor(number, dtype=float64)


@handles(as_graph_input)
def _as_graph_input(tracer: Tracer, number: Value) -> Value:
    tracked = number.realize()
    if not isinstance(tracked, NumberVariable) or tracked.pinned or type(tracked.seen) is not float:
        return number
    assert tracked.source is not None
    output = tracer.output
    source = NumberTensorSource(tracked.source, output.names.install(_as_tensor, "as_tensor"))
    known = next((variable for variable in output.inputs if variable.source == source), None)
    return known or output.graph_input(_as_tensor(tracked.seen), source)
