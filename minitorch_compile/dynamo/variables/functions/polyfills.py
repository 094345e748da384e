"""Functions of Python's library that are written in C, in Python: the tracer follows these instead.

>>> list(chain([1, 2], "ab")), reduce(lambda a, b: a * b, [1, 2, 3]), list(islice(count(5), 1, 6, 2))
([1, 2, 'a', 'b'], 6, [6, 8, 10])
"""

# ruff: noqa: SIM110  any() and all() are what is defined here

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

_MISSING = object()


def any(iterable: Iterable[Any]) -> bool:
    for item in iterable:
        if item:
            return True
    return False


def all(iterable: Iterable[Any]) -> bool:
    for item in iterable:
        if not item:
            return False
    return True


def reduce(function: Callable[[Any, Any], Any], iterable: Iterable[Any], initial: Any = _MISSING) -> Any:
    iterator = iter(iterable)
    if initial is _MISSING:
        initial = next(iterator, _MISSING)
        if initial is _MISSING:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in iterator:
        initial = function(initial, item)
    return initial


def iterate_by_index(sequence: Any) -> Iterator[Any]:
    """What iter() does for a class that has `__getitem__` but not `__iter__`."""
    position = 0
    while True:
        try:
            item = sequence[position]
        except IndexError:
            return
        yield item
        position += 1


def two_of_each(pairs: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """The keys and values that an OrderedDict takes from an iterable of pairs."""
    for pair in pairs:
        parts = iter(pair)
        key, value = next(parts, _MISSING), next(parts, _MISSING)
        if value is _MISSING:
            raise ValueError(f"need more than {'0 values' if key is _MISSING else '1 value'} to unpack")
        if next(parts, _MISSING) is not _MISSING:
            raise ValueError("too many values to unpack (expected 2)")
        yield key, value


def chain(*iterables: Iterable[Any]) -> Iterator[Any]:
    for iterable in iterables:
        yield from iterable


def repeat(item: Any, times: int | None = None) -> Iterator[Any]:
    while times is None or times > 0:
        yield item
        if times is not None:
            times -= 1


def count(start: Any = 0, step: Any = 1) -> Iterator[Any]:
    while True:
        yield start
        start += step


def islice(iterable: Iterable[Any], *bounds: int | None) -> Iterator[Any]:
    chosen = slice(*bounds)
    start, stop, step = chosen.start or 0, chosen.stop, chosen.step or 1
    position = 0
    iterator = iter(iterable)
    while stop is None or position < stop:
        item = next(iterator, _MISSING)
        if item is _MISSING:
            return
        if position >= start and (position - start) % step == 0:
            yield item
        position += 1


def product(*iterables: Iterable[Any], repeat: int = 1) -> Iterator[tuple[Any, ...]]:
    results: list[tuple[Any, ...]] = [()]
    for pool in [tuple(iterable) for iterable in iterables] * repeat:
        results = [(*head, item) for head in results for item in pool]
    yield from results


def accumulate(
    iterable: Iterable[Any], func: Callable[[Any, Any], Any] | None = None, *, initial: Any = None
) -> Iterator[Any]:
    iterator = iter(iterable)
    total = initial
    if initial is None:
        total = next(iterator, _MISSING)
        if total is _MISSING:
            return
    yield total
    for item in iterator:
        total = total + item if func is None else func(total, item)
        yield total


def pairwise(iterable: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    iterator = iter(iterable)
    before = next(iterator, _MISSING)
    for item in iterator:
        yield before, item
        before = item


def zip_longest(*iterables: Iterable[Any], fillvalue: Any = None) -> Iterator[tuple[Any, ...]]:
    iterators = [iter(iterable) for iterable in iterables]
    while True:
        items = [next(iterator, _MISSING) for iterator in iterators]
        ended = 0
        for item in items:
            if item is _MISSING:
                ended += 1
        if ended == len(items):
            return
        yield tuple([fillvalue if item is _MISSING else item for item in items])


def combinations(iterable: Iterable[Any], r: int) -> Iterator[tuple[Any, ...]]:
    pool = tuple(iterable)
    chosen: list[tuple[int, ...]] = [()]
    for _ in range(r):
        chosen = [(*head, i) for head in chosen for i in range(head[-1] + 1 if head else 0, len(pool))]
    for positions in chosen:
        yield tuple([pool[i] for i in positions])


def combinations_with_replacement(iterable: Iterable[Any], r: int) -> Iterator[tuple[Any, ...]]:
    pool = tuple(iterable)
    chosen: list[tuple[int, ...]] = [()]
    for _ in range(r):
        chosen = [(*head, i) for head in chosen for i in range(head[-1] if head else 0, len(pool))]
    for positions in chosen:
        yield tuple([pool[i] for i in positions])


def permutations(iterable: Iterable[Any], r: int | None = None) -> Iterator[tuple[Any, ...]]:
    pool = tuple(iterable)
    chosen: list[tuple[int, ...]] = [()]
    for _ in range(len(pool) if r is None else r):
        chosen = [(*head, i) for head in chosen for i in range(len(pool)) if i not in head]
    for positions in chosen:
        yield tuple([pool[i] for i in positions])


def batched(iterable: Iterable[Any], n: int) -> Iterator[tuple[Any, ...]]:
    if n < 1:
        raise ValueError("n must be at least one")
    batch: list[Any] = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def chain_from_iterable(iterables: Iterable[Iterable[Any]]) -> Iterator[Any]:
    for iterable in iterables:
        yield from iterable


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    for item, selected in zip(data, selectors):
        if selected:
            yield item


def cycle(iterable: Iterable[Any]) -> Iterator[Any]:
    seen = []
    for item in iterable:
        yield item
        seen.append(item)
    while seen:
        for item in seen:
            yield item


def filterfalse(predicate: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def groupby(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Groups can be consumed only until the next one is asked for."""
    iterator = iter(iterable)
    current = next(iterator, _MISSING)
    while current is not _MISSING:
        wanted = current if key is None else key(current)

        def group(wanted: Any) -> Iterator[Any]:
            nonlocal current
            while current is not _MISSING and (current if key is None else key(current)) == wanted:
                item = current
                current = next(iterator, _MISSING)
                yield item

        this_group = group(wanted)
        yield wanted, this_group
        for _ in this_group:
            pass


def tee(iterable: Iterable[Any], n: int = 2) -> tuple[Iterator[Any], ...]:
    iterator = iter(iterable)
    seen: list[Any] = []

    def copy() -> Iterator[Any]:
        position = 0
        while True:
            if position == len(seen):
                item = next(iterator, _MISSING)
                if item is _MISSING:
                    return
                seen.append(item)
            yield seen[position]
            position += 1

    return tuple([copy() for _ in range(n)])


def count_elements(mapping: Any, iterable: Iterable[Any]) -> None:
    """What collections.Counter does in C."""
    for element in iterable:
        mapping[element] = mapping.get(element, 0) + 1


def starmap(function: Callable[..., Any], iterable: Iterable[Any]) -> Iterator[Any]:
    for args in iterable:
        yield function(*args)


def takewhile(predicate: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    for item in iterable:
        if not predicate(item):
            return
        yield item


def dropwhile(predicate: Callable[[Any], Any], iterable: Iterable[Any]) -> Iterator[Any]:
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item
