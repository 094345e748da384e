"""types.SimpleNamespace: an object that is nothing but its attributes.

>>> from types import SimpleNamespace
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, options: x * options.by + SimpleNamespace(n=1).n, ones(2), SimpleNamespace(by=3)))
x -> ((x * 3) + 1,)
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Made, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class NamespaceVariable(UserObjectVariable):
    """A SimpleNamespace. It compares by its attributes, which is not followed."""

    def reconstruct(self, output: Output) -> Made:
        return Made("namespace", call(Held(SimpleNamespace, "SimpleNamespace")))


@handles(SimpleNamespace)
def _namespace(tracer: Tracer, **attributes: Value) -> Value:
    made = NamespaceVariable(SimpleNamespace)
    for name, value in attributes.items():
        tracer.side_effects.store_attribute(made, name, value)
    return made
