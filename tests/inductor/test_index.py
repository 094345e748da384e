"""Index algebra against plain integer arithmetic at every point."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitorch_compile.inductor.ir.index import Digit, Index, Symbol, flatten, index, symbol, unflatten, variables

VARIABLES = [symbol("i", 3), symbol("j", 4), symbol("k", 5), symbol("u", 1)]


def evaluate(expression, point):
    """The value at a point, by the definition of each kind of term."""
    total = expression.constant
    for atom, count in expression.terms:
        if isinstance(atom, Symbol):
            value = point[atom]
        else:
            assert isinstance(atom, Digit)
            value = evaluate(atom.base, point) // atom.divisor
            value = value % atom.modulus if atom.modulus else value
        total += count * value
    return total


def points():
    symbols = [v.terms[0][0] for v in VARIABLES]
    for values in itertools.product(*(range(s.size) for s in symbols)):
        yield dict(zip(symbols, values))


def program():
    """A random expression as a list of steps, so that the same steps can be run on integers."""
    step = st.one_of(
        st.tuples(st.just("add"), st.integers(0, 3), st.integers(-6, 12)),
        st.tuples(st.just("mul"), st.sampled_from([-1, 2, 3, 4, 6])),
        st.tuples(st.just("floordiv"), st.integers(1, 12)),
        st.tuples(st.just("mod"), st.integers(1, 12)),
        st.tuples(st.just("shift"), st.integers(-9, 9)),
    )
    return st.lists(step, min_size=1, max_size=7)


def run(steps, variables, start):
    value = start
    for step in steps:
        match step:
            case ("add", which, factor):
                value = value + variables[which] * factor
            case ("mul", factor):
                value = value * factor
            case ("floordiv", divisor):
                value = value // divisor
            case ("mod", modulus):
                value = value % modulus
            case ("shift", amount):
                value = value + amount
    return value


@settings(max_examples=300)
@given(program())
def test_simplified_expressions_equal_plain_arithmetic_everywhere(steps):
    expression = run(steps, VARIABLES, index(0))
    low, high = expression.bounds()
    for point in points():
        expected = run(steps, list(point.values()), 0)
        assert evaluate(expression, point) == expected, expression
        assert low <= expected <= high


@settings(max_examples=100)
@given(program(), st.integers(0, 3), program())
def test_substituting_is_evaluating_at_the_substituted_value(steps, which, inner_steps):
    size = VARIABLES[which].terms[0][0].size  # what replaces a variable stays in its range
    inner = run(inner_steps, VARIABLES, index(0)) % size
    expression = run(steps, VARIABLES, index(0)).substitute({VARIABLES[which]: inner})
    names = [v.terms[0][0] for v in VARIABLES]
    for point in points():
        values = list(point.values())
        values[which] = run(inner_steps, list(point.values()), 0) % size
        assert evaluate(expression, dict(zip(names, point.values()))) == run(steps, values, 0)


SHAPES = [(24,), (2, 12), (4, 6), (2, 3, 4), (6, 4), (12, 2), (3, 8), (8, 3), (2, 2, 2, 3), (1, 24), (4, 1, 6), (24, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("start", SHAPES)
def test_a_reshape_and_its_inverse_cancel(start, shape):
    position = variables("p", start)
    there = unflatten(flatten(position, start), shape)
    back = unflatten(flatten(there, shape), start)
    assert back == position


def test_a_reshape_that_only_splits_or_merges_leaves_no_digit():
    i, j, k = symbol("i", 2), symbol("j", 3), symbol("k", 4)
    assert unflatten(flatten([i, j, k], [2, 3, 4]), [6, 4]) == (3 * i + j, k)
    assert all(part.is_affine for part in unflatten(flatten([i, j, k], [2, 3, 4]), [6, 4]))


def test_equal_meaning_gives_equal_form():
    i, j = symbol("i", 8), symbol("j", 4)
    assert i * 4 + j == j + 4 * i
    assert hash(i * 4 + j) == hash(j + i * 4)
    assert (i + i) - i == i
    assert i - i == index(0)
    assert (i * 12 + 5 + j * 3) % 3 == index(2)
    assert (i % 4) % 2 == i % 2
    assert (i // 2) // 3 == i // 6


def test_questions_about_strides():
    i, j = symbol("i", 8), symbol("j", 4)
    address = 12 * i + (j // 2) + 3
    assert address.coefficient(i) == 12
    assert address.depends_on(j) and address.in_digits(j) and not address.in_digits(i)
    assert not address.is_affine
    assert symbol("t", 5, indirect=True).is_indirect
    assert isinstance(address, Index)
