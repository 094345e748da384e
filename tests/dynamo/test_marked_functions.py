"""disable(recursive=False), allow_in_graph and assume_constant_result; x.data."""

import pytest

import minitorch_compile as torch
from minitorch_compile.dynamo import optimize
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import assert_same, matrix


def inner(x):
    return torch.cos(x) + 1


@torch.compiler.disable(recursive=False)
def only_the_frame(x):
    if torch.compiler.is_compiling():
        return x
    return inner(x) * 2


class Owner:
    @torch.compiler.disable(recursive=False)
    def method(self, x):
        return inner(x) * 2


def test_what_a_disabled_frame_calls_is_compiled():
    assert_same(lambda x: only_the_frame(x + 1) - 1, graphs=3, breaks=1)
    assert_same(lambda owner, x: owner.method(x + 1) - 1, lambda: (Owner(), matrix()), graphs=3, breaks=1)


def test_a_disabled_frame_may_be_compiled_itself():
    counter = CompileCounter()
    assert torch.equal(optimize(only_the_frame, counter)(matrix()), only_the_frame(matrix()))
    assert counter.op_count == 2


@torch.compiler.allow_in_graph
def halves(x):
    return x.chunk(2)


@torch.compiler.allow_in_graph
def decides_by_data(x):
    return x * 2 if x.sum() > 0 else x


def test_a_function_allowed_in_the_graph_is_a_node():
    region = assert_same(lambda x: [half * 2 for half in halves(x)])
    assert region.graph_modules[0].graph.find_nodes(op="call_function", target=halves)


def test_one_that_needs_data_breaks_the_graph():
    assert_same(lambda x: decides_by_data(x + 1) - 1, graphs=2, breaks=1)


def test_a_constant_result_is_asked_for_once():
    asked = []

    @torch.compiler.assume_constant_result
    def setting(n):
        asked.append(n)
        return len(asked)

    compiled = optimize(lambda x: x * setting(2), eager)
    assert [compiled(torch.ones(1)).tolist() for _ in range(3)] == [[1.0]] * 3
    assert asked == [2]


def test_only_python_functions_can_be_marked():
    with pytest.raises(TypeError, match="allow_in_graph: function must be a Python function"):
        torch.compiler.allow_in_graph(len)


def test_a_class_and_a_list_can_be_marked_too():
    class Layer(torch.nn.Module):
        pass

    def double(x):
        return x * 2

    assert torch.compiler.allow_in_graph(Layer) is Layer  # says nothing of the calls of its instances
    assert torch.compiler.allow_in_graph([double]) == [double] and double._dynamo_allowed


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, w: (x.data.add_(1) * w).sum() + (x * w).sum(),
        lambda x, w: _written_behind((x * 2).exp(), w),
        lambda x, w: (x.data * w).sum(),
        lambda x, w: (x * 2).data.requires_grad,
    ],
)
def test_data_is_read_and_written_as_by_the_plain_function(function, backend):
    outcomes = []
    for called in (function, torch.compile(function, backend=backend)):
        x, w = torch.arange(3.0).requires_grad_(), torch.ones(3).requires_grad_()
        result = called(x, w)
        if isinstance(result, torch.Tensor):
            result.backward()
            result = result.detach().tolist()
        gradients = [None if t.grad is None else t.grad.tolist() for t in (x, w)]
        outcomes.append((result, x.detach().tolist(), x._version, w._version, gradients))
    assert outcomes[0] == outcomes[1]


def _written_behind(y, w):
    y.data.mul_(3)
    return (y * w).sum()


def test_data_that_lives_on_shares_memory_and_not_the_version():
    def f(x):
        return x.data

    x = torch.ones(2, requires_grad=True)
    data = torch.compile(f, backend="aot_eager")(x)
    data.add_(1)
    assert x.tolist() == [2, 2] and x._version == 0 and not data.requires_grad


def test_a_method_read_from_the_class_of_tensors():
    assert_same(lambda x: torch.Tensor.add(x, 1) + torch.Tensor.sum(x, dim=0))
