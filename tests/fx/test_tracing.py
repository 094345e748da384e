"""What the symbolic tracer writes down: the code is that of PyTorch 2.13, recorded, for the same program."""

import copy
import math
import operator
import pickle
import sys
from collections import namedtuple

import pytest

import minitorch_compile as torch
from minitorch_compile import fx, nn
from minitorch_compile.fx import PH, Graph, GraphModule, Interpreter, Proxy, Tracer, Transformer, symbolic_trace
from minitorch_compile.fx.experimental.rewriter import RewritingTracer
from minitorch_compile.fx.proxy import TraceError
from minitorch_compile.fx.tracer import ProxyableClassMeta
from minitorch_compile.nn import functional as F
from minitorch_compile.overrides import handle_torch_function, has_torch_function_unary
from minitorch_compile.tensor.dispatch.overrides import watching

Pair = namedtuple("Pair", "left right")


@fx.wrap
def as_one(x, y):
    return x if y else -x


fx.wrap("len")


class Everything(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        self.list = nn.ModuleList([nn.Tanh()])
        self.w = nn.Parameter(torch.ones(3))
        self.register_buffer("buf", torch.ones(3))

    def forward(self, x, y=None, *args, k: float = 2.0, **kw):
        a = self.layers(x) + self.w
        z = F.relu(a) + F.linear(a, self.w) + self.buf
        q = (self.buf + x) @ self.buf
        r = self.buf @ q
        q += 1
        p = math.sqrt(x.shape[0])
        t = torch.tensor([1.0, 2.0, 3.0])
        more = [x[1:, None, ...], torch.add(t, x), x.to(torch.float32).to(device=torch.device("cpu")), x * float("inf")]
        more += [self.list[0](x), torch.cat([x, x]), x.T, F.conv2d(x, self.w), F.gelu(x), F.dropout(x, 0.3)]
        more += [F.softmax(x, dim=1), 2 - x, x.relu().sum(dim=1), args[0] + kw["u"], torch.zeros(3) + x, abs(x), x == 1]
        return {"a": z, "b": (q, [p, -r]), "c": more}


RECORDED = """\
torch.fx._symbolic_trace.wrap("math_sqrt")

def forward(self, x, y = None, k : float = 2.0, *args, **kw):
    _args = args
    _kw = kw
    layers_0 = getattr(self.layers, "0")(x)
    layers_1 = getattr(self.layers, "1")(layers_0);  layers_0 = None
    w = self.w
    add = layers_1 + w;  layers_1 = None
    relu = torch.nn.functional.relu(add, inplace = False)
    linear = torch._C._nn.linear(add, w);  add = None
    add_1 = relu + linear;  relu = linear = None
    buf = self.buf
    add_2 = add_1 + buf;  add_1 = buf = None
    buf_1 = self.buf
    add_3 = buf_1.add(x);  buf_1 = None
    buf_2 = self.buf
    matmul = add_3 @ buf_2;  add_3 = buf_2 = None
    buf_3 = self.buf
    matmul_1 = buf_3.matmul(matmul);  buf_3 = None
    add_4 = matmul + 1;  matmul = None
    getattr_1 = x.shape
    getitem = getattr_1[0];  getattr_1 = None
    sqrt = math_sqrt(getitem);  getitem = None
    getitem_1 = x[(slice(1, None, None), None, Ellipsis)]
    _tensor_constant0 = self._tensor_constant0
    add_5 = torch.add(_tensor_constant0, x);  _tensor_constant0 = None
    to = x.to(torch.float32)
    to_1 = to.to(device = device(type='cpu'));  to = None
    mul = x * inf
    list_0 = getattr(self.list, "0")(x)
    cat = torch.cat([x, x])
    conv2d = torch.conv2d(x, w);  w = None
    gelu = torch._C._nn.gelu(x)
    dropout = torch.nn.functional.dropout(x, p = 0.3, training = True, inplace = False)
    softmax = torch.nn.functional.softmax(x, dim = 1, _stacklevel = 3, dtype = None)
    sub = 2 - x
    relu_1 = x.relu()
    sum_1 = relu_1.sum(dim = 1);  relu_1 = None
    getitem_2 = _args[0];  _args = None
    getitem_3 = _kw['u'];  _kw = None
    add_6 = getitem_2 + getitem_3;  getitem_2 = getitem_3 = None
    _tensor_constant1 = self._tensor_constant1
    add_7 = _tensor_constant1.add(x);  _tensor_constant1 = None
    abs_1 = _operator_abs(x)
    eq = x == 1
    neg = -matmul_1;  matmul_1 = None
    getattr_2 = x.T;  x = None
    return {'a': add_2, 'b': (add_4, [sqrt, neg]), 'c': [getitem_1, add_5, to_1, mul, list_0, cat,\
 getattr_2, conv2d, gelu, dropout, softmax, sub, sum_1, add_6, add_7, abs_1, eq]}"""


def test_the_code_of_a_module_is_that_of_pytorch():
    assert symbolic_trace(Everything()).code.strip() == RECORDED


def test_ops_are_called_as_ever_when_the_last_proxy_is_gone():
    before = list(watching)
    proxy = Proxy(Graph().placeholder("x"))
    assert torch.relu(proxy).node.target is torch.relu
    assert watching == [*before, Proxy]
    del proxy
    assert watching == before


def test_two_tracers_do_not_mix():
    x, y = (Proxy(Graph().placeholder(name)) for name in "xy")
    with pytest.raises(RuntimeError, match="Found multiple different tracers"):
        torch.add(x, y)


@pytest.mark.parametrize("program, error, message", [
    (lambda x: 1 if x else 2, TraceError, "symbolically traced variables cannot be used as inputs to control flow"),
    (lambda x: list(x), TraceError, "Proxy object cannot be iterated"),
    (lambda x: int(x), TypeError, "not 'Proxy'"),
    (lambda x: {x: 1}, RuntimeError, "Keys for dictionaries used as an argument cannot contain a Node. Got key: x"),
    (lambda x: x[{1, 2}], NotImplementedError, "argument of type: <class 'set'>"),
    (lambda x: math.floor(x).__len__(), RuntimeError, "'len' is not supported in symbolic tracing by default"),
])  # fmt: skip
def test_what_can_not_be_traced_is_said_as_pytorch_says_it(program, error, message):
    with pytest.raises(error, match=message):
        symbolic_trace(program)


def test_all_is_as_before_after_a_trace_that_failed():
    call, length = nn.Module.__call__, globals().get("len")
    with pytest.raises(ZeroDivisionError):
        symbolic_trace(lambda x: 1 / 0)
    assert nn.Module.__call__ is call and globals().get("len") is length
    assert "__getattr__" not in vars(nn.Module)


def test_wrapped_functions_are_one_node_also_in_code_that_is_traced_again():
    module = symbolic_trace(lambda x: as_one(x, True) + len(x))
    assert [n.target for n in module.graph.find_nodes(op="call_function")][:2] == [as_one, len]
    assert module(torch.ones(2)).tolist() == [3, 3]
    again = symbolic_trace(module)
    assert again.code == module.code


def test_unpacking_and_asserts():
    def program(pair):
        left, right = pair
        return left - right

    assert symbolic_trace(program)((5, 3)) == 2

    class Asserting(Tracer):
        trace_asserts = True

    made = {}
    exec("def positive(x):\n    assert x > 0\n    return x", made)  # an assert here is pytest's
    module = GraphModule({}, Asserting().trace(made["positive"]))
    assert module(1) == 1
    with pytest.raises(AssertionError):
        module(-1)


def test_rewriting_makes_asserts_nodes():
    module = GraphModule({}, RewritingTracer().trace(checked))
    assert module(torch.ones(1)).item() == 2
    with pytest.raises(AssertionError, match="too small"):
        module(-torch.ones(1))


def checked(x):
    assert x.sum() > 0, "too small"
    return x + 1


def test_concrete_arguments_take_containers_apart_as_pytorch_does():
    module = symbolic_trace(lambda x: x["a"][0] + x["b"], concrete_args={"x": {"a": [PH, 3], "b": PH}})
    assert module.code.strip() == (
        "def forward(self, x):\n"
        "    x_1, x_2, x_3, = fx_pytree.tree_flatten_spec([x], self._in_spec)\n"
        "    eq = x_2 == 3;  x_2 = None\n"
        "    _assert = torch._assert(eq, 'x has been specialized to have value 3 but got another value');"
        "  eq = _assert = None\n"
        "    add = x_1 + x_3;  x_1 = x_3 = None\n"
        "    return pytree.tree_unflatten([add], self._out_spec)"
    )
    argument = {"a": [torch.ones(1), 3], "b": torch.ones(1)}
    assert module(argument).item() == 2
    assert Interpreter(module).run(argument).item() == 2
    assert copy.deepcopy(module)(argument).item() == 2


def test_parameters_with_known_sizes_decide_branches():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.ones(4, 3))

        def forward(self, x):
            return x @ self.w if self.w.shape[0] > 3 else x

    with pytest.raises(TraceError):
        Tracer().trace(Net())
    assert "matmul" in str(Tracer(param_shapes_constant=True).trace(Net()))


def test_classes_whose_construction_is_a_node():
    class Point(metaclass=ProxyableClassMeta):
        def __init__(self, x):
            self.x = x

    (node,) = Tracer().trace(lambda x: Point(x)).find_nodes(op="call_function")
    assert node.target is Point and Point(3).x == 3


def test_stack_traces_are_recorded_if_wanted():
    class Net(nn.Module):
        def forward(self, x):
            return x + 1

    tracer = Tracer()
    tracer.record_stack_traces = True
    (add,) = tracer.trace(Net()).find_nodes(op="call_function", target=operator.add)
    assert "test_tracing.py" in add.stack_trace and "return x + 1" in add.stack_trace
    text = GraphModule({}, add.graph).print_readable(print_output=False)
    assert "in forward, code: return x + 1" in text


def test_custom_tracers_see_every_node_and_choose_the_leaves():
    class NoLeaves(Tracer):
        seen = 0

        def is_leaf_module(self, m, module_qualified_name):
            return False

        def create_node(self, *args, **kwargs):
            NoLeaves.seen += 1
            return super().create_node(*args, **kwargs)

    graph = NoLeaves().trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert not graph.find_nodes(op="call_module") and NoLeaves.seen == len(graph.nodes)


# ------------------------------------------------------------------------------------------------ graph modules


def test_a_graph_module_is_a_module_with_the_parameters_of_its_root():
    root = Everything()
    module = symbolic_trace(root)
    assert isinstance(module, nn.Module)
    # As in PyTorch: constants that were met on the way are buffers.
    assert set(module.state_dict()) == {*root.state_dict(), "_tensor_constant0", "_tensor_constant1"}
    assert module.w is root.w
    twin = copy.deepcopy(module)
    assert twin.w is not root.w and twin.code == module.code


@pytest.mark.parametrize("make", [lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU()), lambda: nn.Linear(2, 2)])
def test_graph_modules_are_pickled_and_written_to_folders(make, tmp_path, monkeypatch):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.w = make(), nn.Parameter(torch.ones(1))

        def forward(self, x):
            return self.inner(x).sum() * self.w

    module, x = symbolic_trace(Net()), torch.ones(1, 2)
    again = pickle.loads(pickle.dumps(module))
    assert torch.equal(again(x), module(x)) and again.code == module.code
    module.to_folder(tmp_path / "written_net", "Net")
    monkeypatch.syspath_prepend(tmp_path)
    written = __import__("written_net").Net()
    for name in ("written_net", "written_net.module"):
        sys.modules.pop(name)
    assert torch.equal(written(x), module(x))


def test_submodules_come_and_go():
    module = symbolic_trace(nn.Sequential(nn.Linear(2, 2)))
    assert module.add_submodule("a.b.c", nn.ReLU()) and isinstance(module.a.b.c, nn.ReLU)
    assert module.delete_submodule("a.b.c") and not module.delete_submodule("a.b.c")
    assert not module.delete_submodule("nowhere.at.all")
    module.delete_all_unused_submodules()
    assert [name for name, _ in module.named_modules()] == ["", "0"]
    with pytest.warns(UserWarning, match="no underlying reference"), module.graph.inserting_before():
        module.graph.call_module("missing", ())


def test_hooks_hear_of_nodes_that_come_go_and_are_replaced():
    module, heard = symbolic_trace(lambda x: x + 1), []
    module._register_create_node_hook(lambda node: heard.append(("made", node.name)))
    module._register_erase_node_hook(lambda node: heard.append(("erased", node.name)))
    module._register_replace_node_hook(lambda old, new, user: heard.append((old.name, new, user.name)))
    (add,) = module.graph.find_nodes(op="call_function")
    with module.graph.inserting_after(add):
        neg = module.graph.call_method("neg", (add.args[0],))
    add.replace_all_uses_with(neg)
    module.graph.erase_node(add)
    assert heard == [("made", "neg"), ("add", "neg", "output"), ("erased", "add")]


def test_the_listing_and_the_repr_are_pytorchs():
    module = symbolic_trace(nn.Sequential(nn.Linear(2, 3)))
    assert str(module).startswith("Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=True)\n)\n\n\n\ndef")
    text = str(symbolic_trace(lambda x: torch.relu(x).to("cpu", copy=True)).graph)
    assert "%relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})" in text
    assert "%to : [num_users=1] = call_method[target=to](args = (%relu, cpu), kwargs = {copy: True})" in text


def test_code_can_be_changed_on_its_way():
    module = symbolic_trace(lambda x: x + 1)
    with module.graph.on_generate_code(lambda before: lambda body: ["x = x * 10\n", *body]):
        module.recompile()
        assert module(1) == 11
    module.recompile()
    assert module(1) == 2


def test_in_place_operators_are_written_as_pytorch_writes_them():
    graph = Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(operator.iadd, (x, 2)))
    module = GraphModule({}, graph)
    assert "    x += 2;  iadd = x;  x = None\n" in module.code
    assert module(3) == 5


# ------------------------------------------------------------------------------------------------ interpreters


def test_an_interpreter_may_override_a_kind_of_node_and_run_a_part():
    class Swap(Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is torch.sigmoid else target, args, kwargs)

    module, x = symbolic_trace(lambda x: torch.sigmoid(x) + 1), torch.ones(2)
    assert Swap(module).run(x).tolist() == [0, 0]
    boxed = [x]
    assert Interpreter(module).boxed_run(boxed).tolist() == module(x).tolist() and boxed == []
    with pytest.raises(RuntimeError, match="Expected positional argument for parameter x, but one was not passed in!"):
        Interpreter(module).run()


def test_a_transformer_keeps_parameters_and_wrapped_calls():
    module = symbolic_trace(Everything())
    assert Transformer(module).transform().code == module.code.replace("k : float", "k")  # as in PyTorch
    wrapped = symbolic_trace(lambda x: as_one(x, False))
    assert Transformer(wrapped).transform()(torch.ones(1)).item() == -1


def test_node_arguments_are_normalized():
    module = symbolic_trace(lambda x: F.dropout(x, training=False))
    (node,) = module.graph.find_nodes(op="call_function")
    normal = node.normalized_arguments(module, normalize_to_only_use_kwargs=True)
    assert list(normal.kwargs) == ["input", "p", "training", "inplace"] and normal.args == ()
    node.insert_arg(1, 0.25)
    assert node.args == (node.all_input_nodes[0], 0.25)
    with pytest.raises(AssertionError, match="insert_args index must be between"):
        node.insert_arg(5, 1)


def test_modules_that_do_nothing_besides_computing_are_dead_code():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.plain, self.norm = nn.Linear(2, 2), nn.BatchNorm1d(2)

        def forward(self, x):
            self.plain(x), self.norm(x)
            return x

    module = symbolic_trace(Net())
    assert module.graph.eliminate_dead_code()
    assert [n.target for n in module.graph.find_nodes(op="call_module")] == ["norm"]  # it counts what it sees
    module.norm.eval()
    assert module.graph.eliminate_dead_code() and not module.graph.find_nodes(op="call_module")


def test_a_function_that_asks_its_arguments_is_called_in_the_graph():
    def scaled(x):
        if has_torch_function_unary(x):
            return handle_torch_function(scaled, (x,), x)
        return x * 2

    module = fx.symbolic_trace(lambda x: scaled(x) + 1)
    assert [node.op for node in module.graph.nodes] == ["placeholder", "call_function", "call_function", "output"]
    assert module(torch.ones(2)).tolist() == [3.0, 3.0]


def test_operands_of_einsum_in_a_list_are_recorded_one_by_one():
    traced = symbolic_trace(lambda x, y: torch.einsum("ij,jk->ik", (x, y)))
    node = next(node for node in traced.graph.nodes if node.op == "call_function")
    assert node.args[0] == "ij,jk->ik" and [arg.name for arg in node.args[1:]] == ["x", "y"]
