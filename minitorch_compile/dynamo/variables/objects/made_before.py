"""made_before(make, ...): what the first call of a function would make is made before it is traced.

>>> from minitorch_compile import optim
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.tensor import tensor
>>> w = tensor([1.0], requires_grad=True)
>>> w.grad = tensor([2.0])
>>> counter = CompileCounter()
>>> step = optimize(optim.Adam([w], lr=0.5).step, counter)
>>> step(), step(), counter.frame_count
(None, None, 1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from minitorch_compile.control import made_before
from minitorch_compile.dynamo.errors import StartAgain
from minitorch_compile.dynamo.variables.base import MISSING, Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


@handles(made_before)
def _made_before(tracer: Tracer, make: Value, *arguments: Value) -> Value:
    """`make` is a method of an object from outside; a list among the arguments may have been made while tracing."""
    owner = make.realize().getattr(tracer, "__self__")
    found = [_real(x) for x in (owner, *arguments)]
    name = make.realize().getattr(tracer, "__name__").realize().as_constant()
    if not any(x is MISSING for x in found) and getattr(found[0], name)(*found[1:]):
        raise StartAgain
    return tracer.output.from_python(None)


def _real(value: Value) -> object:
    """What a tracker stands for; MISSING if it, or something in the list that it is, was made while tracing."""
    tracked = value.realize()
    if isinstance(tracked, SequenceVariable):
        items = [_real(item) for item in tracked.items]
        return MISSING if any(item is MISSING for item in items) else items
    return tracked.real_value()
