"""What an interpreter of bytecode asks about its values: the domain hooks.

`BytecodeInterpreter` moves values between stack and slots and never looks into one. Whatever needs a look is asked
here, by one method a question. Answer with plain Python objects and the program runs (`concrete.py`); answer with
symbols that record what was asked and the program is traced (`symbolic.py`).

Arguments and results called *value* belong to the domain. What the instruction itself says (names, operators, counts)
are plain Python objects. `NULL` as an argument means "not given". A hook ends the user's program abnormally by
raising; `caught` tells which host exceptions are the program's own. A hook that a domain leaves out is reported by
`unsupported`. Hooks that only some families of instructions ask stand in these families' files, such as
`building_instructions.py`.

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

    def lookup(self, mapping: Value, name: str) -> Value:
        """mapping[name], or NULL when it has no such key."""
        self.unsupported("lookup")

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

    # --- exceptions ---------------------------------------------------------------------------------------------------

    def caught(self, error: BaseException) -> Value | None:
        """The program's exception that this host exception stands for, or None if it is not the program's (it then
        leaves `step`): for plain Python always the error itself, for a tracer only the errors it simulates."""
        return None
