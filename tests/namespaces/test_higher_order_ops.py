"""associative_scan gives what combining one after another gives; foreach_map is a loop."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile._higher_order_ops.associative_scan import associative_scan
from minitorch_compile._higher_order_ops.foreach_map import foreach_map


def one_by_one(combine, xs, reverse):
    """Of a pair of sequences along the first dimension."""
    order = range(xs[0].shape[0])[:: -1 if reverse else 1]
    results = {}
    kept = None
    for i in order:
        kept = tuple(x[i] for x in xs) if kept is None else combine(kept, tuple(x[i] for x in xs))
        results[i] = kept
    return tuple(torch.stack([results[i][k] for i in sorted(results)]) for k in range(len(xs)))


def affine(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_recurrence(length, reverse):
    torch.manual_seed(length)
    xs = (torch.rand(length, 3, dtype=torch.float64), torch.randn(length, 3, dtype=torch.float64))
    wanted = one_by_one(affine, xs, reverse)
    torch.testing.assert_close(associative_scan(affine, xs, 0, reverse), wanted)
    turned = associative_scan(affine, tuple(x.T for x in xs), -1, reverse, combine_mode="generic")
    torch.testing.assert_close(tuple(x.T for x in turned), wanted)


def test_elements_are_without_the_dimension():
    matrices = torch.randn(5, 2, 2, dtype=torch.float64)
    found = associative_scan(torch.matmul, matrices, 0, combine_mode="generic")
    torch.testing.assert_close(found[4], torch.linalg.multi_dot(list(matrices)))


def test_gradients_and_compiled():
    x = torch.rand(6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: associative_scan(torch.mul, x, 0), x)
    compiled = torch.compile(lambda x: associative_scan(torch.mul, x, 0), fullgraph=True)
    torch.testing.assert_close(compiled(x), x.cumprod(0))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((1, torch.ones(2), 0), ValueError, "callable"),
        ((torch.add, torch.ones(2), None), ValueError, "an int"),
        ((torch.add, torch.ones(2), 0, False, "fast"), ValueError, "combine_mode"),
        ((torch.add, [1], 0), ValueError, "must be tensors"),
        ((torch.add, torch.ones(2), 1), RuntimeError, "out of range"),
        ((affine, (torch.ones(2), torch.ones(3)), 0), RuntimeError, "one size"),
        ((torch.add, torch.ones(0), 0), RuntimeError, "above 0"),
        ((lambda a, b: (a, b), torch.ones(2), 0), RuntimeError, "nested as xs"),
    ],
)
def test_what_is_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        associative_scan(*arguments)


def test_foreach_map_is_one_graph():
    xs, counter = [torch.ones(2), torch.zeros(3)], torch._dynamo.testing.CompileCounter()
    assert [x.tolist() for x in foreach_map(torch.add, xs, xs, alpha=2)] == [[3.0, 3.0], [0.0, 0.0, 0.0]]
    assert foreach_map(torch.neg, torch.ones(1)).tolist() == [-1.0]
    compiled = torch.compile(lambda xs: foreach_map(torch.lerp, xs, foreach_map(torch.exp, xs), 0.5), backend=counter)
    torch.testing.assert_close(compiled(xs), [(x + x.exp()) / 2 for x in xs])
    assert (counter.frame_count, counter.op_count) == (1, 4)


def test_same_looks_into_arrays_and_namedtuples_made_anew():
    def made(value):
        return namedtuple("Made", "a b")(np.full(2, value), 1)

    same = torch._dynamo.testing.same
    assert same(made(1.0), made(1.0)) and not same(made(1.0), made(2.0)) and not same([1], (1,))
