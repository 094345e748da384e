"""Gradients against finite differences."""

import numpy as np
import pytest
from mini import tape
from mini.tensor import tensor

from .programs import CASES, r


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES])
def test_gradients_are_those_of_finite_differences(f, args):
    for x in args:
        x.requires_grad, x.grad = True, None
    out = f(*args)
    weights = r(*out.sizes)
    (out * weights).sum().backward()
    for x in args:
        array, step = x.numpy(), 1e-6
        for at in np.ndindex(*x.sizes):
            here, ends = array[at], []
            with tape.no_grad():
                for moved in (here + step, here - step):
                    array[at] = moved
                    ends.append((f(*args) * weights).sum().item())
            array[at] = here
            assert abs((ends[0] - ends[1]) / (2 * step) - x.grad.numpy()[at]) < 1e-5


def test_what_was_written_to_after_it_was_read_is_refused():
    x = tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    w = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="written"):
        w.sum().backward()
