"""Generated code means what the graph means: every program here is run by graph modules of both kinds, whose code is
PyTorch's and one for readers, and by the Interpreter."""

import copy
import gc
import linecache
import math
import operator
import os
import pdb
import traceback
from collections import namedtuple
from fractions import Fraction
from io import StringIO
from types import SimpleNamespace

import numpy as np
import pytest

from minitorch_compile import config, nn
from minitorch_compile.fx import Graph, GraphModule, Interpreter, graph_module, symbolic_trace
from minitorch_compile.fx.lazy_graph_module import LazyGraphModule
from minitorch_compile.fx.symbolic_trace import TraceError, call

Pair = namedtuple("Pair", "left right")
ARRAY = np.arange(24.0).reshape(2, 3, 4)


class Op:
    """What an op of the tensor floor looks like from here: a callable whose repr is a dotted name."""

    def __init__(self, name, function):
        self.name, self.__name__, self.function = name, name, function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def __repr__(self):
        return f"ops.{self.name}"


class Dtype:
    def __repr__(self):
        return "torch.float32"


class device:
    def __init__(self, type):
        self.type = type

    def __eq__(self, other):
        return isinstance(other, device) and self.type == other.type

    def __repr__(self):
        return f"device(type={self.type!r})"


relu = Op("relu", lambda x: np.maximum(x, 0))
float32 = Dtype()


def both_ways(graph, attributes, *args):
    """The result, after checking that code and interpreter agree."""
    interpreted = Interpreter(GraphModule(attributes, graph)).run(*copy.deepcopy(args))
    for kind in (GraphModule, LazyGraphModule):
        result = kind(attributes, graph)(*copy.deepcopy(args))
        np.testing.assert_equal(result, interpreted)
        assert type(result) is type(interpreted)
    return result


def call_graph(target, *arguments, **kwargs):
    """The graph of `x -> target(...)`, in which the string "x" stands for the argument."""
    graph = Graph()
    x = graph.placeholder("x")

    def put(value):
        return x if isinstance(value, str) and value == "x" else value

    graph.output(graph.call_function(target, tuple(map(put, arguments)), {k: put(v) for k, v in kwargs.items()}))
    return graph


def code_of(target, *arguments, **kwargs):
    """The one statement that a call becomes."""
    return (
        LazyGraphModule({}, call_graph(target, *arguments, **kwargs)).code.splitlines()[1].strip().partition(" = ")[2]
    )


# ------------------------------------------------------------------------------------------------ statements


INDICES = [
    0, -1, slice(None), slice(1, None), slice(None, -1), slice(None, None, 2), slice(1, 3, 1), ..., None,
    (0,), (0, 1), (..., 0), (None, slice(1), ...), (slice(None), [0, 2]), [0, 1], (slice(None, None, -1), 0), (),
]  # fmt: skip


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_indexing_is_written_with_brackets(index):
    graph = call_graph(operator.getitem, "x", index)
    np.testing.assert_array_equal(both_ways(graph, {}, ARRAY), ARRAY[index])
    assert "getitem = x[" in LazyGraphModule({}, graph).code


@pytest.mark.parametrize("target, arguments, expected", [
    (operator.add, ("x", 1), "x + 1"),
    (operator.sub, (1, "x"), "1 - x"),
    (operator.pow, (-2, "x"), "(-2) ** x"),
    (operator.pow, ("x", -2), "x ** (-2)"),
    (operator.mul, ("x", float("-inf")), "x * float('-inf')"),
    (operator.neg, ("x",), "-x"),
    (operator.not_, ("x",), "not x"),
    (operator.contains, ("x", 1), "operator.contains(x, 1)"),
    (operator.iadd, ("x", 1), "operator.iadd(x, 1)"),
    (getattr, ("x", "real"), "x.real"),
    (getattr, ("x", "nope", 3), "getattr(x, 'nope', 3)"),
    (getattr, (2, "real"), "(2).real"),
    (operator.getitem, ("x", (slice(None), 0)), "x[:, 0]"),
    (math.sqrt, ("x",), "math.sqrt(x)"),
    (len, ([1, 2],), "len([1, 2])"),
    (max, ("x", 2), "max(x, 2)"),
    (isinstance, ("x", int), "isinstance(x, int)"),
    (relu, ("x",), "ops.relu(x)"),
    (dict, (), "dict()"),
    (print, ((1,), [], {}, None, ..., slice(1), True, 1.5, 2j, "s", b"b"),
     "print((1,), [], {}, None, ..., slice(None, 1, None), True, 1.5, 2j, 's', b'b')"),
])  # fmt: skip
def test_calls_are_written_as_a_person_would(target, arguments, expected):
    assert code_of(target, *arguments) == expected


@pytest.mark.parametrize("x", [3, 2.5])
@pytest.mark.parametrize("target, arguments", [
    (operator.pow, (-2, "x")), (operator.mul, ("x", float("-inf"))), (getattr, ("x", "real")), (operator.ne, ("x", 2)),
    (operator.mul, ("x", float("nan"))), (operator.truediv, (-1, "x")), (math.sqrt, ("x",)), (divmod, ("x", 2)),
])  # fmt: skip
def test_code_and_interpreter_agree(target, arguments, x):
    result = both_ways(call_graph(target, *arguments), {}, x)
    np.testing.assert_equal(result, target(*(x if a == "x" else a for a in arguments)))


@pytest.mark.parametrize("number", [1j, -2j, -0j, 1 - 2j, complex(-0.0, 1), complex(math.inf, math.nan), -math.inf])
def test_numbers_keep_their_signs_and_infinities(number):
    graph = call_graph(repr, number)
    assert both_ways(graph, {}, None) == repr(number)


@pytest.mark.parametrize("constant, text", [
    (float32, "torch.float32"),
    (device("cpu"), "device(type='cpu')"),
    (Fraction(1, 3), "Fraction(1, 3)"),
    (int, "int"),
    (Fraction, "fractions.Fraction"),
    (ARRAY, "ndarray_constant"),
    (np.float32(2), "float32_constant"),
    (Pair(1, (2,)), "test_graph_module.Pair(1, (2,))"),
], ids=repr)  # fmt: skip
def test_constants_without_a_literal_become_readable_globals(constant, text):
    graph = call_graph(lambda value: value, constant)
    result = both_ways(graph, {}, None)
    assert result is constant or result == constant
    assert text.rpartition(".")[2] in LazyGraphModule({}, graph).code


def test_a_store_is_a_statement():
    graph = Graph()
    x = graph.placeholder("x")
    graph.call_function(operator.setitem, (x, (slice(None), 0), 7.0))
    graph.output(x)
    assert "    x[:, 0] = 7.0\n" in LazyGraphModule({}, graph).code
    assert (both_ways(graph, {}, ARRAY.copy())[:, 0] == 7).all()


def test_two_callables_of_the_same_name_are_both_reachable():
    graph = Graph()
    x = graph.placeholder("x")
    first, second = Op("f", lambda v: v + 1), Op("f", lambda v: v * 10)
    one = graph.call_function(first, (x,))
    two = graph.call_function(second, (one,))
    three = graph.call_function(lambda v: -v, (two,))
    graph.output(graph.call_function(lambda v: v - 1, (three,)))
    assert both_ways(graph, {}, 1) == -21


def test_a_node_named_like_a_namespace_does_not_hide_it():
    graph = Graph()
    ops, math_node = graph.placeholder("ops"), graph.placeholder("math")
    r = graph.call_function(relu, (ops,))
    graph.output((r, graph.call_function(math.sqrt, (math_node,))))
    assert both_ways(graph, {}, -1, 4) == (0, 2.0)


def test_graph_without_nodes_and_graph_without_output_return_none():
    assert both_ways(Graph(), {}) is None
    graph = Graph()
    graph.placeholder("x")
    assert both_ways(graph, {}, 1) is None


def test_outputs_keep_their_nesting():
    graph = Graph()
    x = graph.placeholder("x")
    graph.output({"a": [x, (x, None)], "p": Pair(x, 1)})
    assert both_ways(graph, {}, 5) == {"a": [5, (5, None)], "p": Pair(5, 1)}


def test_default_values_and_keyword_arguments():
    module = symbolic_trace(lambda x, scale=2: x * scale)
    assert (module(3), module(3, 5), module(3, scale=7), module(scale=1, x=4)) == (6, 15, 21, 4)
    assert Interpreter(module).run(3) == 6


def test_a_missing_argument_is_a_type_error():
    module = symbolic_trace(lambda x, y: x + y)
    with pytest.raises(TypeError, match="y"):
        module(1)
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter y"):
        Interpreter(module).run(1)


def test_an_argument_too_many_is_a_type_error():
    module = symbolic_trace(lambda x: x + 1)
    with pytest.raises(TypeError):
        module(1, 2)
    with pytest.raises(TypeError, match="takes 1 arguments but 2 were given"):
        Interpreter(module).run(1, 2)


def test_attributes_and_modules():
    graph = Graph()
    x, w = graph.placeholder("x"), graph.get_attr("layers.0.weight")
    graph.output(graph.call_module("act", (graph.call_function(operator.mul, (x, w)),)))
    attributes = {"layers.0.weight": 3, "act": lambda v: v + 1, "graph": "a name the class uses itself"}
    assert both_ways(graph, attributes, 2) == 7


def test_a_missing_attribute_is_named():
    graph = Graph()
    graph.get_attr("weight")
    with pytest.raises(
        RuntimeError, match=r"refers to the attribute 'weight', which attributes lacks; it has \['bias'\]"
    ):
        GraphModule({"bias": 1}, graph)


# ------------------------------------------------------------------------------------------------ the text


def fake(*sizes):
    strides = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    return SimpleNamespace(sizes=sizes, strides=tuple(strides), dtype="torch.float32", device="cpu")


def test_code_names_the_users_line_once_and_annotates_shapes():
    graph = symbolic_trace(lambda x: (x + 1) * 2).graph
    for node, line in zip(graph.nodes, (None, "    y = (x + 1) * 2  # both", "    y = (x + 1) * 2  # both", None)):
        node.meta["val"] = fake(3, 4)
        if line:
            node.meta["stack"] = ("/home/ada/train.py", 31, line)
    assert LazyGraphModule({}, graph).code.splitlines() == [
        'def forward(self, x: "f32[3, 4]"):',
        "    # train.py:31: y = (x + 1) * 2  # both",
        '    add: "f32[3, 4]" = x + 1',
        '    mul: "f32[3, 4]" = add * 2',
        "    return mul",
    ]


def test_a_long_signature_and_a_long_return_are_wrapped():
    graph = Graph()
    inputs = [graph.placeholder(f"parameter_number_{i}") for i in range(12)]
    graph.output(tuple(inputs))
    assert max(map(len, LazyGraphModule({}, graph).code.splitlines())) <= 120
    assert both_ways(graph, {}, *range(12)) == tuple(range(12))


def test_print_readable_shows_the_class_and_returns_the_text(capsys):
    text = LazyGraphModule({}, symbolic_trace(lambda x: x + 1).graph, "lambda").print_readable()
    assert text == "class lambda:\n    def forward(self, x):\n        add = x + 1\n        return add\n"
    assert capsys.readouterr().out.rstrip("\n") == text.rstrip("\n")


def test_the_source_is_found_by_debuggers_and_forgotten_with_the_module():
    module = symbolic_trace(lambda x: x + 1)
    filename = module.forward.__func__.__code__.co_filename
    assert linecache.getline(filename, 5) == "    add = x + 1;  x = None\n"
    linecache.checkcache()
    assert linecache.getline(filename, 5) == "    add = x + 1;  x = None\n"
    del module
    gc.collect()
    symbolic_trace(lambda x: x + 2)
    assert filename not in linecache.cache


def test_modules_that_end_while_linecache_is_checked(monkeypatch):
    """A debugger checks it first of all; an entry that goes meanwhile is a KeyError in there."""
    monkeypatch.setattr(linecache, "cache", {"a file": (0, 0.0, [], "a file")})
    modules = [symbolic_trace(lambda x: x + 1)]

    def stat(path):
        modules.clear()
        gc.collect()
        raise OSError

    monkeypatch.setattr(linecache, "os", SimpleNamespace(**{**vars(os), "stat": stat}))
    linecache.checkcache()
    assert not modules
    assert "a file" not in linecache.cache


def test_pdb_steps_through_generated_code():
    module = symbolic_trace(lambda x: (x + 1) * 2)
    screen = StringIO()
    commands = StringIO("step\n" * 4 + "next\n" * 2 + "continue\n")
    debugger = pdb.Pdb(stdin=commands, stdout=screen, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.runcall(module.forward, 3)
    assert "add = x + 1" in screen.getvalue() and "mul = add * 2" in screen.getvalue()


def test_generated_source_can_go_to_real_files(tmp_path):
    with config.patch(generated_source_folder=str(tmp_path)):
        module = symbolic_trace(lambda x: x + 1)
    (file,) = tmp_path.glob("forward_*.py")
    assert file.read_text() == module.code
    assert module.forward.__func__.__code__.co_filename == str(file)


# ------------------------------------------------------------------------------------------------ failures


@pytest.mark.parametrize(
    "run", [lambda m: m("text"), lambda m: Interpreter(m).run("text")], ids=["code", "interpreter"]
)
def test_an_exception_keeps_its_class_and_names_the_node_and_the_users_line(run):
    module = symbolic_trace(lambda x: x + 1)
    for node in module.graph.find_nodes(op="call_function"):
        node.meta["stack"] = ("train.py", 31, "y = x + 1")
    module.recompile()
    with pytest.raises(TypeError) as caught:
        run(module)
    text = "".join(traceback.format_exception(caught.value))
    assert "While executing %add" in text and "from train.py:31: y = x + 1" in text


def test_the_traceback_shows_the_generated_line():
    module = symbolic_trace(lambda x: x + 1)
    with pytest.raises(TypeError) as caught:
        module("text")
    assert "    add = x + 1" in "".join(traceback.format_exception(caught.value))


# ------------------------------------------------------------------------------------------------ changing, copying


def test_recompile_is_needed_after_a_change_and_done_when_the_graph_is_replaced():
    module = symbolic_trace(lambda x: x + 1)
    module.graph.find_nodes(op="call_function")[0].update_arg(1, 10)
    assert module(1) == 2
    module.recompile()
    assert module(1) == 11
    module.graph = symbolic_trace(lambda x: x * 3).graph
    assert module(2) == 6 and module.graph.owning_module is module


def test_a_deep_copy_is_independent():
    module = symbolic_trace(lambda x: x + 1)
    twin = copy.deepcopy(module)
    twin.graph.find_nodes(op="call_function")[0].update_arg(1, 10)
    twin.recompile()
    assert (module(1), twin(1)) == (2, 11)


def test_the_interpreter_forgets_values_after_their_last_use():
    alive = []

    class Watch(Interpreter):
        def run_node(self, node):
            alive.append({n.name for n in self.env})
            return super().run_node(node)

    module = symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    assert Watch(module).run(1) == 1
    assert alive == [set(), {"x"}, {"add"}, {"mul"}, {"sub"}]
    alive.clear()
    Watch(module, garbage_collect_values=False).run(1)
    assert alive[-1] == {"x", "add", "mul", "sub"}


def test_an_interpreter_can_start_in_the_middle():
    module = symbolic_trace(lambda x: (x + 1) * 2)
    add = module.graph.find_nodes(op="call_function", target=operator.add)[0]
    x = module.graph.find_nodes(op="placeholder")[0]
    assert Interpreter(module, garbage_collect_values=False).run(initial_env={x: 0, add: 50}) == 100


# ------------------------------------------------------------------------------------------------ tracing


@pytest.mark.parametrize("program, x", [
    (lambda x: 2 - x, 5),
    (lambda x: 2**x % 7, 5),
    (lambda x: (x < 3) | (x == 5), 5),
    (lambda x: ~x, 5),
    (lambda x: x.real + x.bit_length(), 5),
    (lambda x: [x, {"k": (x,)}], 5),
    (lambda x: 1, 5),
    (lambda x: x[..., 1:].sum(axis=-1), ARRAY),
])  # fmt: skip
def test_a_traced_function_computes_the_same(program, x):
    module = symbolic_trace(program)
    np.testing.assert_equal(module(x), program(x))
    np.testing.assert_equal(Interpreter(module).run(x), program(x))


@pytest.mark.parametrize("program, message", [
    (lambda x: x if x > 0 else -x, "cannot be used as inputs to control flow"),
    (lambda x: list(x), "Proxy object cannot be iterated"),
])  # fmt: skip
def test_what_the_tracer_can_not_do_it_says(program, message):
    with pytest.raises(TraceError, match=message):
        symbolic_trace(program)


def test_concrete_arguments_are_not_traced():
    module = symbolic_trace(lambda x, flag: x + 1 if flag else x - 1, concrete_args={"flag": True})
    assert module(1, True) == 2
    with pytest.raises(AssertionError, match="flag has been specialized to have value True but got another value"):
        module(1, False)


def test_call_records_one_node_and_wants_a_proxy():
    assert symbolic_trace(lambda x: call(relu, x)).graph.compact() == "x -> relu(x)"
    with pytest.raises(TypeError, match="at least one argument must be a Proxy"):
        call(relu, 1)


def test_attributes_are_copied_with_the_modules_that_they_are_in() -> None:
    root, copied = nn.Module(), nn.Module()
    root.inner = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    for target in ("inner.1.running_mean", "inner.0", "inner.0.weight", "inner.1.weight"):
        graph_module._copy_attr(root, copied, target)
    # As recorded from PyTorch.
    assert list(copied.state_dict()) == ["inner.1.weight", "inner.1.running_mean", "inner.0.weight", "inner.0.bias"]
    assert copied.get_submodule("inner.0") is root.inner[0]
    assert graph_module._CodeOnlyModule(vars(copied)).state_dict().keys() == copied.state_dict().keys()


def test_a_subclass_may_take_over_its_attributes_itself() -> None:
    root = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    graph = symbolic_trace(root).graph

    class Own(GraphModule):
        def __init__(self) -> None:
            super(GraphModule, self).__init__()
            for name in ("0", "1"):
                graph_module._copy_attr(root, self, name)
            self.graph = graph

    x = nn.Parameter(root[0].weight.detach())
    assert (Own()(x) == root(x)).all() and str(Own()).startswith("Own(")
