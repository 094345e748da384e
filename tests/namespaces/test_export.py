"""torch.export: the graph computes what the module does, for all sizes that it says it is for, also from a file.

Signatures, errors and their texts as PyTorch 2.13's.
"""

from __future__ import annotations

import io
import math

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo.errors import Unsupported, UserError
from minitorch_compile.export import Dim, export


class Block(torch.nn.Module):
    """Parameters, buffers that are written to, a constant, nested arguments and results."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("shift", torch.ones(2), persistent=False)
        self.scale = torch.full((2,), 3.0)

    def forward(self, x, pair, *, times=2):
        self.count.add_(1)
        hidden = self.norm(self.linear(x)).relu_() * self.scale + self.shift
        return {"a": hidden * times, "b": [pair[0] + x, None]}, x


def arguments(batch):
    return (torch.randn(batch, 3), (torch.randn(batch, 3), 5))


def exported(times=2):
    torch.manual_seed(0)
    module = Block()
    batch = Dim("batch")
    shapes = {"x": {0: batch}, "pair": ((batch, None), None), "times": None}
    return module, export(module, arguments(4), {"times": times}, dynamic_shapes=shapes)


def from_file(program):
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    return torch.export.load(file)


@pytest.mark.parametrize("made", ["as captured", "decomposed", "from a file", "decomposed, from a file"])
def test_the_program_is_the_module(made):
    module, program = exported()
    assert module.count.item() == 0  # exporting is not training
    program = from_file(program) if "file" in made else program
    program = program.run_decompositions() if "decomposed" in made else program
    runs, wanted = program.module(), Block()
    wanted.load_state_dict(module.state_dict())
    for batch in (4, 7, 2):
        given = arguments(batch)
        torch.testing.assert_close(runs(*given, times=2), wanted(*given, times=2))
    torch.testing.assert_close(dict(runs.state_dict())["norm.running_var"], wanted.norm.running_var)
    assert runs.count.item() == 3
    runs(*given, times=2)[0]["a"].sum().backward()
    wanted(*given, times=2)[0]["a"].sum().backward()
    torch.testing.assert_close(runs.linear.weight.grad, wanted.linear.weight.grad)


def test_the_signature():
    _, program = exported()
    signature = program.graph_signature
    assert signature.parameters == ("linear.weight", "linear.bias", "norm.weight", "norm.bias")
    assert signature.inputs_to_buffers["b_norm_running_mean"] == "norm.running_mean"
    assert (signature.non_persistent_buffers, signature.lifted_tensor_constants) == (("shift",), ("scale",))
    assert (signature.user_inputs, signature.buffers_to_mutate) == (("x", "pair_0", 5, 2), {})
    assert list(program.state_dict) == list(Block().state_dict())
    assert str(program).startswith("ExportedProgram:\n    class GraphModule")
    assert "p_linear_weight: PARAMETER target='linear.weight'" in str(program)
    changed = program.run_decompositions().graph_signature.buffers_to_mutate
    assert sorted(changed.values()) == ["count", "norm.num_batches_tracked", "norm.running_mean", "norm.running_var"]
    assert not [node for node in program.run_decompositions().graph.nodes if str(node.target).endswith("_")]


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "message"),
    [
        (
            (torch.ones(2, 4), (torch.ones(2, 3), 5)),
            {"times": 2},
            AssertionError,
            r"x.size\(\)\[1\] == 3",
        ),
        (
            (torch.ones(2, 3), (torch.ones(4, 3), 5)),
            {"times": 2},
            AssertionError,
            r"pair_0.size\(\)\[0\] == x",
        ),
        ((torch.ones(2, 3), (torch.ones(2, 3), 6)), {"times": 2}, AssertionError, "Guard failed: pair_1 == 5"),
        ((torch.ones(2, 3),), {"times": 2}, ValueError, "Trying to flatten user inputs with exported input tree spec"),
        ((torch.ones(2, 3), (torch.ones(2, 3), 5)), {}, ValueError, "but actually got inputs with tree spec of"),
        ((torch.ones(3), (torch.ones(2, 3), 5)), {"times": 2}, AssertionError, r"x.dim\(\) == 2"),
        ((3, (torch.ones(2, 3), 5)), {"times": 2}, AssertionError, "isinstance\\(x, Tensor\\)"),
    ],
)
def test_other_arguments_are_refused(args, kwargs, error, message):
    with pytest.raises(error, match=message):
        exported()[1].module()(*args, **kwargs)


def of(function, *examples, shapes=None):
    class Module(torch.nn.Module):
        def forward(self, x, y=None):
            return function(x) if y is None else function(x, y)

    return export(Module(), examples, dynamic_shapes=shapes)


def test_sizes_depend_on_each_other():
    program = of(lambda x, y: x + y[::2], torch.ones(3), torch.ones(6), shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    for made in (program, from_file(program)):
        assert made.module()(torch.ones(4), torch.ones(8)).shape == (4,)
        with pytest.raises(AssertionError, match="Guard failed"):
            made.module()(torch.ones(4), torch.ones(9 + 2))


def test_a_size_of_one_is_allowed_if_the_graph_is_the_same():
    program = of(lambda x: x.sum(0), torch.ones(3, 2), shapes=({0: Dim("n")},))
    assert program.module()(torch.ones(1, 2)).tolist() == [1.0, 1.0]
    asks = of(lambda x: x if x.shape[0] == 1 else x.sum(0), torch.ones(3, 2), shapes=({0: Dim("n")},))
    with pytest.raises(AssertionError, match=r"Guard failed: 2 <= x.size\(\)\[0\]"):
        asks.module()(torch.ones(1, 2))


def test_bounds_are_checked():
    program = of(lambda x: x.sum(0), torch.ones(3, 2), shapes=({0: Dim("n", min=2, max=4)},))
    assert [str(within) for within in program.range_constraints.values()] == ["[2, 4]"]
    with pytest.raises(AssertionError, match=r"2 <= x.size\(\)\[0\] <= 4"):
        program.module()(torch.ones(5, 2))


def test_branches_and_loops_and_sizes_that_data_decide():
    def branching(x):
        y = torch.cond(x.sum() > 0, lambda x: x * 2, torch.neg, (x,))
        _, y = torch.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y + 1), (torch.tensor(0), y))
        return y[y > 0]

    program = from_file(of(branching, torch.ones(3)))
    for x in (torch.tensor([1.0, -5.0, 9.0]), -torch.ones(3)):
        torch.testing.assert_close(program.module()(x), branching(x))
    with pytest.raises(NotImplementedError, match="run_decompositions: '.*' needs data"):
        program.run_decompositions()


def test_a_network_of_convolutions():
    network = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.LazyLinear(2)
    )
    network(torch.ones(2, 1, 8, 8))
    program = export(network, (torch.randn(2, 1, 8, 8),), dynamic_shapes=({0: Dim("batch")},)).run_decompositions()
    for batch in (1, 5):
        x = torch.randn(batch, 1, 8, 8)
        torch.testing.assert_close(from_file(program).module()(x), network(x))
    torch.testing.assert_close(torch.compile(program.module(), fullgraph=True)(x), network(x))


def test_no_gradient_goes_through_what_runs_without_grad_mode():
    weight = torch.nn.Parameter(torch.ones(2))

    def stopped(x):
        with torch.no_grad():
            y = x * weight
        return y + x * weight

    for made in (of(stopped, torch.ones(2)), from_file(of(stopped, torch.ones(2)).run_decompositions())):
        x = torch.ones(2, requires_grad=True)
        made.module()(x).sum().backward()
        assert x.grad.tolist() == [1.0, 1.0] and torch.is_grad_enabled()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: export(len, ()), ValueError, "Expected `mod` to be an instance of `torch.nn.Module`, got <class"),
        (lambda: export(Block(), [1]), UserError, "Expecting `args` to be a tuple"),
        (
            lambda: of(lambda x: x, torch.ones(2), shapes={"z": None}),
            UserError,
            "must be the arg names",
        ),
        (lambda: of(lambda x: x, torch.ones(2), shapes=({1: Dim("n")},)), UserError, "dimension 1"),
        (lambda: of(lambda x: x, torch.ones(2), shapes=(3,)), UserError, "a dict or a tuple of 1"),
        (lambda: of(lambda x: x, torch.ones(1), shapes=({0: Dim("n")},)), UserError, "has size 1"),
        (
            lambda: of(lambda x: x @ torch.ones(3), torch.ones(2, 3), shapes=({1: Dim("n")},)),
            UserError,
            "Constraints violated",
        ),
        (
            lambda: of(torch.add, torch.ones(2), torch.ones(2), shapes=((Dim("a"),), (Dim("b"),))),
            UserError,
            "The values of b and a must always be equal",
        ),
        (
            lambda: of(lambda x: (x, x.shape[0]), torch.ones(2), shapes=({0: Dim("n")},)),
            UserError,
            "returns the number 2",
        ),
        (
            lambda: of(lambda x: x if x.sum() > 0 else -x, torch.ones(2)),
            Unsupported,
            "data-dependent",
        ),
        (
            lambda: of(lambda x, y: x, torch.ones(2), torch.float32),
            ValueError,
            "Unsupported input type",
        ),
        (lambda: Dim("a", min=3, max=2), AssertionError, "inconsistent min=3, max=2"),
        (lambda: 2 * Dim("a"), NotImplementedError, "use Dim.AUTO"),
        (lambda: torch.export.unflatten(exported()[1]), NotImplementedError, "no submodules"),
        (lambda: exported()[1](torch.ones(2, 3)), RuntimeError, "Unable to call ExportedProgram directly"),
        (lambda: exported()[1].module().eval(), NotImplementedError, "Calling eval\\(\\) is not supported yet"),
        (lambda: torch.export.save(Block(), io.BytesIO()), TypeError, "must be an instance of 'ExportedProgram'"),
    ],
)
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_file_names_only_what_a_graph_may_call():
    from minitorch_compile.export import archives

    for op, target in (("call_function", ["function", "eval"]), ("call_function", ["operator", "methodcaller"]),
                       ("call_method", ["name", "__reduce__"]), ("call_module", ["name", "x"])):  # fmt: skip
        with pytest.raises(RuntimeError, match="nothing that a graph may call"):
            archives._read_target(op, target)


def _rows_with_getattr(name):
    return lambda d: d["graph"].insert(
        1, ["a", "call_function", ["function", "getattr"], [["node", "x"], ["value", name]], {}, False, None]
    )


def _call_of(function):
    row = ["a", "call_function", ["function", "cond"], [["value", True], function, function], {}, False, None]
    return lambda d: d["graph"].insert(1, row)


RUN = "__import__('sys').exit()"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(names=[f"x, y={RUN}"]),
        lambda d: d.update(seen=[[f"2 or {RUN}"]]),
        lambda d: d.update(relations=[[[[[], 1]], f"== 1 or {RUN} ==", ""]]),
        lambda d: d.update(ranges=[[["symbol", "s0", True], f"{RUN} <= 2", 5]]),
        lambda d: d.update(ranges=[[["symbol", f"s0\n{RUN}", True], 2, 5]]),
        lambda d: d["graph"][0][2].__setitem__(1, f"x={RUN}"),
        lambda d: d["graph"][1][4].update({f"a={RUN}, b": ["value", 1]}),
        _rows_with_getattr("__class__"),
        _rows_with_getattr("gi_frame"),
        _call_of(["value", "x"]),
        _call_of(["node", "x"]),
    ],
)
def test_nothing_in_a_file_becomes_code(spoil):
    file, spoiled = io.BytesIO(), io.BytesIO()
    torch.export.save(of(lambda x: x + 1, torch.ones(2)), file)
    content = torch.load(io.BytesIO(file.getvalue()))
    spoil(content)
    torch.save(content, spoiled)
    with pytest.raises(RuntimeError, match="torch.export.load: the file has .* where there must be"):
        torch.export.load(io.BytesIO(spoiled.getvalue()))


def test_a_parameter_of_any_name_stays_a_name():
    module = torch.nn.Module()
    module.register_buffer('a"b\\', torch.ones(2))
    graph = torch.fx.Graph()
    graph.output(graph.get_attr('a"b\\'))
    assert torch.fx.GraphModule(module, graph)().tolist() == [1, 1]


@pytest.mark.parametrize("made", ["decomposed", "decomposed, from a file"])
def test_tensors_made_of_numbers_and_arguments_that_are_numbers(made):
    def double(x, numbers):
        return x[torch.tensor([1, 0])] * numbers[0] + torch.tensor(3.0) * numbers[1]

    given = torch.arange(2.0), (math.inf, True)
    program = of(double, *given).run_decompositions()
    program = from_file(program) if "file" in made else program
    assert program.graph_signature.lifted_tensor_constants == ("lifted_tensor_0", "lifted_tensor_1")
    torch.testing.assert_close(program.module()(*given), double(*given), equal_nan=True)
    with pytest.raises(AssertionError, match="Guard failed: y_0 == math.inf"):
        program.module()(given[0], (math.nan, True))
    program = of(double, given[0], (math.nan, 2)).run_decompositions()
    assert program.module()(given[0], (math.nan, 2)).isnan().all()


class Counting(torch.nn.Module):
    """Replaces a buffer, and changes attributes that are none."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.calls, self.seen = 0, []

    def forward(self, x):
        self.count = self.count + 1
        self.calls += 1
        self.seen.append(x)
        return x + self.count


@pytest.mark.parametrize("made", ["as captured", "decomposed", "from a file"])
def test_a_buffer_that_is_replaced_is_written_to_and_the_module_stays(made):
    module = Counting()
    program = export(module, (torch.zeros(1),))
    assert (module.count.item(), module.calls, module.seen) == (0, 0, [])
    program = {"decomposed": program.run_decompositions, "from a file": lambda: from_file(program)}.get(
        made, lambda: program
    )()
    runs = program.module()
    assert [runs(torch.zeros(1)).item(), runs(torch.zeros(1)).item(), runs.count.item()] == [1, 2, 2]


def test_an_argument_of_which_only_the_size_is_used():
    program = of(lambda x, y: x[: y.shape[0] // 2], torch.ones(7), torch.ones(8), shapes=({0: Dim("n")}, {0: Dim("m")}))
    for made in (program, from_file(program), program.run_decompositions()):
        assert made.module()(torch.ones(9), torch.ones(6)).shape == (3,)
    program = of(lambda x: torch.ones(x.shape[0], x.shape[1]), torch.ones(4, 3), shapes=({0: Dim("n", max=9)},))
    assert program.module()(torch.ones(7, 3)).shape == (7, 3)
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(torch.ones(10, 3))
