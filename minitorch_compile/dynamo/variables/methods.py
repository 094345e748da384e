"""A method of a built-in class bound to its object: `items.append`, `text.split`, `x.sum`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     add = [].append
...     shift = x.add
...     return shift(1), add.__name__
>>> print(captured(f, ones(2)))
x -> (x.add(1),)
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.variables.base import Value, VariableTracker

if TYPE_CHECKING:
    from minitorch_compile.dynamo.codegen import Codegen
    from minitorch_compile.dynamo.tracer import Tracer


class BuiltinMethodVariable(VariableTracker):
    """`owner.name`, to be called: the owner knows its methods."""

    def __init__(self, owner: VariableTracker, name: str) -> None:
        super().__init__()
        self.owner = owner
        self.name = name

    def describe(self) -> str:
        return f"the method {self.name}() of {self.owner.describe()}"

    def python_type(self) -> type:
        return type(getattr(self.owner.python_type(), self.name)) if self.owner.is_constant() else type([].append)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return self.owner.call_method(tracer, self.name, args, kwargs)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "__self__":
            return self.owner
        if name == "__name__":
            return tracer.output.from_python(self.name)
        return super().getattr(tracer, name)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("method", self.name, self.owner.hash_key(tracer))

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!=") or not isinstance(other, BuiltinMethodVariable):
            return None
        same = other.owner is self.owner and other.name == self.name
        return tracer.output.from_python(same == (op == "=="))

    def reconstruct(self, codegen: Codegen) -> str:
        owner = codegen.value(self.owner)
        return f"({owner}).{self.name}" if self.owner.is_constant() else f"{owner}.{self.name}"
