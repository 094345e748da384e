"""Classes that the traced program makes: collections.namedtuple called inside.

Python makes a new class at each call, and so does the generated code.

>>> import collections
>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     Pair = collections.namedtuple("Pair", ["a", "b"], module="here")
...     return Pair(x, 2)
>>> print(generated(f, ones(2)))
type_0 = namedtuple('Pair', ['a', 'b'], module='here')
return type_0(x, 2)
"""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class MadeNamedTupleClass(ClassVariable):
    """What collections.namedtuple gives; `arguments` is the text of its arguments."""

    def __init__(self, cls: type, arguments: str) -> None:
        super().__init__(cls)
        self.arguments = arguments

    def is_constant(self) -> bool:
        return False

    def reconstruct(self, output: Output) -> Template:
        return call(Held(collections.namedtuple, "namedtuple"), self.arguments)


@handles(collections.namedtuple)
def _namedtuple(tracer: Tracer, typename: Value, field_names: Value, **options: Value) -> Value:
    module = ConstantVariable(tracer.output.tracer.scope.real.get("__name__"))
    named = {name: tracer.constant(value) for name, value in {"module": module, **options}.items()}
    title, names = tracer.constant(typename), field_names.realize()
    fields = (
        names.as_constant() if names.is_constant() else [tracer.constant(name) for name in tracer.unpack_all(names)]
    )
    cls = tracer.compute(collections.namedtuple, title, fields, **named)
    texts = [repr(title), repr(fields), *(f"{name}={value!r}" for name, value in named.items())]
    made = MadeNamedTupleClass(cls, ", ".join(texts))
    tracer.output.made_classes[cls] = made
    return made
