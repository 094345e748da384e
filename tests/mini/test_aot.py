"""Functionalization, the joint graph and its two halves, a compiled call as one step of the tape."""

import numpy as np
import pytest
from mini import ops, tape
from mini.aot import Functional, aot, joint_graph, partition
from mini.breaks import Region
from mini.graph import trace
from mini.tensor import from_numpy, tensor

from .programs import r


def compiled(f):
    return Region(f, aot(lambda graph: graph.run))


def swapped(a, b):
    t = a.clone()
    a.copy_(b)
    b.copy_(t)
    return a + b


def shifted(a, b):
    a.copy_(b)
    b.add_(1)
    return a * b


def copied(a, b):
    z = a * 1
    z.copy_(b)
    b.add_(1)
    return z


def sliced(a, b):
    y = a * 1
    y[:, 1:].mul_(b[:, 1:])
    y.transpose(0, 1)[0].copy_(b[:, 0] * 3)
    z = y.reshape(6)
    z[::2] = 5
    return y.sum(0), z


@pytest.mark.parametrize("f", [swapped, shifted, copied, sliced])
def test_writes_are_values_and_reach_the_arguments(f):
    args = [r(2, 3), r(2, 3)]
    mine = [from_numpy(x.numpy().copy()) for x in args]
    wanted, got = f(*args), compiled(f)(*mine)
    wanted, got = [out if isinstance(out, tuple) else (out,) for out in (wanted, got)]
    for a, b in zip((*wanted, *args), (*got, *mine), strict=True):
        assert np.allclose(a.numpy(), b.numpy())
    graph = trace(Functional(trace(f, *args)), *args)
    assert not any(node.writes for node in graph.nodes)


def test_writes_through_views_have_gradients():
    """Eagerly the tape refuses it; the formula is written without writes."""
    x, y = r(2, 3), r(2, 3)
    x.requires_grad = y.requires_grad = True
    out, flat = compiled(sliced)(x, y)
    ((out * out).sum() + flat.sum()).backward()
    with tape.no_grad():
        column = x.numpy() * y.numpy()
        column[:, 0] = 3 * y.numpy()[:, 0]
        column.reshape(-1)[::2] = 5
    slope = 2 * column.sum(0) + 1
    kept = np.ones((2, 3))
    kept.reshape(-1)[::2] = 0
    by_x, by_y = kept * slope * y.numpy(), kept * slope * x.numpy()
    by_x[:, 0], by_y[:, 0] = 0, kept[:, 0] * slope[0] * 3
    assert np.allclose(x.grad.numpy(), by_x) and np.allclose(y.grad.numpy(), by_y)


def test_an_argument_that_was_written_to_has_a_history():
    def f(x, total):
        total.add_(x * x)
        return x * 2

    for g in (f, compiled(f)):
        x, total = tensor([3.0], requires_grad=True), tensor([1.0])
        g(x, total)
        (total * 2).sum().backward()
        assert x.grad.tolist() == [12]


def test_without_gradients_nothing_is_noted():
    x = tensor([3.0], requires_grad=True)
    with tape.no_grad():
        assert not compiled(lambda x: x * 2)(x).requires_grad
    a, b = compiled(lambda x, y: (x * 2, y * 2))(x, tensor([1.0]))
    assert a.requires_grad and not b.requires_grad


def test_what_was_written_to_after_it_was_saved_is_refused():
    for after in (False, True):
        x, y = tensor([3.0], requires_grad=True), tensor([2.0])
        out = compiled(lambda x, y: x * y)(x, y).sum()
        if after:
            y.add_(1)
            with pytest.raises(RuntimeError, match="written to"):
                out.backward()
        else:
            out.backward()
            with pytest.raises(RuntimeError, match="second time"):
                out.backward()


def test_a_write_to_elements_that_are_one_is_refused():
    def f(x):
        y = x * 1
        y.expand(3, 2).copy_(ops.full((3, 2), 1, "float32"))
        return y

    with pytest.raises(RuntimeError, match="one in memory"):
        compiled(f)(tensor([1.0, 2.0]))


def test_only_products_are_saved():
    x, w = r(2, 3), r(3, 4)
    w.requires_grad = True
    forward, backward = partition(joint_graph(Functional(trace(lambda x, w: (x @ w).exp().tanh() * 2, x, w))), 1)
    assert [str(node) for node in forward.outputs[1:]] == ["x0", "matmul"]
    assert "exp" in [str(node.op) for node in backward.nodes]
