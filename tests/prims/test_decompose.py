"""decompose(until=...): prims, the core, or a set; rules of one's own; errors that say what was expected."""

from __future__ import annotations

import pytest

import minitorch_compile.nn.functional as F
from minitorch_compile import prims
from minitorch_compile.aot.tracing import trace
from minitorch_compile.fx import Graph, GraphModule
from minitorch_compile.prims import CORE, decomposed
from minitorch_compile.prims.core import as_core
from minitorch_compile.prims.repeated_calls import RepeatedCalls
from minitorch_compile.tensor import bfloat16, empty_fake, float16, float32, from_numpy, ones, ops, tensor
from minitorch_compile.tensor.dispatch.op import Op
from tests.tensor.awkward import special_floats

X = empty_fake((2, 3))


def names(graph_module: GraphModule) -> list[str]:
    return [node.target.name for node in graph_module.graph.find_nodes(op="call_function")]


def normalized():
    """Softmax of silu of a sum: two ops of the core around one that isn't."""
    return trace(lambda x: ops.softmax(ops.silu(x + 1), 1), [ones(2, 3)])


def test_calls_that_look_alike_are_written_as_if_each_were_decomposed(monkeypatch):
    def program(x, y):
        soft = [ops.softmax(z, 1) for z in (x, y, x.t().contiguous().t(), y[1:], y.double())]
        alike = [ops.maximum(x, y), ops.maximum(x, x), ops.maximum(y, x), x * 0.0, y * -0.0, x.clone(), y.clone()]
        several = [*ops.var_mean(x, 1), *ops.var_mean(y, 1), *ops.topk(x, 2), *ops.topk(y, 2)]
        return *soft, *alike, *several, ops.where(x > 0, x, ops.full((), float("nan")))

    def nodes() -> list[tuple[str, str, str]]:
        graph = prims.decompose(trace(program, [X, empty_fake((2, 3))])).graph
        return [(node.name, str(node.target), str((node.args, node.meta["val"]))) for node in graph.nodes]

    written = nodes()
    monkeypatch.setattr(RepeatedCalls, "call", lambda self, run, *call: run(*call))
    assert written == nodes()


# ------------------------------------------------------------------------------------------ until


def test_until_prims_leaves_prims():
    graph = prims.decompose(normalized()).graph
    assert all(isinstance(node.target, prims.Prim) for node in graph.find_nodes(op="call_function"))


def test_until_core_leaves_core_ops():
    assert names(prims.decompose(normalized(), "core")) == ["add", "sigmoid", "mul", "softmax"]


def test_until_a_set_leaves_its_ops_and_prims():
    found = names(prims.decompose(normalized(), {ops.silu}))
    assert "silu" in found and "softmax" not in found and "amax" in found


def test_a_predicate_keeps_more():
    found = names(prims.decompose(normalized(), keep=lambda op, args: op is ops.softmax))
    assert "softmax" in found and "silu" not in found


@pytest.mark.parametrize("prim", prims.table.values(), ids=repr)
def test_every_prim_can_be_said_in_core_ops(prim: prims.Prim):
    rule = as_core(prim)
    assert rule in CORE if isinstance(rule, Op) else callable(rule)


def test_the_core_computes_the_same():
    x = from_numpy(special_floats())
    program = lambda x: (ops.silu(x), ops.logaddexp(x, x + 1), ops.tril(x.reshape(1, -1)), ops.softplus(x, 1, 20))
    core = prims.decompose(trace(program, [x]), "core")
    assert {node.target for node in core.graph.find_nodes(op="call_function")} <= CORE
    for got, want in zip(core(x), program(x), strict=True):
        assert ops.allclose(got, want, 1e-6, equal_nan=True)


def test_there_is_no_other_stage():
    with pytest.raises(ValueError, match="until must be 'prims', 'core' or a collection of ops, but got 'prim'"):
        prims.decompose(normalized(), "prim")


def test_a_set_of_names_is_refused():
    with pytest.raises(TypeError, match="until must hold ops such as torch.softmax, but it holds 'softmax'"):
        prims.decompose(normalized(), {"softmax"})


def test_an_op_that_never_reaches_a_graph_is_refused():
    with pytest.raises(ValueError, match="until holds F.softmax, which is composite"):
        prims.decompose(normalized(), {F.softmax})


def test_a_graph_that_was_not_traced_is_refused():
    graph = Graph()
    graph.output(graph.placeholder("x"))
    with pytest.raises(ValueError, match=r"placeholder 'x' has no meta\['val'\].*must come from aot.tracing.trace"):
        prims.decompose(GraphModule({}, graph))
    with pytest.raises(TypeError, match="expected a GraphModule, but got"):
        prims.decompose(graph)


# ------------------------------------------------------------------------------------------ rules of one's own


@pytest.fixture
def own_table(monkeypatch):
    """The package's table, to be changed for one test."""
    from minitorch_compile.prims import decomposition_table

    monkeypatch.setattr(decomposition_table, "_table", dict(decomposition_table._table))


def test_a_decorator_registers_a_decomposition(own_table):
    @prims.register_decomposition(ops.relu)
    def _(x):
        return prims.abs(x)

    assert decomposed(ops.relu, X).compact() == "x -> abs(x)"


def test_one_rule_may_be_that_of_several_ops(own_table):
    @prims.register_decomposition([ops.relu, ops.silu])
    def _(x):
        return prims.neg(x)

    assert decomposed(ops.relu, X).compact() == decomposed(ops.silu, X).compact() == "x -> neg(x)"


def test_rules_for_one_call_leave_the_table_alone():
    graph = decomposed(ops.relu, X, decompositions={ops.relu: lambda x: prims.abs(x)})
    assert graph.compact() == "x -> abs(x)"
    assert "abs" not in decomposed(ops.relu, X).compact()


def test_a_registry_of_ones_own():
    registry: dict = {}
    prims.register_decomposition(ops.relu, registry)(lambda x: prims.abs(x))
    assert decomposed(ops.relu, X, decompositions=registry).compact() == "x -> abs(x)"


def test_a_rule_may_be_written_in_operators():
    graph = decomposed(ops.relu, X, decompositions={ops.relu: lambda x: (x + abs(x)) / 2})
    assert [node.target.name for node in graph.find_nodes(op="call_function")] == ["abs", "add", "full", "div"]


WRONG_RULES = {
    "a composite op": (ops.linear, lambda *_: None, ValueError, "composite, so it never reaches a graph of ops"),
    "an op that writes": (ops.table["relu_"], lambda x: x, ValueError, "inplace, so it never reaches a graph"),
    "a prim": (prims.abs, lambda x: x, ValueError, "a prim, which is not decomposed any further"),
    "a name": ("relu", lambda x: x, TypeError, "op must be an Op such as torch.relu, but got 'relu'"),
    "no function": (ops.relu, 3, TypeError, "must be a function, but got 3"),
    "other parameters": (
        ops.gelu,
        lambda x: x,
        TypeError,
        r"parameters in order, \(input, approximate\), but takes \(x\)",
    ),
}


@pytest.mark.parametrize("what", WRONG_RULES)
def test_what_can_not_be_registered(what: str):
    op, rule, error, message = WRONG_RULES[what]
    with pytest.raises(error, match=message):
        prims.register_decomposition(op, {})(rule)


def test_a_result_of_other_sizes_is_refused():
    with pytest.raises(RuntimeError, match=r"of ops.relu gives torch.float32 \[2\] where the op gives .* \[2, 3\]"):
        decomposed(ops.relu, X, decompositions={ops.relu: lambda x: prims.sum(x, (1,))})


def test_a_result_that_is_no_tensor_is_refused():
    with pytest.raises(RuntimeError, match=r"of ops.relu gives 3 \(int\) where the op gives"):
        decomposed(ops.relu, X, decompositions={ops.relu: lambda x: 3})


def test_a_decomposition_that_calls_itself_is_refused():
    with pytest.raises(
        RuntimeError, match="of ops.relu never ends: .* ops.relu -> ops.relu, of .*; write it in simpler"
    ):
        decomposed(ops.relu, X, decompositions={ops.relu: lambda x: ops.relu(x)})


def test_a_circle_of_decompositions_is_refused():
    circle = {ops.relu: lambda x: ops.silu(x), ops.silu: lambda x: ops.relu(x)}
    with pytest.raises(RuntimeError, match="ops.relu -> ops.silu -> ops.relu"):
        decomposed(ops.relu, X, decompositions=circle)


def test_a_decomposition_may_call_its_op_on_something_smaller():
    halves = {ops.relu: lambda x: prims.abs(x) if len(x.sizes) < 2 else ops.relu(x.reshape(-1)).reshape(x.sizes)}
    assert decomposed(ops.relu, X, decompositions=halves).compact() == "x -> reshape(abs(reshape(x, (6,))), (2, 3))"


# ------------------------------------------------------------------------------------------ half precision


@pytest.mark.parametrize("element", [float16, bfloat16], ids=repr)
def test_half_precision_is_rounded_once(element):
    """A formula of several steps is computed in float32: its result is the float32 one, rounded."""
    x = tensor([-3.0, -0.1, 0.3, 2.5], dtype=element)
    got = prims.decompose(trace(lambda x: ops.gelu(x), [x]))(x)
    assert got.dtype is element
    assert got.tolist() == ops.gelu(x.to(float32)).to(element).tolist()


def test_one_prim_on_half_precision_is_not_widened():
    assert decomposed(ops.exp, empty_fake((3,), None, float16)).compact() == "x -> exp(x)"


def test_an_op_with_nothing_to_compute_still_gives_a_new_tensor():
    """Mean over windows of one element: were it the argument itself, who writes to the result would write to both."""
    graph_module = trace(lambda x: ops.avg_pool(x, (1,), (1,), (0,), False, True, None), [empty_fake((1, 2, 3))])
    (result,) = prims.decompose(graph_module).graph.output_node().all_input_nodes
    assert result.target is prims.convert_element_type
