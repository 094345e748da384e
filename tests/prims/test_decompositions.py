"""Every op has a decomposition or a reason, and its decomposition says the same as the op's own kernel.

Each is tried twice: on the samples of samples.py (families of awkward arguments: empty, 0-d, broadcast, strided, every
dtype, special floats), and on whatever the call sheets of tests/battery come down to (test_on_sheets.py).
"""

from __future__ import annotations

import pytest

from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.prims.decomposition_table import has_rule, refusal_of
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.dispatch.op import Op
from tests.prims import samples_algorithms, samples_images  # noqa: F401  (their rows)
from tests.prims.agreement import disagreement
from tests.prims.samples import calls
from tests.prims.sheet_calls import OpCall

CONCRETE = [op for op in ops.table.values() if op.kind not in ("composite", "inplace")]
DECOMPOSED = [op for op in CONCRETE if has_rule(op)]


@pytest.mark.parametrize("op", CONCRETE, ids=repr)
def test_every_op_has_a_decomposition_or_a_reason(op: Op):
    assert has_rule(op) or refusal_of(op), (
        f"{op!r}: declare a decomposition with @decomposes, or refuse it with a reason"
    )


def test_nine_of_ten_ops_have_a_decomposition():
    assert len(DECOMPOSED) > 0.9 * len(CONCRETE)


@pytest.mark.parametrize("op", DECOMPOSED, ids=repr)
def test_every_decomposition_is_tried_on_something(op: Op):
    assert any(True for _ in calls(op)), f"{op!r}: add a row to samples.py"


@pytest.mark.parametrize("op", DECOMPOSED, ids=repr)
def test_a_decomposition_agrees_with_the_kernel(op: Op):
    for arguments in calls(op):
        try:
            call = OpCall(op, op.bind(arguments, {}), "samples.py")
            prims.beyond_prims(op, call.bound)
        except TypeError:
            continue  # not this op's arguments
        if not prims.beyond_prims(op, call.bound):
            assert disagreement(call) is None


def test_a_refused_op_says_why():
    with pytest.raises(NotImplementedError, match="seed and offset"):
        prims.decomposed(ops.uniform_random, (3,))


def test_a_refused_call_says_why():
    with pytest.raises(NotImplementedError, match="depends on the data; pass the degree as a number"):
        prims.decomposed(ops.special_legendre_polynomial_p, ops.full((2,), 0.5), ops.full((2,), 3.0))


def test_a_decomposed_graph_keeps_the_lines_of_its_source():
    graph_module = trace(lambda x: ops.softmax(x, 0), [ops.full((2,), 1.0)])
    (softmax,) = graph_module.graph.find_nodes(op="call_function")
    softmax.meta["stack"] = ("train.py", 31, "y = x.softmax(0)")
    for node in prims.decompose(graph_module).graph.find_nodes(op="call_function"):
        assert node.meta["stack"] == ("train.py", 31, "y = x.softmax(0)")
