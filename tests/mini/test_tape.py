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


def leaf(*numbers):
    return tensor(numbers, requires_grad=True)


def test_what_needs_no_numbers_may_be_written_to():
    x = leaf(1.0, 2.0)
    y = x * 2
    w = y + 1  # its gradient reads nothing
    y.add_(1)
    w.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_write_replaces_the_history():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    z = x * 2
    z.copy_(y * 3)
    z.sum().backward()
    assert x.grad is None and y.grad.tolist() == [3, 3]
    z = x * 2
    z.copy_(tensor([1.0, 1.0]))
    assert not z.requires_grad and z.grad_fn is None


def test_a_write_through_a_view_is_refused_where_it_would_be_missed():
    x, buffer = leaf(1.0), tensor([0.0, 0.0])
    buffer[:1] = x * 2
    with pytest.raises(RuntimeError, match="through another view"):
        buffer * 1
    view, fresh = tensor([1.0])[:], tensor([1.0])
    view.copy_(x)  # a view of everything is one, too
    assert (view * 2).requires_grad and not (fresh * 2).requires_grad


def test_errors():
    x = leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="sizes"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match="no history"):
        tensor([1.0]).backward()
    with pytest.raises(RuntimeError, match="leaf"):
        x.add_(1)
    loss = (x * x).sum()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


@pytest.mark.parametrize("f, x, wanted", [
    (lambda x: tape.ops.maximum(x, tape.ops.full((), 1, "float32")), (0.0, 1.0, 2.0), [0, 0.5, 1]),
    (lambda x: x.amax(0, True), (3.0, 1.0, 3.0), [0.5, 0, 0.5]),
    (lambda x: x.relu(), (-1.0, 0.0, 1.0), [0, 0, 1]),
])  # fmt: skip
def test_where_there_is_no_slope_the_equals_share(f, x, wanted):
    x = leaf(*x)
    f(x).sum().backward()
    assert x.grad.tolist() == wanted


def test_grad_of_what_does_not_depend_on_it_is_zero_and_no_grad_outside_does_not_matter():
    assert tape.grad(lambda x: tensor(1.0))(tensor([1.0, 2.0])).tolist() == [0, 0]
    with tape.no_grad():
        assert tape.grad(lambda x: x * x)(tensor(3.0)).item() == 6


def test_a_tape_of_20000_notes_is_walked():
    x = y = leaf(1.0)
    for _ in range(20000):
        y = y * 1
    y.sum().backward()
    assert x.grad.tolist() == [1]


def test_gradients_of_gradients_reach_leaves():
    x = leaf(2.0)
    tape.grad(lambda v: (v * v * v).sum())(x).sum().backward()
    assert x.grad.tolist() == [12]
