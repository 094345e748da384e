"""id(value): which object it is, as a number that differs from one run to the next.

Two ids are compared as `is` compares their objects. Where the number itself is asked for, as a key among others, the
object must come from outside, and is guarded to be that very one.

>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def f(x, y):
...     return x + 1 if id(x) == id(y) else x + y
>>> x, same = ones(1), optimize(f, eager, fullgraph=True)
>>> same(x, x), same(x, ones(1) * 5)
(tensor([2.]), tensor([6.]))
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import ConstantSource
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.enum_members import MemberVariable
from minitorch_compile.dynamo.variables.rebuilding import Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class IdVariable(VariableTracker):
    """The id of an object, a number that nobody looked at yet."""

    def __init__(self, output: Output, owner: VariableTracker) -> None:
        super().__init__()
        self.output = output
        self.owner = owner
        self.is_made = owner.source is None or owner.real_value() is MISSING

    def python_type(self) -> type:
        return int

    def describe(self) -> str:
        return f"the id of {self.owner.describe()}"

    def truth(self, tracer: Tracer) -> bool:
        return True

    def real_value(self) -> Any:
        """The number, as a key of a dict from outside; the object is guarded to be this one."""
        return MISSING if self.is_made else self.number()

    def number(self) -> int:
        real, source = self.owner.real_value(), self.owner.source
        if self.is_made or source is None:
            raise Unsupported("outside-state", f"{self.describe()} that was made while tracing is not known yet.")
        if not isinstance(source, ConstantSource):
            self.output.guards.add(guards.identity(source, real, self.output.names, "object"))
        return id(real)

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("id", id(self.owner)) if self.is_made else ("value", self.number())

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!="):
            self.unsupported(f"the comparison {op}", "outside-state")
        if isinstance(other, IdVariable):
            same = tracer.identical(self.owner, other.owner)
        elif isinstance(other, ConstantVariable):
            same = self.number() == other.as_constant()
        else:
            return None
        return ConstantVariable(same == (op == "=="))

    def reconstruct(self, output: Output) -> Template:
        return call("id", self.owner)


@handles(id)
def _id(tracer: Tracer, value: Value) -> Value:
    tracked = value.realize()
    if isinstance(tracked, MemberVariable):
        return ConstantVariable(id(tracked.as_constant()))
    if isinstance(tracked, ConstantVariable):
        raise Unsupported("outside-state", "which object a number or a text is depends on the interpreter.")
    if isinstance(tracked.source, ConstantSource) and tracked.real_value() is not MISSING:
        return ConstantVariable(id(tracked.real_value()))
    return IdVariable(tracer.output, tracked)
