"""Rules for what makes, walks through or folds sequences: range, zip, sorted, sum.

>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> print(captured(lambda x: sum(sorted([x * k for k in (3, 1)], key=lambda t: t.ndim)), ones(2)))
x -> ((0 + (x * 3)) + (x * 1),)
"""

from __future__ import annotations

import collections
import functools
import operator
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.errors import Unsupported
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.containers.dicts import DictVariable
from minitorch_compile.dynamo.variables.containers.iterators import (
    EnumerateIterator,
    FilterIterator,
    ItemsIterator,
    MapIterator,
    ReversedIterator,
    SentinelIterator,
    SequenceIterator,
    ZipIterator,
)
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable, SizeVariable, SliceVariable
from minitorch_compile.dynamo.variables.containers.sets import SetVariable
from minitorch_compile.dynamo.variables.containers.sorting import key_of, sorted_items
from minitorch_compile.dynamo.variables.functions import polyfills
from minitorch_compile.dynamo.variables.objects.class_lookup import has_method
from minitorch_compile.dynamo.variables.objects.objects import ObjectIterator
from minitorch_compile.dynamo.variables.tensors.data_numbers import of_several
from minitorch_compile.dynamo.variables.tensors.numbers import applied, is_open_float
from minitorch_compile.dynamo.variables.tensors.sym_int import SymIntVariable, greatest, operand
from minitorch_compile.dynamo.variables.tensors.tensor import TensorVariable
from minitorch_compile.symbolic import sym_max, sym_min
from minitorch_compile.tensor import Size, ops

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

NONE = ConstantVariable(None)

# --- containers -------------------------------------------------------------------------------------------------------


@handles(list)
def _list(tracer: Tracer, iterable: Value | None = None, /) -> Value:
    return tracer.build("list", tracer.unpack_sized(iterable) if iterable else [])


@handles(tuple)
def _tuple(tracer: Tracer, iterable: Value | None = None, /) -> Value:
    if iterable and type(iterable.realize()).__name__ == "TupleVariable":
        return iterable  # tuple(t) is t
    return tracer.build("tuple", tracer.unpack_sized(iterable) if iterable else [])


@handles(Size)
def _size(tracer: Tracer, iterable: Value) -> Value:
    return SizeVariable(tracer.unpack_all(iterable))


@handles(set)
def _set(tracer: Tracer, iterable: Value | None = None, /) -> Value:
    return SetVariable.copy_of(tracer, iterable) if iterable else SetVariable()


@handles(frozenset)
def _frozenset(tracer: Tracer, iterable: Value | None = None, /) -> Value:
    if iterable is not None and iterable.realize().python_type() is frozenset:
        return iterable
    return SetVariable.copy_of(tracer, iterable, frozenset) if iterable else SetVariable(frozenset)


@handles(dict)
def _dict(tracer: Tracer, mapping: Value | None = None, /, **kwargs: Value) -> Value:
    return _filled(tracer, DictVariable(), mapping, kwargs)


@handles(collections.OrderedDict)
def _ordered_dict(tracer: Tracer, mapping: Value | None = None, /, **kwargs: Value) -> Value:
    return _filled(tracer, DictVariable(collections.OrderedDict), mapping, kwargs)


@handles(collections.defaultdict)
def _default_dict(tracer: Tracer, factory: Value = NONE, mapping: Value | None = None, /, **kwargs: Value) -> Value:
    made = DictVariable(collections.defaultdict)
    made.set_factory(tracer, factory)
    return _filled(tracer, made, mapping, kwargs)


def _filled(tracer: Tracer, made: DictVariable, mapping: Value | None, kwargs: dict[str, Value]) -> Value:
    if mapping is not None:
        made.method_update(tracer, mapping)
    made.method_update(tracer, None, **kwargs)
    return made


@handles(slice)
def _slice(tracer: Tracer, first: Value, second: Value | None = None, step: Value = NONE, /) -> Value:
    return SliceVariable(NONE, first, step) if second is None else SliceVariable(first, second, step)


@handles(range)
def _range(tracer: Tracer, *bounds: Value) -> Value:
    return ConstantVariable(tracer.compute(range, *(tracer.constant(bound) for bound in bounds)))


@handles(len)
def _len(tracer: Tracer, value: Value) -> Value:
    return value.realize().length_value(tracer)


# --- iterators --------------------------------------------------------------------------------------------------------


@handles(iter)
def _iter(tracer: Tracer, value: Value, *sentinel: Value) -> Value:
    if len(sentinel) > 1:
        tracer.raise_error(TypeError, f"iter expected at most 2 arguments, got {1 + len(sentinel)}")
    if sentinel and not tracer.truth(tracer.is_callable(value)):
        tracer.raise_error(TypeError, "iter(v, w): v must be callable")
    if sentinel:
        return SentinelIterator(value, sentinel[0])
    iterator = tracer.as_iterator(value)
    return iterator.owner if isinstance(iterator, ObjectIterator) else iterator


@handles(next)
def _next(tracer: Tracer, iterator: Value, *default: Value) -> Value:
    item = tracer.next_or_none(iterator)
    if item is None and default:
        return default[0]
    if item is None:
        tracer.raise_stop(iterator)
    return item


@handles(enumerate)
def _enumerate(tracer: Tracer, iterable: Value, start: Value = ConstantVariable(0)) -> Value:
    first = tracer.compute(operator.index, tracer.constant(start))
    return EnumerateIterator(tracer.as_iterator(iterable), first)


@handles(zip)
def _zip(tracer: Tracer, *iterables: Value, strict: Value = ConstantVariable(False)) -> Value:
    return ZipIterator([tracer.as_iterator(iterable) for iterable in iterables], tracer.truth(strict))


@handles(map)
def _map(tracer: Tracer, function: Value, *iterables: Value) -> Value:
    if not iterables:
        tracer.raise_error(TypeError, "map() must have at least two arguments.")
    return MapIterator(function, [tracer.as_iterator(iterable) for iterable in iterables])


@handles(filter)
def _filter(tracer: Tracer, function: Value, iterable: Value) -> Value:
    return FilterIterator(None if tracer.is_none(function) else function, tracer.as_iterator(iterable))


@handles(reversed)
def _reversed(tracer: Tracer, sequence: Value) -> Value:
    tracked = sequence.realize()
    if isinstance(tracked, SequenceVariable):
        return SequenceIterator(tracked, -1)
    if isinstance(tracked, ConstantVariable):
        real = tracer.compute(reversed, tracked.value)
        return ItemsIterator([tracer.output.from_python(item) for item in real], type(real))
    if has_method(tracked.python_type(), "__reversed__"):
        return tracer.as_iterator(tracer.call(tracer.load_attr(tracked, "__reversed__"), [], {}))
    if not hasattr(tracked.python_type(), "__getitem__"):
        tracer.raise_error(TypeError, f"'{tracked.python_type().__name__}' object is not reversible")
    return ReversedIterator(tracer, tracked)


# --- folding ----------------------------------------------------------------------------------------------------------


@handles(any)
def _any(tracer: Tracer, iterable: Value) -> Value:
    return tracer.call(tracer.polyfill(polyfills.any), [iterable], {})


@handles(all)
def _all(tracer: Tracer, iterable: Value) -> Value:
    return tracer.call(tracer.polyfill(polyfills.all), [iterable], {})


@handles(sum)
def _sum(tracer: Tracer, iterable: Value, start: Value = ConstantVariable(0)) -> Value:
    total, waiting = start.realize(), list[VariableTracker]()  # sums of numbers can wait, as nobody sees them made
    for each in tracer.each(iterable):
        waiting.append(each.realize())
        if not _is_number(total) or not _is_number(waiting[-1]):
            total, waiting = functools.reduce(functools.partial(_added, tracer), waiting, total), []
    if all(map(_is_number, [total, *waiting])):
        # Python 3.12 adds floats with compensation, so only the real function gives the right digits.
        return tracer.output.from_python(
            tracer.compute(sum, [item.as_constant() for item in waiting], total.as_constant())
        )
    return functools.reduce(functools.partial(_added, tracer), waiting, total)


def _is_number(item: VariableTracker) -> bool:
    return isinstance(item, ConstantVariable) and item.is_literal() and not isinstance(item, SymIntVariable)


def _added(tracer: Tracer, total: VariableTracker, item: VariableTracker) -> VariableTracker:
    return tracer.binary("+", total, item).realize()


def _extreme(tracer: Tracer, op: str, args: tuple[Value, ...], key: Value | None, default: Value | None) -> Value:
    """Numbers are compared when all are there, since nobody sees it; other items as they come."""
    best: tuple[Value, Value] | None = None
    waiting: list[Value] = []
    if key is None and len(args) > 1:
        operands, function = [arg.realize() for arg in args], max if op == ">" else min
        number = of_several(tracer, function, operands)
        if number is None and any(map(is_open_float, operands)):
            number = applied(function, operands, may_vary=True)
        if number is not None:
            return number
    for item in tracer.each(args[0]) if len(args) == 1 else args:
        waiting.append(item)
        if key is not None or best is not None or operand(item.realize()) is None:
            best, waiting = _best(tracer, op, best, waiting, key), []
    size = greatest(tracer, waiting, sym_max if op == ">" else sym_min)
    if size is not None:
        return size
    best = _best(tracer, op, best, waiting, key)
    if best is not None:
        return best[0]
    if default is None:
        raise Unsupported("raised-exception", "min() or max() of nothing.")
    return default


def _best(
    tracer: Tracer, op: str, best: tuple[Value, Value] | None, items: list[Value], key: Value | None
) -> tuple[Value, Value] | None:
    """The better of the best so far and the items, with its key."""
    for item in items:
        item_key = key_of(tracer, key, item)
        if best is not None and key is None and (chosen := chosen_tensor(tracer, op, best[0], item)) is not None:
            best = chosen, chosen
            continue
        if best is None or tracer.truth(tracer.compare(op, item_key, best[1])):
            best = item, item_key
    return best


def chosen_tensor(tracer: Tracer, op: str, best: Value, item: Value) -> Value | None:
    """The greater or smaller of a tensor of one element and a number or another such, as an operation of the graph.

    None for anything else. As in PyTorch, the result is a tensor, also where Python gives the number.
    """
    operands = [best.realize(), item.realize()]
    tensors = [operand for operand in operands if isinstance(operand, TensorVariable)]
    others = [operand for operand in operands if not isinstance(operand, TensorVariable)]
    if not tensors or any(tensor.fake.sizes for tensor in tensors) or not all(map(_is_plain_number, others)):
        return None
    if len(tensors) == 2:
        return tracer.output.call("call_function", ops.maximum if op == ">" else ops.minimum, [*operands], {})
    return tracer.output.call("call_function", ops.clamp, [tensors[0]], {"min" if op == ">" else "max": others[0]})


def _is_plain_number(value: VariableTracker) -> bool:
    return value.python_type() in (int, float)


@handles(max)
def _max(tracer: Tracer, *args: Value, key: Value | None = None, default: Value | None = None) -> Value:
    return _extreme(tracer, ">", args, key, default)


@handles(min)
def _min(tracer: Tracer, *args: Value, key: Value | None = None, default: Value | None = None) -> Value:
    return _extreme(tracer, "<", args, key, default)


@handles(sorted)
def _sorted(
    tracer: Tracer, iterable: Value, *, key: Value | None = None, reverse: Value = ConstantVariable(False)
) -> Value:
    return tracer.build("list", sorted_items(tracer, tracer.unpack_sized(iterable), key, reverse))
