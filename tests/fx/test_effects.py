"""What may be dropped, merged or moved: judged for every op in the table, not only for those thought of."""

import inspect
import math
import operator
import re

import pytest

from minitorch_compile.fx import Graph, has_side_effect
from minitorch_compile.fx.effects import is_impure, is_random, makes_new_storage, writes
from minitorch_compile.nn import functional as F
from minitorch_compile.tensor import ones, ops, tensor


def node(target, *arguments, **kwargs):
    graph = Graph()
    args = (graph.placeholder("x"), *arguments)
    return (graph.call_method if isinstance(target, str) else graph.call_function)(target, args, kwargs)


@pytest.mark.parametrize("op", ops.table.values(), ids=repr)
def test_an_op_that_draws_random_numbers_is_never_dropped(op):
    source = inspect.getsource(op.kernel)
    draws = re.search(r"default_generator|(\b|_)(uniform|normal|randint)_random\(|\b(rand|randn|dropout)\(", source)
    if draws and "seed: Array" not in source:  # an op that is given its seed is a function of it
        assert is_random(node(op)) and is_impure(node(op)), f"{op} draws: {draws[0]}"


@pytest.mark.parametrize(
    "op", [op for op in ops.table.values() if op.kind == "inplace" or op.name.endswith("_")], ids=repr
)
def test_an_op_that_writes_is_never_dropped(op):
    assert writes(node(op)) and is_impure(node(op))


@pytest.mark.parametrize(
    "target", [ops.setitem, operator.setitem, operator.iadd, "__setitem__", "relu_", "copy_"], ids=str
)
def test_the_other_spellings_of_writing(target):
    assert writes(node(target, 0, 1))


def test_an_out_argument_is_written_to():
    graph = Graph()
    x = graph.placeholder("x")
    assert writes(graph.call_function(ops.add, (x, x), {"out": x}))
    assert not writes(graph.call_function(ops.add, (x, x), {"out": None}))


def test_an_activation_in_place_writes():
    graph = Graph()
    x = graph.placeholder("x")
    assert writes(graph.call_function(F.relu, (x, True)))
    assert writes(graph.call_function(F.relu, (x,), {"inplace": True}))
    assert not writes(graph.call_function(F.relu, (x,), {"inplace": False}))


def test_batch_norm_moves_its_running_statistics_and_max_norm_the_table():
    graph = Graph()
    x = graph.placeholder("x")
    assert is_impure(graph.call_function(F.batch_norm, (x, x, x), {"training": True}))
    assert is_impure(graph.call_function(F.embedding, (x, x), {"max_norm": 1.0}))
    assert not is_impure(graph.call_function(F.embedding, (x, x)))


@pytest.mark.parametrize("target", [ops.relu, ops.linear, F.relu, F.softmax, operator.add, "sum", "__add__"], ids=str)
def test_computing_is_pure(target):
    assert not is_impure(node(target))


def test_a_module_may_update_its_buffers():
    assert is_impure(Graph().call_module("batch_norm"))


def test_registered_functions_stay():
    @has_side_effect
    def log(x):
        return None

    assert is_impure(node(log)) and is_impure(node(print)) and not is_impure(node(len))


@pytest.mark.parametrize("op", [op for op in ops.table.values() if makes_new_storage(node(op))], ids=repr)
def test_what_is_said_to_make_new_storage_does(op):
    arguments = {
        "mm": (ones(2, 2), ones(2, 2)), "bmm": (ones(1, 2, 2), ones(1, 2, 2)), "addmm": (ones(2, 2),) * 3,
        "where": (ones(2) > 0, ones(2), ones(2)), "clamp": (ones(2), 0), "polygamma": (1, ones(2)),
        "flash_attention": (*(ones(1, 1, 2, 2),) * 3, None, False, 1.0, -math.inf, False),
        "flash_attention_backward": (*(ones(1, 1, 2, 2),) * 6, None, False, 1.0, -math.inf),
    }.get(op.name)  # fmt: skip
    if arguments is None:
        needed = sum(d is inspect.Parameter.empty for d in op.defaults)
        sample = tensor([3, 5]) if op.name.startswith(("bitwise", "gcd", "lcm")) else ones(2)
        arguments = (sample,) + ((0,) if op.name in ("softmax", "log_softmax", "logsumexp") else (sample,)) * (
            needed - 1
        )
    result = op(*arguments)
    parts = result if isinstance(result, tuple) else (result,)
    assert all(part.storage is not x.storage for part in parts for x in arguments if hasattr(x, "storage"))
