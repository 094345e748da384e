"""Instructions that build and take apart: tuples, lists, sets, dicts and slices, unpacking, and the text of f-strings.

>>> from minitorch_compile.dynamo.execution.concrete import interpret
>>> def swapped(pair):
...     first, *rest = pair
...     return [*rest, first, f"{first!r:>4}"]
>>> interpret(swapped, (1, 2, 3))
[2, 3, 1, '   1']
"""

from __future__ import annotations

from collections.abc import Sequence

from minitorch_compile.dynamo.bytecode.instructions import NULL, Instruction
from minitorch_compile.dynamo.execution.frame import InterpretedFrame
from minitorch_compile.dynamo.execution.hooks import Value


class BuildingInstructions(InterpretedFrame):
    """The handlers, and the hooks that they ask."""

    # --- the questions ------------------------------------------------------------------------------------------------

    def build(self, kind: str, items: list[Value]) -> Value:
        """kind: 'tuple', 'list', 'set', 'slice'."""
        self.unsupported(f"build {kind}")

    def build_map(self, keys: list[Value], values: list[Value]) -> Value:
        self.unsupported("build_map")

    def build_string(self, parts: list[Value]) -> Value:
        self.unsupported("build_string")

    def list_append(self, target: Value, item: Value) -> None:
        self.unsupported("list_append")

    def list_extend(self, target: Value, iterable: Value) -> None:
        self.unsupported("list_extend")

    def list_to_tuple(self, target: Value) -> Value:
        self.unsupported("list_to_tuple")

    def set_add(self, target: Value, item: Value) -> None:
        self.unsupported("set_add")

    def set_update(self, target: Value, iterable: Value) -> None:
        self.unsupported("set_update")

    def map_add(self, target: Value, key: Value, value: Value) -> None:
        self.unsupported("map_add")

    def dict_update(self, target: Value, mapping: Value) -> None:
        """`{**mapping}`: later keys win."""
        self.unsupported("dict_update")

    def dict_merge(self, target: Value, mapping: Value, function: Value) -> None:
        """`function(**target, **mapping)`: a repeated key is a TypeError that names the function."""
        self.unsupported("dict_merge")

    def unpack(self, iterable: Value, count: int) -> Sequence[Value]:
        """Exactly count items, in order, else ValueError."""
        self.unsupported("unpack")

    def unpack_ex(self, iterable: Value, before: int, after: int) -> Sequence[Value]:
        """before items, then one list of what is between, then after items, in order."""
        self.unsupported("unpack_ex")

    def convert_value(self, value: Value, conversion: str) -> Value:
        """The !s, !r, !a of an f-string; conversion: 'str', 'repr', 'ascii'."""
        self.unsupported("convert_value")

    def format_value(self, value: Value, spec: Value) -> Value:
        """format(value, spec); spec is NULL when the f-string has none."""
        self.unsupported("format_value")

    # --- the instructions ---------------------------------------------------------------------------------------------

    def BUILD_TUPLE(self, inst: Instruction) -> None:
        self.push(self.build("tuple", self.popn(inst.argval)))

    def BUILD_LIST(self, inst: Instruction) -> None:
        self.push(self.build("list", self.popn(inst.argval)))

    def BUILD_SET(self, inst: Instruction) -> None:
        self.push(self.build("set", self.popn(inst.argval)))

    def BUILD_SLICE(self, inst: Instruction) -> None:
        self.push(self.build("slice", self.popn(inst.argval)))

    def BUILD_MAP(self, inst: Instruction) -> None:
        items = self.popn(2 * inst.argval)
        self.push(self.build_map(items[::2], items[1::2]))

    def BUILD_CONST_KEY_MAP(self, inst: Instruction) -> None:
        keys = [self.load_const(key) for key in inst.argval]
        self.push(self.build_map(keys, self.popn(len(keys))))

    def BUILD_STRING(self, inst: Instruction) -> None:
        self.push(self.build_string(self.popn(inst.argval)))

    def LIST_APPEND(self, inst: Instruction) -> None:
        item = self.pop()
        self.list_append(self.stack[-inst.argval], item)

    def LIST_EXTEND(self, inst: Instruction) -> None:
        iterable = self.pop()
        self.list_extend(self.stack[-inst.argval], iterable)

    def LIST_TO_TUPLE(self, inst: Instruction) -> None:
        self.push(self.list_to_tuple(self.pop()))

    def SET_ADD(self, inst: Instruction) -> None:
        item = self.pop()
        self.set_add(self.stack[-inst.argval], item)

    def SET_UPDATE(self, inst: Instruction) -> None:
        iterable = self.pop()
        self.set_update(self.stack[-inst.argval], iterable)

    def MAP_ADD(self, inst: Instruction) -> None:
        key, value = self.popn(2)
        self.map_add(self.stack[-inst.argval], key, value)

    def DICT_UPDATE(self, inst: Instruction) -> None:
        mapping = self.pop()
        self.dict_update(self.stack[-inst.argval], mapping)

    def DICT_MERGE(self, inst: Instruction) -> None:
        mapping = self.pop()
        pair = self.stack[
            -inst.argval - 3 : -inst.argval - 1
        ]  # below the dict: the positional arguments, then the pair
        function = next(half for half in pair if half is not NULL)
        self.dict_merge(self.stack[-inst.argval], mapping, function)

    def UNPACK_SEQUENCE(self, inst: Instruction) -> None:
        self.stack.extend(reversed(self.unpack(self.pop(), inst.argval)))

    def UNPACK_EX(self, inst: Instruction) -> None:
        self.stack.extend(reversed(self.unpack_ex(self.pop(), *inst.argval)))

    def CONVERT_VALUE(self, inst: Instruction) -> None:
        self.push(self.convert_value(self.pop(), inst.argval))

    def FORMAT_VALUE(self, inst: Instruction) -> None:
        spec = self.pop() if inst.argval else NULL
        self.push(self.format_value(self.pop(), spec))
