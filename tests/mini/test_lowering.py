"""Lowering, over awkward inputs: the steps, run element by element in plain Python, and as kernels."""

import mini
import numpy as np
import pytest
from mini import graph, ops
from mini.loops import Lowering
from mini.prims import decompose
from mini.program import Program
from mini.tensor import Tensor, from_numpy

from authoring.checks.lesson_13_loop_ir_and_lowering.run_loops import run_steps

from .programs import CASES


def m(*sizes, dtype="float32"):
    return from_numpy((np.arange(np.prod(sizes, dtype=int)).reshape(sizes) % 7 + 1).astype(dtype))


def part(x, *args):
    return Tensor(x.storage, x.layout.narrow(*args))


AWKWARD = {
    "no dimensions": (lambda x: (x + 1, x.sum(), x.exp() * 2), m()),
    "no elements": (lambda x: (x + 1, x.sum(0), x.sum(1), x.sum()), m(0, 3)),
    "sizes of one": (lambda x: (x.sum(1), x.sum(1, True) + x, x.reshape(3)), m(1, 3, 1)),
    "a part of a product": (lambda x: (x @ x)[1:3], m(4, 4)),
    "a product as it is, transposed, and twice": (lambda x: (lambda y: (y, y.t(), y))(x @ x), m(3, 3)),
    "a product in other sizes": (lambda x: (x @ x).reshape(4), m(2, 2)),
    "an input": (lambda x: (x, x.t(), x[1:]), m(3, 3)),
    "a transposed input": (
        lambda x: (x.reshape(6), x * 2, x.sum(0)),
        Tensor(m(2, 3).storage, m(2, 3).layout.permute((1, 0))),
    ),
    "a part of an input": (lambda x: (x + 1, x.t() @ x), part(part(m(4, 6), 1, 1, 6, 2), 0, 1, 4)),
    "an expanded input": (lambda x: (x * 2, x.sum(0)), Tensor(m(1, 3).storage, m(1, 3).layout.expand((4, 3)))),
    "dtypes": (
        lambda x: (x + 1, x + 1.5, x / 2, x.exp(), x < 3, (x < 3).sum(), x.to(np.float64) + 1),
        m(5, dtype="int32"),
    ),
    "a condition of numbers": (lambda x: ops.where(x.to(np.bool_), x, 0.5), m(4)),
    "reshapes": (lambda x: x.t().reshape(2, 6).reshape(3, 4).t().exp(), m(3, 4)),
    "slices of computed values": (lambda x: (x + 1)[1:, ::2].expand(2, 3, 2) * 2, m(4, 4)),
    "among zeros": (lambda x: ops.cat([x, x.exp(), x], 1)[:, 1:] + ops.slice_backward(x, 1, 8, 1, 3), m(2, 3)),
    "nothing among zeros": (lambda x: ops.slice_backward(x, 0, 4, 1, 2) + 1, m(0, 2)),
    "factories": (lambda x: x + ops.iota((3,), 4, "int64") * ops.full((2, 1), 2.5, "float32"), m(2, 3)),
    "two softmaxes": (lambda x: x.softmax(1).softmax(0), m(3, 4)),
    "costly and used twice": (lambda x: (lambda y: y + y.t())((x.exp() + x.sin()).tanh() * x.cos() + 1), m(3, 3)),
    "products of computed values": (lambda x: ((x + 1) @ x.softmax(1)).relu().sum(1) * x.sum(0), m(3, 3)),
    "batches": (lambda x: (x @ x.permute(0, 2, 1)).amax((0, 2)), m(2, 3, 4)),
    "reductions of no dimensions": (lambda x: ops.sum_(x, (), False) + 1, m(2, 3)),
}


def check_both(f, args):
    traced = decompose(graph.trace(f, *args))
    expected = traced.run(*args)
    stepwise = run_steps(mini, Lowering(traced), *[x.numpy() for x in args])
    for got, want in zip(stepwise, expected, strict=True):
        assert got.dtype == want.dtype
        assert np.allclose(got.reshape(want.sizes), want.numpy(), rtol=1e-5)
    for got, want in zip(Program(traced)(*args), expected, strict=True):
        assert (got.sizes, got.dtype) == (want.sizes, want.dtype)
        assert np.allclose(got.numpy(), want.numpy(), rtol=1e-5)


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in AWKWARD.values()], ids=AWKWARD)
def test_steps_and_kernels_give_what_the_graph_gives(f, args):
    check_both(f, args)


@pytest.mark.parametrize("f, args", [(f, args) for f, *args in CASES])
def test_the_programs_of_the_course(f, args):
    check_both(f, args)


def steps(f, *args):
    return [str(step) for step in Lowering(decompose(graph.trace(f, *args))).steps]


def test_views_of_memory_are_no_loops():
    assert len(steps(lambda x: (x @ x).t().reshape(3, 3)[1:].sum(), m(3, 3))) == 2


def test_what_is_costly_and_used_twice_is_stored_once():
    assert len(steps(lambda x: (lambda y: y + y.t())(x.exp().exp().exp().exp().exp()), m(3, 3))) == 2
    assert len(steps(lambda x: (lambda y: y + y.t())(x.exp()), m(3, 3))) == 1


def test_a_sum_that_keeps_its_dimension_is_an_output_as_it_is():
    assert len(steps(lambda x: x.sum(1, True), m(3, 3))) == 1
