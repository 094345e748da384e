"""Decompositions of graphs with unknown sizes: what is decomposed once is right for all sizes that it is said to be.

Each call that the sheets come down to is traced with a symbol for each size, decomposed, and run: in the sizes of the
sheet, and in others, if these satisfy everything that was assumed on the way.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import GraphModule
from minitorch_compile.symbolic import ShapeEnv, SymInt
from minitorch_compile.tensor import Tensor, from_numpy, ones, ops
from minitorch_compile.tensor.dispatch.op import Op
from minitorch_compile.tensor.modes.symbolic_layout import symbolic_like, unknown_sizes
from tests.battery.sheet import FOLDER, calls_of
from tests.battery.test_unknown_sizes import allows
from tests.prims.accuracy import parts_of, wide_of
from tests.prims.agreement import REFUSES
from tests.prims.sheet_calls import OpCall, calls_made

MOST = 8  # calls of one op on one sheet


def decomposed(call: OpCall) -> tuple[ShapeEnv, list[SymInt], GraphModule]:
    """The call on tensors of unknown sizes in prims. Its graph takes the unknown sizes, then the tensors."""
    env = ShapeEnv()
    fakes = [symbolic_like(x, env) for x in call.tensors]
    symbols = {size.expression: size for x in fakes for size in unknown_sizes(list(x.sizes))}
    count = len(symbols)
    program = lambda *arguments: call.op(*call.with_tensors(arguments[count:]))
    return env, list(symbols.values()), prims.decompose(trace(program, [*symbols.values(), *fakes]))


def difference(call: OpCall, tensors: list[Tensor], graph: GraphModule, sizes: list[int]) -> str | None:
    """What the graph computes differently from the op on these tensors."""
    try:
        expected = parts_of(call.op(*call.with_tensors(tensors)))
    except REFUSES:
        return None  # a number in the call doesn't fit other sizes
    for got, want in zip(parts_of(graph(*sizes, *tensors)), expected, strict=True):
        if (got.dtype, tuple(got.sizes)) != (want.dtype, tuple(want.sizes)):
            return f"{call}: {got.dtype}{list(got.sizes)} for {want.dtype}{list(want.sizes)} at sizes {sizes}"
        a, b = (np.asarray(x.to(wide_of(x.dtype)).array) for x in (got, want))
        if not np.allclose(a, b, 1e-4, 1e-4, equal_nan=True):
            return f"{call}: other numbers at sizes {sizes}"
    return None


def in_other_sizes(x: Tensor, sizes: Any) -> Tensor:
    """A tensor of other sizes, filled with the same numbers again and again."""
    return from_numpy(np.resize(np.asarray(x.array), [sizes(n) if n > 1 else n for n in x.sizes]))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_a_graph_with_unknown_sizes_is_right_in_all_that_it_allows(path: Path) -> None:
    wrong = []
    seen: Counter[Op] = Counter()
    for call in calls_made(calls_of(path), "contiguous", "float32"):
        if prims.beyond_prims(call.op, call.bound) or call.op is ops.as_strided or seen[call.op] == MOST:
            continue
        try:
            call.op(*call.bound)
        except REFUSES:
            continue
        seen[call.op] += 1
        env, symbols, graph = decomposed(call)
        hints = [int(env.hint(s.expression)) for s in symbols]
        wrong.append(difference(call, call.tensors, graph, hints))
        for other in (lambda n: 2 * n, lambda n: n + 3):
            if allows(env, {s: other(hint) for s, hint in env.hints.items()}):
                tensors = [in_other_sizes(x, other) for x in call.tensors]
                wrong.append(difference(call, tensors, graph, [other(hint) for hint in hints]))
    found = [text for text in wrong if text]
    assert not found, "\n".join(found[:20])


FREE = {
    "softmax": lambda x: ops.softmax(x, 1),
    "layer_norm": lambda x: ops.layer_norm(x, (x.sizes[1],)),
    "gelu": lambda x: ops.gelu(x),
    "logcumsumexp": lambda x: ops.logcumsumexp(x, 0),
    "tril": lambda x: ops.tril(x, 0),
    "cross": lambda x: x.t() @ x,
    "mean and variance": lambda x: ops.var_mean(x, 1),
    "cat": lambda x: ops.cat([x, x * 2, x[1:]], 0),
}


@pytest.mark.parametrize("name", FREE)
def test_frequent_ops_assume_nothing_of_sizes(name: str) -> None:
    env = ShapeEnv()
    x = symbolic_like(ones(5, 7), env)
    symbols = [*x.sizes]
    graph = prims.decompose(trace(lambda rows, columns, x: FREE[name](x), [*symbols, x]))
    assert not env.relations and not env.replacements
    small, large = ones(5, 7), from_numpy(np.random.default_rng(0).normal(size=(40, 9)).astype("float32"))
    for tensor in (small, large):
        for got, want in zip(parts_of(graph(*tensor.sizes, tensor)), parts_of(FREE[name](tensor)), strict=True):
            np.testing.assert_allclose(got.array, want.array, 1e-5, 1e-6)
