"""Random ops: compiled code draws the numbers that plain code draws, and a mask is the same in both passes."""

from __future__ import annotations

import numpy as np
import pytest

import minitorch_compile.nn.functional as F
from minitorch_compile.aot import aot_function, interpret
from minitorch_compile.tensor import default_generator, manual_seed, ops, rand, randint, randn
from tests.aot.compare import BACKENDS, captured, compiled, sample


@pytest.fixture(params=BACKENDS.values(), ids=BACKENDS.keys())
def backend(request):
    return request.param


PROGRAMS = {
    "dropout": lambda x: (F.dropout(x, 0.5),),
    "several draws": lambda x: (x + rand(3, 4), x * randn(4), rand(2)),
    "a permutation": lambda x: (x[ops.randperm(3)],),
    "integers": lambda x: (x * randint(0, 10, (3, 4)),),
    "two masks": lambda x: (F.dropout(F.dropout(x, 0.3).exp(), 0.2),),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("seed", [0, 2**63 + 5])
def test_the_same_stream_as_the_plain_program(name, seed, backend):
    def three_calls(function):
        manual_seed(seed)
        results = []
        for _ in range(3):
            x = sample(3, 4)
            outputs = function(x)
            sum(y.sum() for y in outputs if y.requires_grad).backward()
            results += [np.array(y.detach().array) for y in outputs] + [x.grad.array]
        return results, default_generator.position()

    expected, state = three_calls(PROGRAMS[name])
    actual, state_after = three_calls(compiled(PROGRAMS[name], backend))
    assert state_after == state
    for got, want in zip(actual, expected, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_dropout_zeroes_the_gradient_where_it_zeroed_the_value(backend):
    x = sample(100)
    (y,) = compiled(lambda x: (F.dropout(x, 0.5),), backend)(x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.array == 0, y.detach().array == 0)


def test_compiling_draws_nothing(backend):
    manual_seed(7)
    backend(captured(PROGRAMS["dropout"], 1), [sample(3, 4)])
    assert default_generator.position() == (7, 0)


def test_the_graph_takes_seed_and_offset_as_its_last_arguments():
    graphs = []

    def keep(graph_module, example_inputs):
        graphs.append(graph_module.graph)
        return interpret(graph_module, example_inputs)

    aot_function(captured(lambda x: (x + rand(3), rand(3)), 1), [sample(3, requires_grad=False)], keep)
    assert [node.name for node in graphs[0].find_nodes(op="placeholder")] == ["x0", "seed", "offset"]
    assert len(graphs[0].find_nodes(op="call_function", target=ops.philox_uniform)) == 2
