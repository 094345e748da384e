"""The native loops give the very numbers that NumPy gives."""

import numpy as np
import pytest

from minitorch_compile.tensor import manual_seed, rand
from minitorch_compile.tensor.random.philox import LONG, _uniform_of, philox, uniform
from minitorch_compile.tensor.random.philox_native import fill_uniform32, fill_uniform64

PLACES = [(0, 0), (7, 5), (2**64 - 1, 2**32 - 3), (12345678901234567890, 2**40 + 1), (3, 2**63)]


@pytest.mark.parametrize(("seed", "offset"), PLACES)
@pytest.mark.parametrize(("element", "fill"), [("f4", fill_uniform32), ("f8", fill_uniform64)])
def test_every_bit_is_the_same(seed, offset, element, fill):
    numbers = np.empty(100, element)
    fill(np.uint64(seed), np.uint64(offset), numbers)
    counters = np.arange(100, dtype=np.uint64) + np.uint64(offset)
    assert (numbers == _uniform_of(philox(seed, counters), np.dtype(element))).all()


@pytest.mark.parametrize("element", ["f2", "f4", "f8"])
def test_long_draws_continue_short_ones(element):
    long = uniform(5, 3, LONG, np.dtype(element))
    parts = [uniform(5, 3 + start, LONG // 4, np.dtype(element)) for start in range(0, LONG, LONG // 4)]
    assert long.dtype == np.dtype(element) and (long == np.concatenate(parts)).all()


def test_a_tensor_is_one_draw_or_many():
    manual_seed(0)
    whole = rand(2 * LONG)
    manual_seed(0)
    assert (whole[:LONG] == rand(LONG)).all() and (whole[LONG:] == rand(LONG)).all()
