"""Iterators that a compiled function is handed give what the plain function gets, and are as far along afterwards."""

from __future__ import annotations

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.testing import CompileCounter

x = torch.tensor([1.0, 2.0])


def first(x, items, others=None):
    return x * next(items)


def pairs(x, items, others=None):
    for a, b in zip(items, items):
        x = x * a + b
    return x


def two_names(x, items, others):
    return x * next(items) + next(others)


def rest(x, items, others=None):
    for item in items:
        x = x + item
    return x, next(items, None)


def with_default(x, items, others=None):
    return [x + next(items, 7), next(items, 7)]


def broken(x, items, others=None):
    x = x + next(items)
    torch._dynamo.graph_break()
    x = x * next(items)
    torch._dynamo.graph_break()
    return x, items


def in_a_broken_loop(x, items, others=None):
    for item in items:
        x = x * item
        torch._dynamo.graph_break()
    return x


PROGRAMS = [first, pairs, two_names, rest, with_default, broken, in_a_broken_loop]
MAKERS = {
    "tuple": lambda: iter((2, 3, 4, 5)),
    "list": lambda: iter([2, 3, 4, 5]),
    "range": lambda: iter(range(2, 6)),
    "empty": lambda: iter([]),
}


def outcome(function, taken, make):
    items = make()
    for _ in range(taken):
        next(items, None)
    try:
        given = function(x, items, items)
    except (StopIteration, RuntimeError) as error:
        given = type(error)
    flat = given if isinstance(given, (tuple, list)) else [given]
    return [v.tolist() if isinstance(v, torch.Tensor) else "items" if v is items else v for v in flat], list(items)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("function", PROGRAMS)
def test_it_gives_the_same_and_is_left_the_same(function, make):
    compiled = torch.compile(function, backend="eager")
    for taken in (0, 1, 0, 3, 4):
        assert outcome(compiled, taken, make) == outcome(function, taken, make)


def test_a_list_that_grows_meanwhile_is_seen_to_grow():
    def grow(x, items, known):
        x = x + next(items)
        known.append(10)
        x = x + next(items)
        return x, next(items, None)

    compiled = torch.compile(grow, backend="eager")
    for function in (grow, compiled, compiled):
        known = [1]
        items = iter(known)
        given, end = function(x, items, known)
        assert (given.tolist(), end, known, list(items)) == ([12.0, 13.0], None, [1, 10], [])


def test_an_iterator_stays_at_its_end_when_the_list_grows_later():
    def finish(x, items, known):
        x = x + next(items) + next(items, 5)
        known.append(10)
        return x

    for function in (finish, torch.compile(finish, backend="eager")):
        known = [1]
        items = iter(known)
        assert function(x, items, known).tolist() == [7.0, 8.0]
        assert list(items) == []


def test_an_iterator_across_a_break_is_one_graph_more():
    counter = CompileCounter()
    compiled = torch.compile(broken, backend=counter)
    for _ in range(3):
        compiled(x, iter((2.0, 3.0, 4.0)))
    assert counter.frame_count == 2


def test_a_loop_with_a_break_has_as_many_graphs_for_many_rounds_as_for_few():
    def rounds(x, count):
        for _ in range(count):
            x = x + 1
            torch._dynamo.graph_break()
        return x

    counter = CompileCounter()
    compiled = torch.compile(rounds, backend=counter)
    compiled(x, 3)
    few = counter.frame_count
    assert compiled(x, 40).tolist() == [41.0, 42.0]
    assert counter.frame_count <= few + 1
