"""What an interpreter of bytecode asks about its values: the domain hooks.

`BytecodeInterpreter` moves values between stack and slots and never looks into one. Whatever needs a look is asked
here, by one method a question. Answer with plain Python objects and the program runs (`concrete.py`); answer with
symbols that record what was asked and the program is traced (`symbolic.py`).

Arguments and results called *value* belong to the domain. What the instruction itself says (names, operators, counts)
are plain Python objects. `NULL` as an argument means "not given". A hook ends the user's program abnormally by
raising; `caught` tells which host exceptions are the program's own. A hook that a domain leaves out is reported by
`unsupported`.

>>> class Numbers(DomainHooks):
...     def binary(self, op, a, b):
...         return f"({a} {op} {b})"
>>> Numbers().binary("+", "x", 1)
'(x + 1)'
>>> Numbers().get_iter("x")
Traceback (most recent call last):
    ...
minitorch_compile.dynamo.execution.hooks.UnsupportedInstruction: Numbers does not interpret get_iter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, TypeAlias

Value: TypeAlias = Any  # a value of the domain: a plain object when running, a variable tracker when tracing


class UnsupportedInstruction(NotImplementedError):
    """The domain has no answer to what the instruction asked."""


class DomainHooks:
    """One method for each question about values. The comment groups follow the table in `instructions.py`."""

    def unsupported(self, hook: str) -> NoReturn:
        """Called by every hook that the domain leaves out; a tracer breaks the graph here."""
        raise UnsupportedInstruction(f"{type(self).__name__} does not interpret {hook}.")

    # --- constants and names ------------------------------------------------------------------------------------------

    def load_const(self, value: object) -> Value:
        """A constant of the code object (also True/False/None and code objects) as a value."""
        self.unsupported("load_const")

    def load_global(self, name: str) -> Value:
        """Module global, else builtin, else NameError."""
        self.unsupported("load_global")

    def store_global(self, name: str, value: Value) -> None:
        self.unsupported("store_global")

    def delete_global(self, name: str) -> None:
        self.unsupported("delete_global")

    def load_name(self, name: str) -> Value:
        """In a class or module body: namespace, then globals, then builtins."""
        self.unsupported("load_name")

    def store_name(self, name: str, value: Value) -> None:
        self.unsupported("store_name")

    def delete_name(self, name: str) -> None:
        self.unsupported("delete_name")

    def load_namespace(self) -> Value:
        """The mapping that the class or module body is filling."""
        self.unsupported("load_namespace")

    def lookup(self, mapping: Value, name: str) -> Value:
        """mapping[name], or NULL when it has no such key."""
        self.unsupported("lookup")

    def load_build_class(self) -> Value:
        """The function builtins.__build_class__."""
        self.unsupported("load_build_class")

    # --- slots and cells ----------------------------------------------------------------------------------------------

    def unbound(self, name: str) -> NoReturn:
        """The slot, or the cell in it, is empty: UnboundLocalError for a local, NameError for an outer function's
        variable."""
        self.unsupported("unbound")

    def make_cell(self, content: Value) -> Value:
        """A new cell holding content, or empty if content is NULL."""
        self.unsupported("make_cell")

    def load_cell(self, cell: Value) -> Value:
        """The cell's content, NULL if empty."""
        self.unsupported("load_cell")

    def store_cell(self, cell: Value, content: Value) -> None:
        """Set the cell's content; NULL empties it."""
        self.unsupported("store_cell")

    # --- attributes and items -----------------------------------------------------------------------------------------

    def load_attr(self, obj: Value, name: str) -> Value:
        self.unsupported("load_attr")

    def store_attr(self, obj: Value, name: str, value: Value) -> None:
        self.unsupported("store_attr")

    def delete_attr(self, obj: Value, name: str) -> None:
        self.unsupported("delete_attr")

    def load_special(self, obj: Value, name: str) -> Value:
        """`__enter__` or `__exit__` looked up on the type and bound; a missing one is a TypeError."""
        self.unsupported("load_special")

    def getitem(self, obj: Value, key: Value) -> Value:
        self.unsupported("getitem")

    def setitem(self, obj: Value, key: Value, value: Value) -> None:
        self.unsupported("setitem")

    def delitem(self, obj: Value, key: Value) -> None:
        self.unsupported("delitem")

    # --- operators ----------------------------------------------------------------------------------------------------

    def unary(self, op: str, a: Value) -> Value:
        """op: '+', '-', '~', 'not'."""
        self.unsupported(f"unary {op}")

    def binary(self, op: str, a: Value, b: Value) -> Value:
        """op: '+', '-', '*', '/', '//', '%', '**', '@', '&', '|', '^', '<<', '>>'."""
        self.unsupported(f"binary {op}")

    def inplace(self, op: str, a: Value, b: Value) -> Value:
        """The same operators without their '=': `a += b` arrives as inplace('+', a, b). Returns the new a."""
        self.unsupported(f"inplace {op}")

    def compare(self, op: str, a: Value, b: Value) -> Value:
        """op: '<', '<=', '==', '!=', '>', '>='."""
        self.unsupported(f"compare {op}")

    def is_(self, a: Value, b: Value) -> Value:
        """`a is b` as a value; `is not` is unary('not', ...) of it."""
        self.unsupported("is_")

    def contains(self, item: Value, container: Value) -> Value:
        """`item in container` as a value; `not in` is unary('not', ...) of it."""
        self.unsupported("contains")

    def truth(self, value: Value) -> bool:
        """A plain bool, for a jump. `self.index` is already the instruction after the jump, `self.current` the jump."""
        self.unsupported("truth")

    def is_none(self, value: Value) -> bool:
        """A plain bool, for the jumps that test for None."""
        self.unsupported("is_none")

    # --- building and taking apart ------------------------------------------------------------------------------------

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

    # --- iteration and calls ------------------------------------------------------------------------------------------

    def get_iter(self, iterable: Value) -> Value:
        self.unsupported("get_iter")

    def next_item(self, iterator: Value) -> tuple[bool, Value]:
        """(True, item), or (False, anything) when the iterator is exhausted. The iterator is on top of the stack."""
        self.unsupported("next_item")

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The callable pair and the arguments are already popped."""
        self.unsupported("call")

    def call_unpacked(self, function: Value, args: Value, kwargs: Value) -> Value:
        """`function(*args, **kwargs)`: args is one iterable value, kwargs one mapping value or NULL."""
        self.unsupported("call_unpacked")

    def make_function(self, code: Value, attributes: dict[str, Value]) -> Value:
        """attributes has those of FUNCTION_ATTRIBUTES that are given; annotations may be a tuple of name, value, ...
        (3.11-3.13)."""
        self.unsupported("make_function")

    def type_parameters(self, intrinsic: str, operands: list[Value]) -> Value:
        """One step of making type parameters, a generic base or a `type` alias (PEP 695)."""
        self.unsupported("type_parameters")

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def caught(self, error: BaseException) -> Value | None:
        """The program's exception that this host exception stands for, or None if it is not the program's (it then
        leaves `step`): for plain Python always the error itself, for a tracer only the errors it simulates."""
        return None

    def raise_(self, exception: Value, cause: Value) -> NoReturn:
        """The statement `raise`. exception NULL: raise `self.handled` again; it may be a class; cause NULL: no
        `from`."""
        self.unsupported("raise_")

    def reraise(self, exception: Value) -> NoReturn:
        """Raise an exception that is under way, unchanged (end of an `except` that did not match, of `finally`)."""
        self.unsupported("reraise")

    def exception_matches(self, exception: Value, classes: Value) -> Value:
        """The test of `except classes:` as a value."""
        self.unsupported("exception_matches")

    def exception_group_split(self, exception: Value, classes: Value) -> tuple[Value, Value]:
        """The test of `except* classes:`: (rest or None, matched or None) as values."""
        self.unsupported("exception_group_split")

    def exception_group_join(self, original: Value, raised: Value) -> Value:
        """End of `except*`: what is to be raised, made of a list of exceptions; the value None if nothing is."""
        self.unsupported("exception_group_join")

    def exception_info(self, exception: Value) -> list[Value]:
        """Its class, itself, its traceback: the arguments of `__exit__`."""
        self.unsupported("exception_info")

    def stop_iteration_value(self, exception: Value) -> tuple[bool, Value]:
        """(True, the returned value) if this is a StopIteration, else (False, anything)."""
        self.unsupported("stop_iteration_value")

    def stop_iteration_error(self, exception: Value) -> Value:
        """In a generator's body: a StopIteration becomes `RuntimeError: generator raised StopIteration`, others
        stay."""
        self.unsupported("stop_iteration_error")

    # --- generators ---------------------------------------------------------------------------------------------------

    def make_generator(self) -> Value:
        """The generator object that stands for this frame, which stops here (`outcome`) and goes on with
        `resume_with`."""
        self.unsupported("make_generator")

    def get_yield_from_iter(self, iterable: Value) -> Value:
        self.unsupported("get_yield_from_iter")

    def get_awaitable(self, value: Value, purpose: int) -> Value:
        """What to wait for; purpose: 0 for `await`, 1 to enter, 2 to leave an `async with`."""
        self.unsupported("get_awaitable")

    def get_aiter(self, iterable: Value) -> Value:
        self.unsupported("get_aiter")

    def get_anext(self, iterator: Value) -> Value:
        """What `async for` waits for to get its next item."""
        self.unsupported("get_anext")

    def ends_async_for(self, exception: Value) -> bool:
        """A plain bool: whether this is the StopAsyncIteration that ends the loop."""
        self.unsupported("ends_async_for")

    def send(self, receiver: Value, value: Value) -> tuple[bool, Value]:
        """(True, yielded), or (False, returned) when the receiver is finished."""
        self.unsupported("send")

    # --- match statements ---------------------------------------------------------------------------------------------

    def get_len(self, subject: Value) -> Value:
        self.unsupported("get_len")

    def match_mapping(self, subject: Value) -> Value:
        self.unsupported("match_mapping")

    def match_sequence(self, subject: Value) -> Value:
        self.unsupported("match_sequence")

    def match_keys(self, subject: Value, keys: Value) -> Value:
        """A tuple value of the keys' values, or the value None if one is missing."""
        self.unsupported("match_keys")

    def match_class(self, subject: Value, cls: Value, positional: int, names: Value) -> Value:
        """A tuple value of the attributes asked for, or the value None if subject does not match."""
        self.unsupported("match_class")

    # --- imports ------------------------------------------------------------------------------------------------------

    def import_name(self, name: str, fromlist: Value, level: Value) -> Value:
        self.unsupported("import_name")

    def import_from(self, module: Value, name: str) -> Value:
        self.unsupported("import_from")

    def import_star(self, module: Value) -> None:
        self.unsupported("import_star")

    def print_expr(self, value: Value) -> None:
        """What the prompt does with the value of a line."""
        self.unsupported("print_expr")
