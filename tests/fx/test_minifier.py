"""The minifier keeps the failure, loses the rest, and leaves no node that could go."""

import operator

import pytest

from minitorch_compile.fx import symbolic_trace
from minitorch_compile.fx.minifier import Case, chunks, minify, results


def contains(*targets):
    def fails(case):
        case.module(*case.inputs)  # a proposal that can't run is a mistake
        found = {node.target for node in case.module.graph.nodes}
        return all(target in found for target in targets)

    return fails


def long_program(x, y):
    for step in range(20):
        x = x * 2 + step
        y = y - x
    z = x % 7
    for _ in range(20):
        z = z + y
    return z, x, y


def test_one_operation_is_left_of_a_long_program():
    module = symbolic_trace(long_program)
    small = minify(Case(module, [3, 4]), contains(operator.mod))
    assert small.module.graph.compact() == "add_19 -> (add_19 % 7,)"


def test_two_operations_far_apart_are_both_kept():
    def program(x):
        a = x % 7
        for _ in range(10):
            a = a + 1
        return a // 2

    small = minify(Case(symbolic_trace(program), [50]), contains(operator.mod, operator.floordiv))
    calls = [node.target for node in small.module.graph.nodes if node.op == "call_function"]
    assert calls.count(operator.mod) == calls.count(operator.floordiv) == 1
    assert len(calls) <= 3


def test_arguments_have_the_values_they_had_inside_the_program():
    def program(x):
        return (x + 1) * (x + 2) % 7

    small = minify(Case(symbolic_trace(program), [5]), contains(operator.mod))
    assert small.inputs == [42]
    assert small.module(*small.inputs) == (0,)


def test_a_write_to_what_is_returned_is_kept():
    def program(items):
        items.append(1)
        return items, 0

    module = symbolic_trace(program)

    def last_is_one(case):
        result = case.module(*map(list, case.inputs))[0]
        return bool(result) and result[-1] == 1

    small = minify(Case(module, [[0]]), last_is_one, lambda v: list(v) if isinstance(v, list) else v)
    assert last_is_one(small)


def test_a_case_that_does_not_fail_is_refused():
    with pytest.raises(ValueError, match="does not fail"):
        minify(Case(symbolic_trace(lambda x: x + 1), [1]), lambda case: False)


def test_the_number_of_trials_is_bounded():
    trials = []

    def fails(case):
        trials.append(case)
        return len(case.module.graph.nodes) > 1

    minify(Case(symbolic_trace(long_program), [3, 4]), fails, most_trials=5)
    assert len(trials) <= 6


def test_chunks_cover_everything_at_every_length():
    for count in range(2, 9):
        nodes = list(range(count))
        covered = [n for chunk in chunks(nodes) for n in chunk]
        assert set(covered) == set(nodes)


def test_results_are_listed_once():
    module = symbolic_trace(lambda x: (x, [x + 1, x]))
    assert [node.name for node in results(module.graph)] == ["x", "add"]
