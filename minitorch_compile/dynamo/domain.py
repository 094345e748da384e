"""The domain of the symbolic interpreter: Python's operations on trackers, and the small questions that trackers ask.

`SymbolicDomain` answers the hooks that need no frame. It knows the protocol around an operation (try the left operand,
then the right one reflected; compare by identity when nobody answers); the trackers know their own kind.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch_compile.dynamo import guards, matching
from minitorch_compile.dynamo.concrete import BINARY, COMPARE, INPLACE
from minitorch_compile.dynamo.errors import ObservedException, Unsupported
from minitorch_compile.dynamo.instructions import NULL
from minitorch_compile.dynamo.source import ConstantSource
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.dicts import DictVariable
from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable
from minitorch_compile.dynamo.variables.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.lists import ListVariable
from minitorch_compile.dynamo.variables.numbers import arithmetic, comparison, joined, open_text
from minitorch_compile.dynamo.variables.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.sequences import SizeVariable, SliceVariable, TupleVariable
from minitorch_compile.dynamo.variables.sets import SetVariable
from minitorch_compile.dynamo.variables.tensor import TensorVariable
from minitorch_compile.tensor import Size

if TYPE_CHECKING:
    from minitorch_compile.dynamo.output_graph import OutputGraph
    from minitorch_compile.dynamo.side_effects import SideEffects

SWAPPED = {"==": "==", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
SINGLETONS = (bool, type(None), type(Ellipsis), type(NotImplemented))


class SymbolicDomain:
    """Hooks and services over trackers. A mixin of `SymbolicInterpreter`, which has `output` and frames."""

    output: OutputGraph

    @property
    def side_effects(self) -> SideEffects:
        return self.output.side_effects

    # --- exceptions of the traced program -----------------------------------------------------------------------------

    def raise_error(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """The program gets this exception; arguments are Python values or trackers."""
        values = [arg if isinstance(arg, Value) else self.output.from_python(arg) for arg in args]
        raise ObservedException(ExceptionVariable(cls, values))

    def raise_real(self, error: BaseException) -> NoReturn:
        """The program gets an exception that a real operation raised while tracing."""
        if isinstance(error, (Unsupported, ObservedException)):
            raise error
        raise ObservedException(
            ExceptionVariable(type(error), [self.output.from_python(arg) for arg in error.args])
        ) from error

    def compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A real operation on constants; what it raises, the program gets."""
        try:
            return function(*args, **kwargs)
        except (Unsupported, ObservedException):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the program would get it too
            self.raise_real(error)

    def checked_call(self, rule: Callable[..., Value], *args: Any, **kwargs: Any) -> Value:
        """Calls a rule of the tracer; arguments that it does not take break the graph."""
        try:
            inspect.signature(rule).bind(*args, **kwargs)
        except TypeError as error:
            raise Unsupported("wrong-arguments", f"these arguments are not followed: {error}.") from error
        return rule(*args, **kwargs)

    def polyfill(self, function: Callable[..., Any]) -> Value:
        """A function of `polyfills.py`, to be traced in place of one written in C."""
        return self.output.wrap_constant(function, function.__name__)

    # --- looking into values ------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> Any:
        """The Python value of a constant; a break if it is not one."""
        tracked = value.realize()
        if isinstance(tracked, TensorVariable):
            raise Unsupported("data-dependent-value", "the line uses a tensor's data as a Python value.")
        if not tracked.is_constant():
            tracked.unsupported("using it as a constant")
        return tracked.as_constant()

    def index_constant(self, key: Value, what: str) -> Any:
        """An index or slice of a sequence."""
        tracked = key.realize()
        if isinstance(tracked, TensorVariable):
            raise Unsupported("data-dependent-value", f"a tensor is used as an index of a {what}.")
        if not isinstance(tracked, (ConstantVariable, SliceVariable)):
            tracked.unsupported("using it as an index")
        value = self.constant(tracked)
        if not isinstance(value, (int, slice)):
            self.raise_error(TypeError, f"{what} indices must be integers or slices, not {type(value).__name__}")
        return value

    def identical(self, a: Value, b: Value) -> bool:
        """a is b, known for sure or guarded."""
        left, right = a.realize(), b.realize()
        if left is right:
            return True
        if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
            if left.python_type() is not right.python_type():
                return False
            return _identical_constants(left.value, right.value)
        if isinstance(left, ConstantVariable) or isinstance(right, ConstantVariable):
            return False
        x, y = left.real_value(), right.real_value()
        if x is MISSING or y is MISSING or left.source is None or right.source is None:
            return x is not MISSING and x is y
        already_guarded = isinstance(left.source, ConstantSource) and isinstance(right.source, ConstantSource)
        if x is not y and type(x) is type(y) and not already_guarded:
            self.output.guards.add(guards.different_object(left.source, right.source))
        return x is y

    def same_or_equal(self, a: Value, b: Value) -> bool:
        """What `in`, index() and == of containers ask: the same object, or equal."""
        left, right = a.realize(), b.realize()
        return left is right or self.truth(self.compare("==", left, right))

    def unpack_all(self, iterable: Value) -> list[Value]:
        """list(iterable)"""
        iterator = self.as_iterator(iterable)
        items: list[Value] = []
        while (item := iterator.next_value(self)) is not None:  # type: ignore[arg-type]
            items.append(item)
        return items

    def as_iterator(self, value: Value) -> IteratorVariable:
        return value.realize().iterate(self)  # type: ignore[arg-type]

    def next_or_none(self, iterator: Value) -> Value | None:
        tracked = iterator.realize()
        if isinstance(tracked, IteratorVariable):
            return tracked.next_value(self)  # type: ignore[arg-type]
        try:
            return self.call(self.load_attr(tracked, "__next__"), [], {})
        except ObservedException as error:
            if issubclass(error.value.python_type(), StopIteration):
                return None
            raise

    def next_or_raise(self, iterator: Value) -> Value:
        item = self.next_or_none(iterator)
        if item is None:
            self.raise_stop(iterator)
        return item

    def raise_stop(self, iterator: Value) -> NoReturn:
        """StopIteration of an exhausted iterator; it carries what a generator returned."""
        returned = getattr(iterator.realize(), "returned", None)
        self.raise_error(StopIteration, *([] if returned is None or self.is_none(returned) else [returned]))

    def mapping_items(self, mapping: Value) -> list[tuple[Value, Value]]:
        """The items of a mapping, or of an iterable of pairs."""
        tracked = mapping.realize()
        if isinstance(tracked, DictVariable):
            return list(tracked.entries.values())
        if hasattr(tracked.python_type(), "keys"):
            keys = self.unpack_all(self.call(self.load_attr(tracked, "keys"), [], {}))
            return [(key, self.getitem(tracked, key)) for key in keys]
        pairs = [self.unpack_all(pair) for pair in self.unpack_all(tracked)]
        if any(len(pair) != 2 for pair in pairs):
            self.raise_error(ValueError, "dictionary update sequence element has the wrong length; 2 is required")
        return [(key, value) for key, value in pairs]

    def graph_argument(self, value: Value) -> Any:
        """What stands for a value among the arguments of a node: a node, a constant, or a nesting of those."""
        tracked = value.realize()
        if isinstance(tracked, TensorVariable):
            return tracked.node
        if isinstance(tracked, SizeVariable):
            return Size(self.graph_argument(item) for item in tracked.items)
        if isinstance(tracked, (TupleVariable, ListVariable)):
            return (
                tracked.cls(self.graph_argument(item) for item in tracked.items)
                if type(tracked) in (TupleVariable, ListVariable)
                else tracked.unsupported("as an argument of an operation")
            )
        if isinstance(tracked, DictVariable):
            return {self.constant(key): self.graph_argument(item) for key, item in tracked.entries.values()}
        if isinstance(tracked, SliceVariable):
            return slice(*(self.graph_argument(part) for part in tracked.parts.values()))
        if tracked.is_constant():
            return tracked.as_constant()
        tracked.unsupported("as an argument of a tensor operation")

    def sequence_like(self, values: Any, items: list[Value]) -> Value:
        """A tracker of the kind of sequence that an operation gave."""
        from minitorch_compile.dynamo.variables.sequences import NamedTupleVariable

        if hasattr(values, "_fields"):
            return NamedTupleVariable(type(values), items)
        return self.build("tuple" if isinstance(values, tuple) else "list", items)

    # --- operators ----------------------------------------------------------------------------------------------------

    def unary(self, op: str, a: Value) -> Value:
        tracked = a.realize()
        if op == "not":
            return ConstantVariable(not self.truth(tracked))
        return tracked.unary(self, op)  # type: ignore[arg-type]

    def binary(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        number = arithmetic(op, left, right)
        if number is not None:
            return number
        if _both_constant(left, right):
            return self.output.from_python(self.compute(BINARY[op], left.as_constant(), right.as_constant()))
        result = self._ask_both(left, right, op)
        if result is None:
            self._operator_error(op, left, right)
        return result

    def _ask_both(self, left: VariableTracker, right: VariableTracker, op: str) -> Value | None:
        """Python's order: the left operand first, unless the right one's class is a subclass that overrides the
        method."""
        if (
            isinstance(left, UserObjectVariable)
            and isinstance(right, UserObjectVariable)
            and right.overrides_reflected(op, left)
        ):
            result = right.reflected(self, op, left)  # type: ignore[arg-type]
            return left.binary(self, op, right) if result is None else result  # type: ignore[arg-type]
        result = left.binary(self, op, right)  # type: ignore[arg-type]
        if result is None and not (isinstance(left, UserObjectVariable) and left.python_type() is right.python_type()):
            result = right.reflected(self, op, left)  # type: ignore[arg-type]
        return result

    def _operator_error(self, op: str, left: VariableTracker, right: VariableTracker) -> NoReturn:
        """Nobody answers: Python's TypeError if that is sure, else a break."""
        known = (ConstantVariable, TupleVariable, ListVariable, DictVariable, SetVariable)
        if isinstance(left, known) and isinstance(right, known) and op not in ("*", "%"):
            names = f"'{left.python_type().__name__}' and '{right.python_type().__name__}'"
            if not isinstance(left, (TupleVariable, ListVariable)):
                self.raise_error(TypeError, f"unsupported operand type(s) for {op}: {names}")
        raise Unsupported(
            "unsupported-object", f"the operator {op} between {left.describe()} and {right.describe()} is not followed."
        )

    def inplace(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        number = arithmetic(op, left, right)
        if number is not None:
            return number
        if _both_constant(left, right):
            return self.output.from_python(self.compute(INPLACE[op], left.as_constant(), right.as_constant()))
        result = left.inplace(self, op, right)  # type: ignore[arg-type]
        return self.binary(op, left, right) if result is None else result

    def compare(self, op: str, a: Value, b: Value) -> Value:
        left, right = a.realize(), b.realize()
        outcome = comparison(op, left, right)
        if outcome is not None:
            return outcome
        if _both_constant(left, right):
            return self.output.from_python(self.compute(COMPARE[op], left.as_constant(), right.as_constant()))
        first, second = (
            (right, left)
            if isinstance(right, TensorVariable) and not isinstance(left, TensorVariable)
            else (left, right)
        )
        swapped = first is right
        result = first.compare(self, SWAPPED[op] if swapped else op, second)  # type: ignore[arg-type]
        if result is None:
            result = second.compare(self, op if swapped else SWAPPED[op], first)  # type: ignore[arg-type]
        if result is not None:
            return result
        if op in ("==", "!="):
            return ConstantVariable(self.identical(left, right) == (op == "=="))
        raise Unsupported(
            "unsupported-object",
            f"the comparison {op} between {left.describe()} and {right.describe()} is not followed.",
        )

    def is_(self, a: Value, b: Value) -> Value:
        return ConstantVariable(self.identical(a, b))

    def contains(self, item: Value, container: Value) -> Value:
        return container.realize().contains(self, item)  # type: ignore[arg-type]

    def truth(self, value: Value) -> bool:
        return value.realize().truth(self)  # type: ignore[arg-type]

    def is_none(self, value: Value) -> bool:
        tracked = value.realize()
        return isinstance(tracked, ConstantVariable) and tracked.python_type() is type(None)

    # --- attributes and items -----------------------------------------------------------------------------------------

    def load_attr(self, obj: Value, name: str) -> Value:
        return obj.realize().getattr(self, name)  # type: ignore[arg-type]

    def store_attr(self, obj: Value, name: str, value: Value) -> None:
        obj.realize().setattr(self, name, value)  # type: ignore[arg-type]

    def delete_attr(self, obj: Value, name: str) -> None:
        obj.realize().delattr(self, name)  # type: ignore[arg-type]

    def load_special(self, obj: Value, name: str) -> Value:
        from minitorch_compile.dynamo.variables.methods import BuiltinMethodVariable

        tracked = obj.realize()
        if isinstance(tracked, UserObjectVariable):
            method = tracked.special(self, name)  # type: ignore[arg-type]
            if method is not None:
                return method
        elif hasattr(tracked.python_type(), name):
            return BuiltinMethodVariable(tracked, name)
        missed = " (missed __exit__ method)" if name == "__exit__" else ""
        cls = tracked.python_type().__qualname__
        self.raise_error(TypeError, f"'{cls}' object does not support the context manager protocol{missed}")

    def getitem(self, obj: Value, key: Value) -> Value:
        tracked = obj.realize()
        if isinstance(tracked, ConstantVariable):
            return self.output.from_python(self.compute(lambda: tracked.value[self.constant(key)]))
        return tracked.call_method(self, "__getitem__", [key], {})  # type: ignore[arg-type]

    def setitem(self, obj: Value, key: Value, value: Value) -> None:
        obj.realize().call_method(self, "__setitem__", [key, value], {})  # type: ignore[arg-type]

    def delitem(self, obj: Value, key: Value) -> None:
        obj.realize().call_method(self, "__delitem__", [key], {})  # type: ignore[arg-type]

    # --- building and taking apart ------------------------------------------------------------------------------------

    def build(self, kind: str, items: list[Value]) -> Any:
        if kind == "tuple":
            return TupleVariable(items)
        if kind == "list":
            return ListVariable(items)
        if kind == "set":
            return SetVariable.of(self, items)  # type: ignore[arg-type]
        return SliceVariable(*[*items, ConstantVariable(None)][:3])

    def build_map(self, keys: list[Value], values: list[Value]) -> Any:
        made = DictVariable()
        for key, value in zip(keys, values):
            made.store(self, key, value)  # type: ignore[arg-type]
        return made

    def build_string(self, parts: list[Value]) -> Value:
        text = joined(parts)
        return ConstantVariable("".join(self.constant(part) for part in parts)) if text is None else text

    def list_append(self, target: Value, item: Value) -> None:
        target.realize().call_method(self, "append", [item], {})  # type: ignore[arg-type]

    def list_extend(self, target: Value, iterable: Value) -> None:
        target.realize().call_method(self, "extend", [iterable], {})  # type: ignore[arg-type]

    def list_to_tuple(self, target: Value) -> Value:
        return TupleVariable(self.unpack_all(target))

    def set_add(self, target: Value, item: Value) -> None:
        target.realize().call_method(self, "add", [item], {})  # type: ignore[arg-type]

    def set_update(self, target: Value, iterable: Value) -> None:
        target.realize().call_method(self, "update", [iterable], {})  # type: ignore[arg-type]

    def map_add(self, target: Value, key: Value, value: Value) -> None:
        self.setitem(target, key, value)

    def dict_update(self, target: Value, mapping: Value) -> None:
        for key, value in self.mapping_items(mapping):
            self.setitem(target, key, value)

    def dict_merge(self, target: Value, mapping: Value, function: Value) -> None:
        for key, value in self.mapping_items(mapping):
            if self.truth(self.contains(key, target)):
                raise Unsupported("raised-exception", f"a keyword argument is given twice: {key.realize().describe()}.")
            self.setitem(target, key, value)

    def unpack(self, iterable: Value, count: int) -> Sequence[Value]:
        items = self.unpack_all(iterable)
        if len(items) < count:
            self.raise_error(ValueError, f"not enough values to unpack (expected {count}, got {len(items)})")
        if len(items) > count:
            self.raise_error(ValueError, f"too many values to unpack (expected {count})")
        return items

    def unpack_ex(self, iterable: Value, before: int, after: int) -> Sequence[Value]:
        items = self.unpack_all(iterable)
        if len(items) < before + after:
            self.raise_error(
                ValueError, f"not enough values to unpack (expected at least {before + after}, got {len(items)})"
            )
        end = len(items) - after
        return [*items[:before], ListVariable(items[before:end]), *items[end:]]

    def to_text(self, value: Value, conversion: str) -> str:
        return value.realize().to_text(self, conversion)  # type: ignore[arg-type]

    def convert_value(self, value: Value, conversion: str) -> Value:
        text = open_text(value, conversion=conversion)
        return ConstantVariable(self.to_text(value, conversion)) if text is None else text

    def format_value(self, value: Value, spec: Value) -> Value:
        wanted = "" if spec is NULL else self.constant(spec)
        text = open_text(value, wanted)
        return ConstantVariable(value.realize().format(self, wanted)) if text is None else text  # type: ignore[arg-type]

    # --- iteration, calls, match --------------------------------------------------------------------------------------

    def get_iter(self, iterable: Value) -> Value:
        return self.as_iterator(iterable)

    def next_item(self, iterator: Value) -> tuple[bool, Value]:
        item = self.next_or_none(iterator)
        return (False, iterator) if item is None else (True, item)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        return function.realize().call(self, args, kwargs)  # type: ignore[arg-type]

    def call_unpacked(self, function: Value, args: Value, kwargs: Value) -> Value:
        named = {} if kwargs is NULL else {self.constant(key): value for key, value in self.mapping_items(kwargs)}
        return self.call(function, self.unpack_all(args), named)

    def get_len(self, subject: Value) -> Value:
        return ConstantVariable(subject.realize().length(self))  # type: ignore[arg-type]

    def match_mapping(self, subject: Value) -> Value:
        return ConstantVariable(bool(subject.realize().python_type().__flags__ & matching.IS_MAPPING))

    def match_sequence(self, subject: Value) -> Value:
        return ConstantVariable(bool(subject.realize().python_type().__flags__ & matching.IS_SEQUENCE))

    def match_class(self, subject: Value, cls: Value, positional: int, names: Value) -> Value:
        wanted = cls.realize().real_value()
        if not isinstance(wanted, type):
            raise Unsupported("unsupported-syntax", "a class pattern with something that is no class.")
        if not issubclass(subject.realize().python_type(), wanted):
            return ConstantVariable(None)
        if positional and not hasattr(wanted, "__match_args__"):
            raise Unsupported("unsupported-syntax", f"a positional pattern for {wanted.__name__} is not followed.")
        attributes = [
            *getattr(wanted, "__match_args__", ())[:positional],
            *(self.constant(name) for name in self.unpack_all(names)),
        ]
        found = []
        for name in attributes:
            try:
                found.append(self.load_attr(subject, name))
            except ObservedException as error:
                if not issubclass(error.value.python_type(), AttributeError):
                    raise
                return ConstantVariable(None)
        return TupleVariable(found)

    def match_keys(self, subject: Value, keys: Value) -> Value:
        found = []
        for key in self.unpack_all(keys):
            if not self.truth(self.contains(key, subject)):
                return ConstantVariable(None)
            found.append(self.getitem(subject, key))
        return TupleVariable(found)


def _both_constant(left: VariableTracker, right: VariableTracker) -> bool:
    """Whether an operator can be computed: numbers, strings, and tuples of them; not classes, whose `|` is a type."""
    return (
        isinstance(left, (ConstantVariable, TupleVariable))
        and isinstance(right, (ConstantVariable, TupleVariable))
        and (isinstance(left, ConstantVariable) or isinstance(right, ConstantVariable))
        and left.is_constant()
        and right.is_constant()
    )


def _identical_constants(x: Any, y: Any) -> bool:
    """Different values are different objects. Of equal numbers and strings Python does not say whether they are one
    object."""
    if type(x) is not type(y) or x != y:
        return False
    if isinstance(x, SINGLETONS) or x is y and type(x) not in (int, float, complex, str, bytes, range):
        return True
    if isinstance(x, int) and -5 <= x <= 256:
        return True
    raise Unsupported(
        "unsupported-object",
        f"`is` between equal values of type {type(x).__name__} depends on the interpreter; use ==.",
    )
