"""Quick kernels that had doubts are followed by careful ones; the results are right either way."""

import numpy as np
import pytest

from minitorch_compile.inductor import compile_graph
from minitorch_compile.inductor.runtime.fast_path import FastPath
from tests.inductor.prim_graphs import assert_close, expected, record, tensors_of
from tests.inductor.programs import floats

FAR = [1.5, 1e20, -3e30, 2.0**60, np.inf, np.nan, -0.0, 7.0]


def compiled(function, *arrays):
    tensors = tensors_of(arrays)
    module = record(function, tensors)
    return compile_graph(module), module, tensors


@pytest.mark.parametrize("element", ["float32", "float64"])
def test_angles_of_any_size_have_a_sine(element):
    run, module, tensors = compiled(lambda p, x: (p.sin(x), p.cos(x), p.exp(x)), np.array(FAR).astype(element))
    assert isinstance(run, FastPath)
    for result, reference in zip(run(*tensors), expected(module, tensors)):
        assert_close(result.array, reference)
    assert run.careful is not None


def test_quotients_of_any_size_have_a_remainder():
    x, y = np.array([1e30, -7.0, 5.5, 1e-30]), np.array([0.3, 2.0, np.inf, -3.0])
    run, module, tensors = compiled(lambda p, x, y: (p.fmod(x, y), p.remainder(x, y)), x, y)
    for result, reference in zip(run(*tensors), expected(module, tensors)):
        assert np.array_equal(result.array, reference)


LARGE = [2**52, 2**52 + 1, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62), 2**63 - 1, -(2**63), 6 * 10**17, 7]


@pytest.mark.parametrize("numerators, doubtful", [(LARGE, True), (range(-(2**52), 2**52, 2**48 + 1), False)])
def test_integers_of_any_size_have_a_quotient(numerators, doubtful):
    divisors = [1, -1, 2, -3, 10, 2**31 + 1, 2**52 - 1, -(2**53) - 1, 2**63 - 1, 0]
    x, y = (part.ravel() for part in np.meshgrid(np.array(numerators, np.int64), np.array(divisors, np.int64)))
    if doubtful:  # with any other divisor: -2**63 // -1 has no int64
        x, y = x[y != -1], y[y != -1]
    run, module, tensors = compiled(lambda p, x, y: (p.div(x, y), p.remainder(x, y), p.fmod(x, y)), x, y)
    for result, reference in zip(run(*tensors), expected(module, tensors)):
        assert np.array_equal(result.array, reference)
    assert (run.careful is not None) == doubtful


def test_nothing_is_computed_twice_without_doubts():
    run, _, tensors = compiled(lambda p, x: p.sin(x), floats(100))
    run(*tensors)
    assert run.careful is None


def test_an_index_out_of_range_is_found_by_the_slow_path():
    x, rows = floats(5, 40), np.array([0, -5, 4])
    run, module, tensors = compiled(lambda p, x, i: p.exp(p.index(x, (i,))), x, rows)
    assert_close(run(*tensors)[0].array, expected(module, tensors)[0])
    assert run.careful is None
    for wrong in (5, -6):
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for dimension with size 5"):
            run(*tensors_of([x, np.array([0, wrong, 1])]))


def test_what_a_mask_leaves_out_raises_no_doubt():
    def program(p, x):
        return p.pad(p.sin(x), (3,), (2,), 0.0)

    run, module, tensors = compiled(program, floats(20))
    assert_close(run(*tensors)[0].array, expected(module, tensors)[0])
    assert run.careful is None
