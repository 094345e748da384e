"""What stands in annotations and is no class: `typing.Optional`, `List[int]`, `int | None`.

An inner function has its annotations worked out whenever it is made. They are constants, and so is what [] and | make
of them.

>>> from typing import List, Optional
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import Tensor, ones
>>> def f(x):
...     def shifted(by: Optional[float] = None, rows: List[Tensor] | None = None) -> Tensor:
...         return x if by is None else x + by
...     return shifted(2.0)
>>> print(captured(f, ones(2)))
x -> (x + 2.0,)
"""

from __future__ import annotations

import operator
import types
import typing
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.execution.concrete import COMPARE
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.objects.opaque import OpaqueVariable

if TYPE_CHECKING:
    from collections.abc import Hashable

    from minitorch_compile.dynamo.variables.tracer import Tracer

BY_NAME = [getattr(typing, name) for name in ("List", "Tuple", "Optional", "Callable", "Literal")]
FORMS: tuple[type, ...] = (
    *{type(form) for form in BY_NAME},
    *{type(form[int]) for form in BY_NAME if form is not typing.Callable},
    *(type(typing.Callable[[int], int]), type(typing.Annotated[int, 1]), types.GenericAlias, types.UnionType),
    *(typing.TypeVar, typing.ForwardRef),
)


class TypeFormVariable(OpaqueVariable):
    """One of `FORMS`. Its identity is guarded."""

    def is_constant(self) -> bool:
        return True

    def as_constant(self) -> Any:
        return self.real

    def hash_key(self, tracer: Tracer) -> Hashable:
        return ("value", self.real)

    def truth(self, tracer: Tracer) -> bool:
        return True

    def compare(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        if op not in ("==", "!=") or not other.is_constant():
            return None
        return tracer.output.from_python(tracer.compute(COMPARE[op], self.real, other.as_constant()))

    def binary(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return union(tracer, self.real, other.as_constant()) if op == "|" and other.is_constant() else None

    def reflected(self, tracer: Tracer, op: str, other: VariableTracker) -> Value | None:
        return union(tracer, other.as_constant(), self.real) if op == "|" and other.is_constant() else None

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name in ("__args__", "__origin__", "__name__"):
            return tracer.output.from_python(tracer.compute(getattr, self.real, name))
        return super().getattr(tracer, name)

    def call(self, tracer: Tracer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """An object of a generic class knows what it was made as."""
        origin = typing.get_origin(self.real)
        if not isinstance(origin, type):
            return super().call(tracer, args, kwargs)
        made = tracer.call(tracer.output.from_python(origin), args, kwargs)
        if made.realize().python_type().__dictoffset__:
            tracer.store_attr(made, "__orig_class__", self)
        return made

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name == "__getitem__":
            return subscripted(tracer, self.real, args[0])
        return super().call_method(tracer, name, args, kwargs)


def subscripted(tracer: Tracer, form: Any, key: Value) -> Value:
    """form[key]; `Callable[[int], float]` has a list in it, which is new each time."""
    return tracer.output.from_python(tracer.compute(operator.getitem, form, _written(tracer, key)))


def _written(tracer: Tracer, key: Value) -> Any:
    tracked = key.realize()
    if type(tracked) in (ListVariable, TupleVariable):
        return tracked.cls(_written(tracer, item) for item in tracked.items)  # type: ignore[attr-defined]
    return tracer.constant(tracked)


def union(tracer: Tracer, one: Any, other: Any) -> Value:
    """one | other, of types."""
    return tracer.output.from_python(tracer.compute(operator.or_, one, other))
