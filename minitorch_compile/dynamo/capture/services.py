"""The tracer's answers to what values ask of it, as far as these need no more than other values.

What may be asked is listed in `variables/tracer.py`.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x, names: x * names.index("b"), ones(2), ["a", "b"]))    # "b" == each of the names
x -> (x * 1,)
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import ConstantSource
from minitorch_compile.dynamo.variables.base import MISSING, ObservedException, Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable
from minitorch_compile.dynamo.variables.containers.lists import ListVariable
from minitorch_compile.dynamo.variables.containers.sequences import (
    NamedTupleVariable,
    SizeVariable,
    SliceVariable,
    TupleVariable,
)
from minitorch_compile.dynamo.variables.exceptions import ExceptionVariable
from minitorch_compile.dynamo.variables.functions import polyfills
from minitorch_compile.dynamo.variables.functions.functions import FunctionVariable, PartialVariable
from minitorch_compile.dynamo.variables.objects.class_lookup import has_method, look_up
from minitorch_compile.dynamo.variables.objects.enum_members import MemberVariable
from minitorch_compile.dynamo.variables.objects.objects import UserObjectVariable
from minitorch_compile.dynamo.variables.tensors.data_numbers import DataNumberVariable
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable
from minitorch_compile.dynamo.variables.tensors.numpy_numbers import NumpyNumberVariable, plain
from minitorch_compile.dynamo.variables.tensors.sym_int import SymIntVariable
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.dynamo.variables.tracer import Tracer
from minitorch_compile.nn.module import Module
from minitorch_compile.symbolic import GuardOnDataDependentSymNode
from minitorch_compile.tensor import Size

if TYPE_CHECKING:
    from minitorch_compile.dynamo.capture.output_graph import OutputGraph

MODULE_NAME = re.compile(r"\._modules\['([^']*)'\]")  # in the name of a source
SINGLETONS = (bool, type(None), type(Ellipsis), type(NotImplemented))


class TracerServices(Tracer):
    """A frame being traced."""

    output: OutputGraph

    def module_path(self) -> str:
        for frame in reversed(self.output.frames):
            code = frame.program.code
            first = frame.locals.get(code.co_varnames[0]) if code.co_argcount else None
            if isinstance(first, UserObjectVariable) and first.source is not None and issubclass(first.cls, Module):
                return ".".join(MODULE_NAME.findall(first.source.name()))
        return ""

    # --- exceptions of the traced program -----------------------------------------------------------------------------

    def raise_error(self, cls: type[BaseException], *args: Any) -> NoReturn:
        """The program gets this exception; arguments are Python values or trackers."""
        values = [arg if isinstance(arg, Value) else self.output.from_python(arg) for arg in args]
        self.raise_observed(ExceptionVariable(cls, values))

    def raise_real(self, error: BaseException) -> NoReturn:
        """The program gets an exception that a real operation raised while tracing. Not one that the depth of the
        tracer's own stack led to: what the program gets shows when it runs."""
        if isinstance(error, (Unsupported, ObservedException, RecursionError)):
            raise error
        self.raise_observed(ExceptionVariable(type(error), [self.output.from_python(arg) for arg in error.args]), error)

    def raise_observed(self, value: ExceptionVariable, origin: BaseException | None = None) -> NoReturn:
        """Raises in the program; what it is handling just now becomes the context."""
        handled = self.handled_here_or_above()
        if handled is not NULL and handled is not value:
            value.context = handled
        raise ObservedException(value) from origin

    def compute(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """A real operation on constants; what it raises, the program gets."""
        try:
            return function(*args, **kwargs)
        except (Unsupported, ObservedException, GuardOnDataDependentSymNode):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the program would get it too
            self.raise_real(error)

    def checked_call(self, rule: Callable[..., Value], /, *args: Any, **kwargs: Any) -> Value:
        """Calls a rule of the tracer; arguments that it does not take break the graph."""
        try:
            inspect.signature(rule).bind(*args, **kwargs)
        except TypeError as error:
            raise Unsupported("wrong-arguments", f"these arguments are not followed: {error}.") from error
        return rule(*args, **kwargs)

    def polyfill(self, function: Callable[..., Any]) -> Value:
        """A function of `polyfills.py`, to be traced in place of one written in C."""
        return self.output.wrap_constant(function, function.__name__)

    def is_callable(self, value: Value) -> Value:
        """callable(value)"""
        tracked = value.realize()
        is_function = isinstance(tracked, (FunctionVariable, PartialVariable))
        return ConstantVariable(is_function or look_up(tracked.python_type(), "__call__") is not None)

    def is_iterable(self, value: Value) -> bool:
        """Whether iter(value) finds something to ask."""
        cls = value.realize().python_type()
        return look_up(cls, "__iter__") is not None or look_up(cls, "__getitem__") is not None

    # --- looking into values ------------------------------------------------------------------------------------------

    def constant(self, value: Value) -> Any:
        """The Python value of a constant; a break if it is not one."""
        tracked = value.realize()
        if isinstance(tracked, TensorVariable):
            raise Unsupported("data-dependent-value", "the line uses a tensor's data as a Python value.")
        if not tracked.is_constant():
            tracked.unsupported("using it as a constant")
        if isinstance(tracked, MemberVariable):
            tracked.check_index(self)
        if isinstance(tracked, SliceVariable):
            for part in tracked.parts.values():
                self.constant(part)
        return tracked.as_constant()

    def index_constant(self, key: Value, what: str) -> Any:
        """An index or slice of a sequence."""
        tracked = key.realize()
        if isinstance(tracked, TensorVariable):
            raise Unsupported("data-dependent-value", f"a tensor is used as an index of a {what}.")
        if not isinstance(tracked, (ConstantVariable, SliceVariable)):
            tracked.unsupported("using it as an index")
        value = self.constant(tracked)
        if isinstance(tracked, SliceVariable):
            self.compute(value.indices, 0)  # raises what it would
        if not isinstance(value, (int, slice)):
            self.raise_error(TypeError, f"{what} indices must be integers or slices, not {type(value).__name__}")
        return value

    def identical(self, a: Value, b: Value) -> bool:
        """a is b, known for sure or guarded."""
        left, right = a.realize(), b.realize()
        if left is right or left.is_same(right):
            return True
        if isinstance(left, ConstantVariable) and isinstance(right, ConstantVariable):
            if left.python_type() is not right.python_type():
                return False
            return _identical_constants(left.value, right.value)
        if isinstance(left, ConstantVariable) or isinstance(right, ConstantVariable):
            return False
        x, y = left.real_value(), right.real_value()
        if (x is MISSING or y is MISSING) and left.is_constant() and right.is_constant():
            return _identical_constants(left.as_constant(), right.as_constant())  # tuples of numbers
        if x is MISSING or y is MISSING or left.source is None or right.source is None:
            return x is not MISSING and x is y
        already_guarded = isinstance(left.source, ConstantSource) and isinstance(right.source, ConstantSource)
        if x is not y and type(x) is type(y) and not already_guarded:
            self.output.guards.add(guards.different_object(left.source, right.source))
        return x is y

    def same_or_equal(self, a: Value, b: Value) -> bool:
        """What `in`, index() and == of containers ask: the same object, or equal."""
        left, right = a.realize(), b.realize()
        return left is right or left.is_same(right) or self.truth(self.compare("==", left, right))

    def unpack_sized(self, iterable: Value) -> list[Value]:
        """list(iterable), which asks an object for its length after the iterator, to set aside that much room."""
        return list(self.each_sized(iterable))

    def each_sized(self, iterable: Value) -> Iterator[Value]:
        """The same, one after the other."""
        tracked = iterable.realize()
        iterator = self.as_iterator(tracked)
        tracked.hint_length(self)
        yield from self.each(iterator)

    def unpack_all(self, iterable: Value) -> list[Value]:
        """All items."""
        return list(self.each(iterable))

    def each(self, iterable: Value) -> Iterator[Value]:
        """The items, one after the other: what is done with one may come before the program makes the next."""
        iterator = self.as_iterator(iterable)
        while (item := iterator.next_value(self)) is not None:
            yield item

    def as_iterator(self, value: Value) -> IteratorVariable:
        return value.realize().iterate(self)

    def next_or_none(self, iterator: Value) -> Value | None:
        tracked = iterator.realize()
        if isinstance(tracked, IteratorVariable):
            return tracked.next_value(self)
        if not has_method(tracked.python_type(), "__next__"):
            self.raise_error(TypeError, f"'{tracked.python_type().__name__}' object is not an iterator")
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

    def mapping_items(self, mapping: Value, asks: bool = False) -> Iterator[tuple[Value, Value]]:
        """The items of a mapping, or of an iterable of pairs, one after the other. `asks`: as an OrderedDict takes
        them, which asks each class but dict for its keys."""
        tracked = mapping.realize()
        known = None if asks else tracked.merged_items()
        if isinstance(tracked, DictVariable):
            known = list(tracked.entries.values())
        if known is not None:
            yield from known
        elif has_method(tracked.python_type(), "keys"):
            for key in self.each(self.call(self.load_attr(tracked, "keys"), [], {})):
                yield key, self.getitem(tracked, key)
        elif asks:
            items = has_method(tracked.python_type(), "items")
            pairs = self.call(self.load_attr(tracked, "items"), [], {}) if items else tracked
            for pair in self.each(self.call(self.polyfill(polyfills.two_of_each), [pairs], {})):
                key, value = self.unpack_all(pair)
                yield key, value
        else:
            yield from self._pairs(tracked)

    def _pairs(self, tracked: VariableTracker) -> Iterator[tuple[Value, Value]]:
        """What a dict takes from an iterable of pairs."""
        iterator = self.as_iterator(tracked)
        for position in itertools.count():
            item = iterator.next_value(self)
            if item is None:
                return
            if not self.is_iterable(item):
                wrong = f"cannot convert dictionary update sequence element #{position} to a sequence"
                self.raise_error(TypeError, wrong)
            pair = self.unpack_all(item)
            if len(pair) != 2:
                wrong = f"element #{position} has length {len(pair)}"
                self.raise_error(ValueError, f"dictionary update sequence {wrong}; 2 is required")
            yield pair[0], pair[1]

    def graph_argument(self, value: Value) -> Any:
        """What stands for a value among the arguments of a node: a node, a constant, or a nesting of those."""
        tracked = value.realize()
        if isinstance(tracked, (TensorVariable, DataNumberVariable)):
            return tracked.node
        if isinstance(tracked, SymIntVariable):
            return self.output.size_argument(tracked.number)
        if isinstance(tracked, NumpyNumberVariable):
            tracked = plain(tracked)
        if isinstance(tracked, NumberVariable) and tracked.is_input:
            return self.output.float_argument(tracked)
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
            value = self.constant(tracked)
            return value.item() if isinstance(value, np.generic) else value
        tracked.unsupported("as an argument of a tensor operation")

    def sequence_like(self, values: Any, items: list[Value]) -> Value:
        """A tracker of the kind of sequence that an operation gave."""
        if hasattr(values, "_fields"):
            return NamedTupleVariable(type(values), items)
        return self.build("tuple" if isinstance(values, tuple) else "list", items)


def _identical_constants(x: Any, y: Any) -> bool:
    """Different values are different objects. Of equal numbers and strings Python does not say whether they are one
    object."""
    if isinstance(x, Enum):
        return x is y
    if type(x) is not type(y) or x != y:
        return False
    if isinstance(x, SINGLETONS) or x is y and type(x) not in (int, float, complex, str, bytes, range):
        return True
    if isinstance(x, int) and -5 <= x <= 256:
        return True
    if x == ():
        return True
    raise Unsupported(
        "unsupported-object",
        f"`is` between equal values of type {type(x).__name__} depends on the interpreter; use ==.",
    )
