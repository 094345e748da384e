"""Decompositions: the values, sizes and dtypes of the op itself, in prims only."""

import numpy as np
import pytest
from mini.graph import trace
from mini.ops import OPS, copy_
from mini.prims import DECOMPOSITIONS, decompose
from mini.tensor import from_numpy

CALLS = {
    "sub": lambda x: x - x.sum(),
    "sub of a number": lambda x: x - 2,
    "sub from a number": lambda x: 2.5 - x,
    "neg": lambda x: -x,
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu(),
    "clone": lambda x: x.clone(),
    "view": lambda x: x.reshape(x.numel()),
    "view of a transpose": lambda x: x.transpose(0, -1).reshape(x.numel()) if x.dim() > 1 else x,
    "softmax": lambda x: x.softmax(-1) if x.numel() and x.dim() else x,
    "log_softmax": lambda x: x.log_softmax(0) if x.numel() and x.dim() else x,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("sizes", [(), (1,), (3, 1), (2, 3), (0, 3)])
@pytest.mark.parametrize("f", CALLS.values(), ids=CALLS)
def test_a_decomposition_is_the_op(f, sizes, dtype):
    x = from_numpy((np.arange(np.prod(sizes)).reshape(sizes) * 50 - 100).astype(dtype))
    graph = decompose(trace(f, x))
    assert {node.op for node in graph.nodes} <= {*OPS.values()} - {*DECOMPOSITIONS} - {copy_}
    (got,), wanted = graph.run(x), f(x)
    assert (got.sizes, got.dtype) == (wanted.sizes, wanted.dtype)
    assert np.allclose(got.numpy(), wanted.numpy(), equal_nan=True)
    assert all(node.value.dtype == wanted.dtype for node in graph.outputs)


def test_equal_calls_are_computed_once():
    graph = trace(
        lambda x: x.softmax(0) + x.softmax(0) * x.amax(0, True) + x.relu() + x.maximum(0), from_numpy(np.ones(3))
    )
    names = [node.op.name for node in decompose(graph).nodes]
    assert names.count("amax") == names.count("sum") == names.count("log") == names.count("maximum") == 1


def test_equal_numbers_that_are_not_the_same_stay_apart():
    x = from_numpy(np.array([1.0, 2.0]))
    graph = decompose(trace(lambda x: (1 / (x * 0.0), 1 / (x * -0.0), x * 1, x * 1.0, x * True), x))
    assert [t.tolist()[0] for t in graph.run(x)] == [float("inf"), float("-inf"), 1, 1, 1]
    assert len({id(node) for node in graph.outputs}) == 5


def test_writes_are_refused():
    graph = trace(lambda x: x.add_(1), from_numpy(np.ones(3)))
    with pytest.raises(RuntimeError, match="Functional"):
        decompose(graph)
