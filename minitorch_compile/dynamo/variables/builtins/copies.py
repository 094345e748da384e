"""copy.copy of containers; copy.deepcopy of what is made of constants, lists, tuples, dicts and plain objects.

>>> import dataclasses
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> @dataclasses.dataclass
... class Config:
...     by: int
...     names: list
>>> print(captured(lambda x: x * dataclasses.asdict(Config(3, ["a"]))["by"], ones(2)))
x -> (x * 3,)
>>> print(captured(lambda x, config: x * copy.deepcopy(config).by, ones(2), Config(3, ["a"])))
x -> (x * 3,)
"""

from __future__ import annotations

import copy
import copyreg
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import LITERAL_TYPES, ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import TupleVariable
from minitorch_compile.dynamo.variables.functions.functions import UserFunctionVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up
from minitorch_compile.dynamo.variables.objects.classes import ClassVariable
from minitorch_compile.dynamo.variables.objects.instance_dict import InstanceDictVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


# Methods by which a class says how its objects are copied, and classes for which another module says it.
HOW_TO_COPY = ("__deepcopy__", "__reduce_ex__", "__reduce__", "__getstate__", "__setstate__", "__new__")
copiers = copyreg.dispatch_table


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
        if isinstance(tracked, ConstantVariable) and copy.deepcopy(tracked.value) is tracked.value:
            return tracked
        if isinstance(tracked, (UserFunctionVariable, ClassVariable)):
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
        if isinstance(tracked, InstanceDictVariable):
            tracked = tracked.as_dict(self.tracer)
        if type(tracked) is ListVariable and tracked.python_type() is list:
            return build("list", [self.of(item) for item in tracked.items])
        if type(tracked) is TupleVariable:
            copies = [self.of(item) for item in tracked.items]
            same = all(made is item.realize() for made, item in zip(copies, tracked.items))
            return tracked if same else build("tuple", copies)
        if type(tracked) is DictVariable and tracked.python_type() is dict:
            pairs = list(tracked.entries.values())
            return self.tracer.build_map([self.of(key) for key, _ in pairs], [self.of(value) for _, value in pairs])
        if type(tracked) is UserObjectVariable and _is_plain(tracked.cls):
            return self._object(tracked)
        raise Unsupported("unsupported-call", f"copy.deepcopy() of {tracked.describe()}.")

    def _object(self, tracked: UserObjectVariable) -> Value:
        """A new object with copies of the attributes, as object.__reduce_ex__ tells the copy module to make it."""
        made = UserObjectVariable(tracked.cls)
        effects = self.tracer.side_effects
        for name, value in {**tracked.base_attributes(self.tracer), **effects.attributes(tracked)}.items():
            effects.store_attribute(made, name, self.of(value))
        return made


def _is_plain(cls: type) -> bool:
    """Whether a class leaves it to `object` how its objects are copied, and these are nothing but their attributes."""
    found = [look_up(cls, name) for name in HOW_TO_COPY]
    has_slots = any("__slots__" in base.__dict__ for base in cls.__mro__)
    return all(method is None or method.owner is object for method in found) and not has_slots and cls not in copiers
