"""select is np.where, to the bit."""

import numpy as np
import pytest

from minitorch_compile.tensor.cpu.branchless_where import WORTH_IT, select

SHAPES = [
    ((200, 100), (200, 100), (200, 100)),
    ((200, 1), (200, 100), (100,)),
    ((200, 100), (1, 100), ()),
    ((200, 100), (), (200, 1)),
    ((3,), (3,), (3,)),
    ((0, 4), (0, 4), ()),
]


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("element", ["f2", "f4", "f8", "i1", "i2", "i8", "u1", "?", "c8"])
def test_every_dtype_and_broadcast(element, shapes):
    rng = np.random.default_rng(0)
    condition = rng.random(shapes[0]) < 0.5
    a, b = ((rng.standard_normal(shape) * 9).astype(element)[()] for shape in shapes[1:])
    zero = np.zeros((), element)[()]
    for left, right in ((a, b), (a, zero), (zero, b), (a.T, b) if a.shape == b.T.shape else (b, a)):
        expected = np.where(condition, left, right)
        chosen = select(condition, left, right)
        assert chosen.dtype == expected.dtype and chosen.tobytes() == expected.tobytes()


def test_what_is_not_chosen_leaves_no_trace():
    condition = np.arange(WORTH_IT) % 2 == 0
    numbers = np.where(condition, np.float32(-0.0), np.float32(np.nan))
    kept = select(condition, numbers, np.float32(np.inf))
    assert np.signbit(kept[::2]).all() and (kept[::2] == 0).all() and (kept[1::2] == np.inf).all()
    assert (select(condition, np.float32(0), np.full(WORTH_IT, np.inf, np.float32))[::2] == 0).all()


def test_a_transposed_condition():
    rng = np.random.default_rng(0)
    condition, x = (rng.random((300, 100)) < 0.5).T, rng.standard_normal((300, 100)).T
    assert (select(condition, x, -x) == np.where(condition, x, -x)).all()
