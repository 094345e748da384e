"""Expressions mean what Python's arithmetic means; equal polynomials are equal expressions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitorch_compile.symbolic.expression import (
    Symbol,
    as_expression,
    floor_division,
    maximum,
    minimum,
    symbol,
    text_of,
)
from minitorch_compile.symbolic.ranges import Range, range_of

NAMES = "abc"
OPERATIONS = {
    "+": (lambda x, y: x + y, lambda x, y: x + y),
    "-": (lambda x, y: x - y, lambda x, y: x - y),
    "*": (lambda x, y: x * y, lambda x, y: x * y),
    "//": (lambda x, y: x // y, lambda x, y: x // y),
    "%": (lambda x, y: x % y, lambda x, y: x % y),
    "max": (maximum, max),
    "min": (minimum, min),
}

leaves = st.sampled_from(NAMES) | st.integers(-6, 12)
trees = st.recursive(leaves, lambda part: st.tuples(st.sampled_from(sorted(OPERATIONS)), part, part), max_leaves=6)
values = st.fixed_dictionaries({name: st.integers(2, 40) for name in NAMES})


def build(tree):
    if isinstance(tree, tuple):
        return OPERATIONS[tree[0]][0](build(tree[1]), build(tree[2]))
    return symbol(tree) if isinstance(tree, str) else as_expression(tree)


def python(tree, numbers):
    if isinstance(tree, tuple):
        return OPERATIONS[tree[0]][1](python(tree[1], numbers), python(tree[2], numbers))
    return numbers[tree] if isinstance(tree, str) else tree


@settings(max_examples=400)
@given(trees, values)
def test_values_substitution_and_text_agree_with_python(tree, numbers):
    try:
        expression, expected = build(tree), python(tree, numbers)
    except ZeroDivisionError:
        return
    by_symbol = {Symbol(name): value for name, value in numbers.items()}
    assert expression.evaluate(by_symbol) == expected
    assert expression.substitute({s: as_expression(v) for s, v in by_symbol.items()}).constant == expected
    assert eval(str(expression), {}, dict(numbers)) == expected


@settings(max_examples=300)
@given(trees, values)
def test_a_range_contains_every_value(tree, numbers):
    try:
        expression, value = build(tree), python(tree, numbers)
    except ZeroDivisionError:
        return
    known = {Symbol(name): Range(2, 40) for name in NAMES}
    lower, upper = range_of(expression, known)
    assert lower <= value <= upper


def test_the_range_of_a_division_of_many_divisions_is_found_at_all():
    size = symbol("a")
    for _ in range(60):  # of layers, each of which halves what it is given; asked twice a layer, it took 2**60 steps
        size = (size - 1) // 2 + 1
    lower, upper = range_of(size - 1, {Symbol("a"): Range(2, 40)})
    assert (lower, upper) == (0, 0)


def test_equal_polynomials_are_equal_whichever_way_they_were_made():
    a, b = symbol("a"), symbol("b")
    assert (a + b) * (a + b) == a * a + 2 * a * b + b * b
    assert (a * b * 6) // (2 * b) == 3 * a
    assert (a * b + a) // (b + 1) == a
    assert (4 * a + 6) // 4 == a + 1 + (0 * b)
    assert a * 8 % 4 == as_expression(0)
    assert (a - 1) // 2 + 1 == (a + 1) // 2


def test_only_equal_expressions_have_no_unknown_left_in_their_difference():
    a = symbol("a")
    assert (a - a).constant == 0 and (a + 3 - a).constant == 3 and (2 * a - a).constant is None
    assert maximum(a + 1, a) == a + 1


def test_dividing_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        floor_division(symbol("a"), as_expression(0))


def test_the_text_names_symbols_as_one_likes():
    names = {"a": "x.sizes[0]", "b": "y.sizes[1]"}
    expression = (symbol("a") * 2 - symbol("b")) // 3
    assert text_of(expression, lambda s: names[s.name]) == "(2*x.sizes[0] - y.sizes[1])//3"


@pytest.mark.parametrize("depth", (1, 3, 7))
def test_ranges_of_nested_divisions_hold_and_end(depth: int) -> None:
    """Each order of taking sums of divisions apart would be tried, of seven levels for hours."""
    s = symbol("s")
    known = {Symbol("s"): Range(2, 40)}
    nested, halved = s, s
    for _ in range(depth):
        nested, halved = (3 * nested - 1) // 2, (halved + 1) // 2 + halved // 3
    for expression in (nested - s, nested * nested - nested - s, halved - s):
        found = range_of(expression, known)
        values = [expression.evaluate({Symbol("s"): size}) for size in range(2, 41)]
        assert found.lower <= min(values) and max(values) <= found.upper
    assert range_of(halved - s, known).upper <= 0
