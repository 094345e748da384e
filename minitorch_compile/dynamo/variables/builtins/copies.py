"""copy.copy of containers; copy.deepcopy of what is made of constants, lists, tuples and dicts, as dataclasses.asdict.

>>> import dataclasses
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @dataclasses.dataclass
... class Config:
...     by: int
...     names: list
>>> print(captured(lambda x: x * dataclasses.asdict(Config(3, ["a"]))["by"], ones(2)))
x -> (x * 3,)
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import LITERAL_TYPES, ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


@handles(copy.copy)
def _copy(tracer: Tracer, x: Value) -> Value:
    tracked = x.realize()
    if (
        isinstance(tracked, ConstantVariable)
        and tracked.python_type() in LITERAL_TYPES
        or type(tracked) is TupleVariable
    ):
        return tracked
    if type(tracked) is ListVariable and tracked.python_type() is list:
        return tracer.build("list", list(tracked.items))
    if type(tracked) is DictVariable and tracked.python_type() is dict:
        pairs = list(tracked.entries.values())
        return tracer.build_map([key for key, _ in pairs], [value for _, value in pairs])
    raise Unsupported("unsupported-call", f"copy.copy() of {tracked.describe()}.")


@handles(copy.deepcopy)
def _deepcopy(tracer: Tracer, x: Value) -> Value:
    return _Copies(tracer).of(x)


class _Copies:
    """The copies of one call; what was one object is one object again."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.made: dict[int, Value | None] = {}  # by tracker; None while it is being copied

    def of(self, value: Value) -> Value:
        tracked = value.realize()
        if isinstance(tracked, ConstantVariable) and tracked.python_type() in LITERAL_TYPES:
            return tracked
        if id(tracked) not in self.made:
            self.made[id(tracked)] = None
            self.made[id(tracked)] = self._container(tracked)
        known = self.made[id(tracked)]
        if known is None:
            raise Unsupported("unsupported-call", "copy.deepcopy() of a container that contains itself.")
        return known

    def _container(self, tracked: VariableTracker) -> Value:
        build = self.tracer.build
        if type(tracked) is ListVariable and tracked.python_type() is list:
            return build("list", [self.of(item) for item in tracked.items])
        if type(tracked) is TupleVariable:
            copies = [self.of(item) for item in tracked.items]
            same = all(made is item.realize() for made, item in zip(copies, tracked.items))
            return tracked if same else build("tuple", copies)
        if type(tracked) is DictVariable and tracked.python_type() is dict:
            pairs = list(tracked.entries.values())
            return self.tracer.build_map([self.of(key) for key, _ in pairs], [self.of(value) for _, value in pairs])
        raise Unsupported("unsupported-call", f"copy.deepcopy() of {tracked.describe()}.")
