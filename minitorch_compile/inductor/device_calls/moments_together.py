"""A sum, and the sum of squared distances from the mean that it gives, in one pass over memory.

The second sum seems to need the first: sum((x - sum(x) / n)**2). But both follow from the sums of d and d**2, where
d = x - a is the distance from any number a:

    sum(x) = n a + sum(d)        sum((x - mean)**2) = sum(d**2) - sum(d)**2 / n

Digits cancel in the difference where a is far from the mean. With an element of the row as a, sum(d**2) is at most
n + 1 times the result, since (a - mean)**2 is one of its terms. So in float64, the 2^18 elements of a channel lose 18
bits of 53 in the worst case: the result is nearer the true one than that of two passes in float32, whose mean is
rounded.

>>> from minitorch_compile.inductor.ir.loops import LoopGraph
>>> x, total, spread = (Buffer.contiguous(n, s, float32) for n, s in (("x", (8, 4)), ("total", (4,)), ("spread", (4,))))
>>> read = lambda ops, at: ops.load(x, x.address(at))
>>> def squared(ops, at):
...     mean = ops.apply("div", ops.load(total, at[1]), ops.constant(8.0, float32))
...     distance = ops.apply("sub", read(ops, at), mean)
...     return ops.apply("mul", distance, distance)
>>> loops = [Loop(total, (8, 4), read, (0,), "sum"), Loop(spread, (8, 4), squared, (0,), "sum")]
>>> for loop in with_moments_together(LoopGraph([x], loops, []), lambda loop: True).operations:
...     print(loop.buffer, loop.reduced)
total_first: float64[4] (0,)
total_second: float64[4] (0,)
total: float32[4] ()
spread: float32[4] ()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from minitorch_compile.inductor.ir.buffer import Buffer, Position
from minitorch_compile.inductor.ir.dependencies import loop_variables
from minitorch_compile.inductor.ir.handler import Handler
from minitorch_compile.inductor.ir.index import ZERO
from minitorch_compile.inductor.ir.loops import Loop, LoopGraph
from minitorch_compile.inductor.ir.terms import Terms
from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import float32, float64


def with_moments_together(graph: LoopGraph, pays: Callable[[Loop], bool]) -> LoopGraph:
    """The same graph, such pairs of sums in one pass. `pays`: of a sum, whether its elements are read again from
    memory otherwise."""
    sums = [o for o in graph.operations if type(o) is Loop and o.kind == "sum" and o.buffer.dtype is float32]
    sums = [loop for loop in sums if pays(loop)]
    if len(sums) < 2:
        return graph
    pairs = pairs_among(sums, {b: o for o in graph.operations if type(o) is Loop for b in o.outputs})
    seconds = set(pairs.values())
    operations = [
        part
        for operation in graph.operations
        if operation not in seconds
        for part in (in_one_pass(operation, pairs[operation]) if operation in pairs else [operation])
    ]
    return replace(graph, operations=operations)


def pairs_among(sums: list[Loop], writers: Mapping[Buffer, Loop]) -> dict[Loop, Loop]:
    """Sums, and that of the squared distances from the mean of each, where there is one."""
    terms, pairs, found = Terms(), dict[Loop, Loop](), dict[object, Loop]()
    for loop in sums:
        number = terms.of(loop)
        found.setdefault((loop.sizes, loop.reduced, number), loop)
        name, *factors = terms[number]
        if name != "mul" or factors[0] != factors[1] or terms[factors[0]][0] != "sub":
            continue
        _, value, centre = terms[factors[0]]
        first = found.get((loop.sizes, loop.reduced, value))
        if first is not None and first not in pairs and is_mean(terms, centre, first, writers):
            pairs[first] = loop
    return pairs


def is_mean(terms: Terms, number: int, first: Loop, writers: Mapping[Buffer, Loop]) -> bool:
    """Whether a term is the mean of what `first` sums up, computed on the spot or stored beside its sum."""
    address = first.address(loop_variables(first))
    name, *parts = terms[number]
    if name == "load":
        buffer, place = parts
        writer = writers.get(buffer)
        if writer is None or writer.is_reduction or buffer.dtype is not float32 or place != address:
            return False
        address = writer.address(loop_variables(writer))
        name, *parts = terms[terms.of(writer)]
    if name != "div" or terms[parts[0]] != ("load", first.buffer, address):
        return False
    count = numel(tuple(first.sizes[d] for d in first.reduced))
    return terms[parts[1]] == ("constant", repr(float(count)), float32)


def in_one_pass(first: Loop, second: Loop) -> list[Loop]:
    """The sums of the distances from an element and of their squares; and what the two loops fill, from these."""
    kept = [d for d in range(len(first.sizes)) if d not in first.reduced]
    count = float(numel(tuple(first.sizes[d] for d in first.reduced)))

    def distance(ops: Handler, at: Position) -> object:
        return ops.apply("sub", ops.convert(first.inner_fn(ops, at), float64), element_of(first, ops, at))

    def squared(ops: Handler, at: Position) -> object:
        return ops.apply("mul", distance(ops, at), distance(ops, at))

    sizes, name = first.buffer.sizes, first.buffer.name
    once, twice = (Buffer.contiguous(f"{name}_{which}", sizes, float64) for which in ("first", "second"))

    def total(ops: Handler, at: Position) -> object:
        whole = [ZERO] * len(first.sizes)
        for d, part in zip(kept, at):
            whole[d] = part
        from_zero = ops.apply("mul", ops.constant(count, float64), element_of(first, ops, whole))
        return ops.convert(ops.apply("add", from_zero, ops.load(once, once.address(at))), float32)

    def spread(ops: Handler, at: Position) -> object:
        distances = ops.load(once, once.address(at))
        less = ops.apply("mul", distances, ops.apply("div", distances, ops.constant(count, float64)))
        return ops.convert(ops.apply("sub", ops.load(twice, twice.address(at)), less), float32)

    return [
        Loop(once, first.sizes, distance, first.reduced, "sum", first.origin),
        Loop(twice, first.sizes, squared, first.reduced, "sum", second.origin),
        Loop(first.buffer, sizes, total, origin=first.origin),
        Loop(second.buffer, sizes, spread, origin=second.origin),
    ]


def element_of(loop: Loop, ops: Handler, at: Position) -> object:
    """The first of the elements that are summed up where `at` is; 0 if it is infinite or NaN, from which distances say
    nothing."""
    element = loop.inner_fn(ops, [ZERO if d in loop.reduced else part for d, part in enumerate(at)])
    wide, none = ops.convert(element, float64), ops.constant(0.0, float64)
    return ops.apply("where", ops.apply("eq", ops.apply("sub", wide, wide), none), wide, none)
