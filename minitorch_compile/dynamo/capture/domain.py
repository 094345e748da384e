"""The domain of the symbolic interpreter: building and taking apart, iteration, calls, match, on trackers.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     first, *rest = [x, *(x * k for k in (2, 3))]
...     match rest:
...         case [a, b]:
...             return first + a + b
>>> print(captured(f, ones(2)))
x -> ((x + (x * 2)) + (x * 3),)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.capture.operators import OperatorHooks
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.execution import matching
from minitorch_compile.dynamo.variables.base import ObservedException, Value
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import SliceVariable, TupleVariable
from minitorch_compile.dynamo.variables.containers.sets import SetVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import look_up, printed_name
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.tensors.numbers import joined, open_text


class SymbolicDomain(OperatorHooks):
    """The hooks of `hooks.py` that need no frame. `SymbolicInterpreter` adds those that do."""

    # --- building and taking apart ------------------------------------------------------------------------------------

    def build(self, kind: str, items: list[Value]) -> Any:
        if kind == "tuple":
            return TupleVariable(items)
        if kind == "list":
            return ListVariable(items)
        if kind == "set":
            return SetVariable.of(self, items)
        return SliceVariable(*[*items, ConstantVariable(None)][:3])

    def build_map(self, keys: list[Value], values: list[Value]) -> Any:
        made = DictVariable()
        for key, value in zip(keys, values):
            made.store(self, key, value)
        return made

    def build_string(self, parts: list[Value]) -> Value:
        text = joined(parts)
        return ConstantVariable("".join(self.constant(part) for part in parts)) if text is None else text

    def list_append(self, target: Value, item: Value) -> None:
        target.realize().call_method(self, "append", [item], {})

    def list_extend(self, target: Value, iterable: Value) -> None:
        if not self.is_iterable(iterable):
            self._not_unpacked(iterable)
        target.realize().call_method(self, "extend", [iterable], {})

    def list_to_tuple(self, target: Value) -> Value:
        return TupleVariable(self.unpack_all(target))

    def set_add(self, target: Value, item: Value) -> None:
        target.realize().call_method(self, "add", [item], {})

    def set_update(self, target: Value, iterable: Value) -> None:
        target.realize().call_method(self, "update", [iterable], {})

    def map_add(self, target: Value, key: Value, value: Value) -> None:
        self.setitem(target, key, value)

    def dict_update(self, target: Value, mapping: Value) -> None:
        self._check_mapping(mapping)
        for key, value in self.mapping_items(mapping):
            self.setitem(target, key, value)

    def dict_merge(self, target: Value, mapping: Value, function: Value) -> None:
        self._check_mapping(mapping)
        for key, value in self.mapping_items(mapping):
            if self.truth(self.contains(key, target)):
                raise Unsupported("raised-exception", f"a keyword argument is given twice: {key.realize().describe()}.")
            self.setitem(target, key, value)

    def unpack(self, iterable: Value, count: int) -> Sequence[Value]:
        self._check_iterable(iterable)
        items: list[Value] = []
        iterator = self.as_iterator(iterable)
        while len(items) <= count and (item := iterator.next_value(self)) is not None:
            items.append(item)
        if len(items) < count:
            self.raise_error(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
        if len(items) > count:
            self.raise_error(ValueError, f"too many values to unpack (expected {count})")
        return items

    def unpack_ex(self, iterable: Value, before: int, after: int) -> Sequence[Value]:
        self._check_iterable(iterable)
        items = self.unpack_all(iterable)
        if len(items) < before + after:
            self.raise_error(
                ValueError, f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            )
        end = len(items) - after
        return [*items[:before], ListVariable(items[before:end]), *items[end:]]

    def _check_iterable(self, value: Value) -> None:
        if not self.is_iterable(value):
            name = printed_name(value.realize().python_type())
            self.raise_error(TypeError, f"cannot unpack non-iterable {name} object")

    def to_text(self, value: Value, conversion: str) -> str:
        return value.realize().to_text(self, conversion)

    def convert_value(self, value: Value, conversion: str) -> Value:
        text = open_text(value, conversion=conversion)
        return ConstantVariable(self.to_text(value, conversion)) if text is None else text

    def format_value(self, value: Value, spec: Value) -> Value:
        wanted = "" if spec is NULL else self.constant(spec)
        text = open_text(value, wanted)
        return ConstantVariable(value.realize().format(self, wanted)) if text is None else text

    # --- iteration, calls, match --------------------------------------------------------------------------------------

    def get_iter(self, iterable: Value) -> Value:
        return self.as_iterator(iterable)

    def next_item(self, iterator: Value) -> tuple[bool, Value]:
        item = self.next_or_none(iterator)
        return (False, iterator) if item is None else (True, item)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return function.realize().call(self, args, kwargs)

    def call_unpacked(self, function: Value, args: Value, kwargs: Value) -> Value:
        if not self.is_iterable(args):
            self._not_unpacked(args)
        if kwargs is not NULL:
            self._check_mapping(kwargs)
        named = {} if kwargs is NULL else {self.constant(key): value for key, value in self.mapping_items(kwargs)}
        if not all(type(name) is str for name in named):
            raise Unsupported("wrong-arguments", "keywords must be strings; the real call reports it.")
        return self.call(function, self.unpack_sized(args), named)

    def _check_mapping(self, value: Value) -> None:
        if look_up(value.realize().python_type(), "keys") is None:
            self._not_unpacked(value)

    def _not_unpacked(self, value: Value) -> NoReturn:
        """After * comes an iterable, after ** a mapping; what Python says otherwise depends on where it stands."""
        described = value.realize().describe()
        raise Unsupported("wrong-arguments", f"{described} is unpacked; the real operation reports it.")

    def get_len(self, subject: Value) -> Value:
        return subject.realize().length_value(self)

    def match_mapping(self, subject: Value) -> Value:
        return ConstantVariable(bool(subject.realize().python_type().__flags__ & matching.IS_MAPPING))

    def match_sequence(self, subject: Value) -> Value:
        return ConstantVariable(bool(subject.realize().python_type().__flags__ & matching.IS_SEQUENCE))

    def match_class(self, subject: Value, cls: Value, positional: int, names: Value) -> Value:
        wanted = cls.realize().real_value()
        if not isinstance(wanted, type):
            raise Unsupported("unsupported-syntax", "a class pattern with something that is no class.")
        is_instance = self.output.wrap_constant(isinstance, "isinstance")
        if not self.truth(self.call(is_instance, [subject, cls], {})):
            return ConstantVariable(None)
        attributes = [self.constant(name) for name in self.unpack_all(names)]
        found: list[Value] = []
        if positional and matching.matches_itself(wanted):
            self.compute(matching.check_positional, wanted, positional, 1)
            found.append(subject)
        else:
            attributes = [*self.compute(matching.positional_names, wanted, positional), *attributes]
        self.compute(matching.check_different, wanted, tuple(attributes))
        for name in attributes:
            try:
                found.append(self.load_attr(subject, name))
            except ObservedException as error:
                if not issubclass(error.value.python_type(), AttributeError):
                    raise
                return ConstantVariable(None)
        return TupleVariable(found)

    def match_keys(self, subject: Value, keys: Value) -> Value:
        found: list[Value] = []
        nothing = UserObjectVariable(object)
        get = self.load_attr(subject, "get")  # not __getitem__: a defaultdict would make the missing
        for key in (wanted := self.unpack_all(keys)):
            if any(self.same_or_equal(known, key) for known in wanted[: len(found)]):
                shown = key.realize().to_text(self, "repr")
                self.raise_error(ValueError, f"mapping pattern checks duplicate key ({shown})")
            value = self.call(get, [key, nothing], {})
            if self.identical(value, nothing):
                return ConstantVariable(None)
            found.append(value)
        return TupleVariable(found)
