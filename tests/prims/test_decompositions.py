"""Every op has a decomposition, and it says the same as the op's own kernel."""

from __future__ import annotations

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx.arguments import map_aggregate
from minitorch_compile.prims.decomposition_table import has_rule, refusal_of
from minitorch_compile.tensor import Tensor, ops
from minitorch_compile.tensor.dtype import FLOATING
from minitorch_compile.tensor.op import Op
from tests.prims import samples_images  # noqa: F401  (its rows)
from tests.prims.samples import calls

CONCRETE = [op for op in ops.table.values() if op.kind not in ("composite", "inplace")]
DECOMPOSED = [op for op in CONCRETE if has_rule(op)]

# Relative tolerance by dtype: a few units in the last place of what the formula adds up.
RELATIVE = {"float16": 4e-3, "float32": 3e-6, "float64": 1e-13}


@pytest.mark.parametrize("op", CONCRETE, ids=repr)
def test_every_op_has_a_decomposition_or_a_reason(op: Op):
    assert has_rule(op) or refusal_of(op), (
        f"{op!r}: declare a decomposition with @decomposes, or refuse it with a reason"
    )


@pytest.mark.parametrize("op", DECOMPOSED, ids=repr)
def test_every_decomposition_is_tried_on_something(op: Op):
    assert any(True for _ in calls(op)), f"{op!r}: add a row to samples.py"


@pytest.mark.parametrize("op", DECOMPOSED, ids=repr)
def test_a_decomposition_agrees_with_the_kernel(op: Op):
    tried = 0
    for arguments in calls(op):
        try:
            expected = op(*arguments)
        except (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError):
            continue  # what the op refuses is not asked of its decomposition
        check_agrees(op, arguments, expected)
        tried += 1
    assert tried


def check_agrees(op: Op, arguments: tuple, expected: Tensor | tuple) -> None:
    inputs: list[Tensor] = []
    map_aggregate(arguments, lambda x: inputs.append(x) if isinstance(x, Tensor) else None)

    def program(*tensors: Tensor) -> Tensor | tuple:
        remaining = iter(tensors)
        return op(*map_aggregate(arguments, lambda x: next(remaining) if isinstance(x, Tensor) else x))

    graph_module = prims.decompose(trace(program, inputs))
    called = {node.target for node in graph_module.graph.find_nodes(op="call_function")}
    assert all(isinstance(target, prims.Prim) or target.__name__ == "getitem" for target in called)
    actual, layouts = graph_module(*inputs), graph_module.graph.output_node().meta["val"]
    if isinstance(expected, Tensor):
        expected, actual, layouts = (expected,), (actual,), (layouts,)
    for want, got, layout in zip(expected, actual, layouts, strict=True):
        assert_same(got, want, f"{op!r}{arguments}")
        assert layout.strides == want.strides, f"{op!r}{arguments}: strides"


def assert_same(actual: Tensor, expected: Tensor, what: str) -> None:
    assert actual.dtype is expected.dtype, what
    assert actual.sizes == expected.sizes, what
    if expected.dtype.category < FLOATING:
        np.testing.assert_array_equal(actual.array, expected.array, what)
        return
    rtol = RELATIVE[expected.dtype.name]
    np.testing.assert_allclose(actual.array, expected.array, rtol=rtol, atol=rtol, err_msg=what, equal_nan=True)


def test_a_refused_op_says_why():
    with pytest.raises(NotImplementedError, match="seed and offset"):
        prims.decomposed(ops.uniform_random, (3,))


def test_a_decomposed_graph_keeps_the_lines_of_its_source():
    graph_module = trace(lambda x: ops.softmax(x, 0), [ops.full((2,), 1.0)])
    (softmax,) = graph_module.graph.find_nodes(op="call_function")
    softmax.meta["stack"] = ("train.py", 31, "y = x.softmax(0)")
    for node in prims.decompose(graph_module).graph.find_nodes(op="call_function"):
        assert node.meta["stack"] == ("train.py", 31, "y = x.softmax(0)")
