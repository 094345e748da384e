"""The functionalization mode alone, and the parts it is made of."""

from __future__ import annotations

import pytest

from minitorch_compile.aot.aliasing.view_inverses import has_inverse
from minitorch_compile.aot.aliasing.view_steps import ViewStep
from minitorch_compile.aot.aot_function import aot_function
from minitorch_compile.aot.functional_form import trace_functionally
from minitorch_compile.aot.functional_program import functional_program
from minitorch_compile.aot.interpret import interpret
from minitorch_compile.aot.tracing import trace
from minitorch_compile.aot.verify import verify_functional
from minitorch_compile.autograd import Function
from minitorch_compile.tensor import arange, empty_fake, from_numpy, no_grad, ops, tensor
from minitorch_compile.tensor.dispatch.op import Op
from tests.aot.compare import captured, sample

VIEWS = [op for op in ops.table.values() if op.kind == "view" and op is not ops.as_strided]  # see below


@pytest.mark.parametrize("op", VIEWS, ids=repr)
def test_every_view_can_be_written_through(op: Op):
    assert has_inverse(op), f"{op!r}: declare its inverse in view_inverses.py"


REPLACED = {
    "view": (ops.view, arange(6), ((2, 3),)),
    "permute": (ops.permute, arange(6).view(1, 2, 3), ((2, 0, 1),)),
    "transpose": (ops.transpose, arange(6).view(2, 3), (0, -1)),
    "t": (ops.t, arange(6).view(2, 3), ()),
    "unsqueeze": (ops.unsqueeze, arange(3), (-1,)),
    "squeeze": (ops.squeeze, arange(3).view(1, 3, 1), (0,)),
    "squeeze all": (ops.squeeze, arange(3).view(1, 3, 1), (None,)),
    "select": (ops.select, arange(6).view(2, 3), (1, -1)),
    "slice": (ops.slice, arange(6).view(2, 3), (1, 1, 3, 1)),
    "slice from the end": (ops.slice, arange(6), (0, -2, None, 1)),
    "slice of everything": (ops.slice, arange(6), (0, None, None, 1)),
    "slice of nothing": (ops.slice, arange(6), (0, 4, 2, 1)),
    "slice with a step": (ops.slice, arange(10).view(2, 5), (1, 0, 5, 2)),
    "expand in front": (ops.expand, arange(3), ((1, 3),)),
    "detach": (ops.detach, arange(3), ()),
    "as_strided": (ops.as_strided, arange(10), ((2, 2), (4, 1), 1)),
    "as_strided of a transpose": (ops.as_strided, arange(12).view(3, 4).t(), ((2, 2), (4, 1), 1)),
    "as_strided of a part": (ops.as_strided, arange(12)[3:9], ((2, 2), (3, 1), 4)),
}


@pytest.mark.parametrize("name", REPLACED)
def test_replacing_a_view_is_writing_to_it(name):
    op, base, arguments = REPLACED[name]
    expected = ops.as_strided(from_numpy(base.storage.buffer.copy()), base.sizes, base.strides, base.offset)
    view = op(expected, *arguments)
    new = view * 10 + 100
    view.copy_(new)
    step = ViewStep.of(op, base, arguments)
    assert step.replaced(base, new).tolist() == expected.tolist()
    assert step.replaced(base.contiguous(), new).tolist() == expected.tolist()


WRITES_TO_REPEATED = {
    "one of the equal rows": (arange(3), lambda x: x.expand(4, 3)[1].add_(1)),
    "all rows, with one number": (arange(3), lambda x: x.expand(4, 3).fill_(7)),
    "a part of some rows": (arange(3), lambda x: x.expand(4, 3)[2:, 1:].zero_()),
    "overlapping windows": (arange(8), lambda x: x.unfold(0, 3, 2).fill_(7)),
    "one of the overlapping windows": (arange(8), lambda x: x.unfold(0, 3, 2)[1].add_(7)),
    "columns": (arange(3).reshape(3, 1), lambda x: x.expand(3, 4).t().fill_(2)),
}


@pytest.mark.parametrize("name", WRITES_TO_REPEATED)
def test_writing_to_repeated_elements_is_writing_to_all_that_show_them(name):
    argument, write = WRITES_TO_REPEATED[name]

    def program(x):
        y = x * 1
        write(y)
        return (y,)

    (result,) = aot_function(captured(program, 1), [argument], interpret)(argument)
    assert result.tolist() == program(argument)[0].tolist()


def test_writing_different_values_to_one_element_is_refused_as_plainly():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        trace_functionally(lambda x: x.expand(4, 3).add_(1), empty_fake((1, 3)))


def test_a_view_read_before_a_write_keeps_its_value():
    def program(x):
        y = x * 1
        before = y[0] + 0
        y.add_(1)
        return before

    assert trace_functionally(program, empty_fake((2,))) == "x -> add(select(mul(x, 1), 0, 0), 0)"


def test_a_program_without_writes_is_left_as_it_is():
    assert trace_functionally(lambda x: x.exp().t(), empty_fake((2, 3))) == "x -> t(exp(x))"


def test_chained_writes_read_each_other():
    assert trace_functionally(lambda x: (x * 2).add_(1).mul_(3), empty_fake(())) == "x -> mul(add(mul(x, 2), 1), 3)"


def test_versions_count_up_while_tracing():
    versions = []

    def program(x):
        x.add_(1)
        versions.append(x._version)
        return x

    trace_functionally(program, empty_fake(()))
    assert versions == [1]


@pytest.mark.parametrize("change", [lambda x: x.t_(), lambda x: x.resize_(2), lambda x: x.set_(tensor([1.0]))])
def test_a_tensor_that_looks_at_its_memory_in_another_way_is_refused(change):
    def program(x):
        y = x * 2
        change(y)
        return y + 1

    with pytest.raises(NotImplementedError, match="make a view of it, or a new tensor"):
        trace_functionally(program, empty_fake((2, 3)))


def test_ops_without_grad_mode_are_marked():
    def function(x):
        with no_grad():
            y = x * 2
        return (y + x,)

    graph = functional_program(captured(function, 1), [sample(2)]).graph_module.graph
    mul, add = graph.find_nodes(op="call_function")
    assert "no_grad" in mul.meta and "no_grad" not in add.meta


def test_a_custom_function_that_returns_a_part_of_its_argument_is_refused_rather_than_differentiated_wrongly():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x[1:]

        @staticmethod
        def backward(ctx, grad):
            return grad * 100

    with pytest.raises(NotImplementedError, match="an output of Same"):
        functional_program(captured(Same.apply, 1), [sample(2)])


def test_a_size_that_depends_on_data_is_refused():
    with pytest.raises(RuntimeError, match="depends on the data"):
        functional_program(captured(lambda x: x[x > 0], 1), [sample(2)])


def test_the_verifier_refuses_writes_and_draws():
    module = trace(lambda x: x + 1, [sample(2)])
    (node,) = module.graph.find_nodes(op="call_function")
    verify_functional(module.graph)
    node.target = ops.table["add_"]
    with pytest.raises(RuntimeError, match="which is inplace"):
        verify_functional(module.graph)
    node.target, node.args = ops.uniform_random, ((2,),)
    with pytest.raises(RuntimeError, match="which is random"):
        verify_functional(module.graph)


def test_a_rewrite_that_brings_in_a_write_is_refused_before_compiling():
    def writing(module):
        (node,) = module.graph.find_nodes(op="call_function", target=ops.exp)
        node.target = ops.table["exp_"]
        return module

    def compiler(graph_module, example_inputs):
        raise AssertionError("it was not to be called")

    with pytest.raises(RuntimeError, match="calls ops.exp_, which is inplace"):
        aot_function(captured(lambda x: (x.exp(),), 1), [sample(2)], compiler, decompose=writing)


def test_real_tensors_become_constants_of_the_trace():
    table = tensor([1.0, 2.0])
    module = trace(lambda x: x * table + table, [sample(2)])
    assert list(module.attributes.values()) == [table] or module.attributes["constant_0"] is table
    assert len(module.graph.find_nodes(op="get_attr")) == 1


def test_tracing_a_tensor_too_large_to_exist():
    module = trace(lambda x: (x @ x).sum(), [empty_fake((10**6, 10**6))])
    assert module.graph.find_nodes(op="call_function")[0].meta["val"].numel() == 10**12


def test_every_value_of_a_trace_is_known():
    module = trace(lambda x: ops.max_pool2d_with_indices(x, 2), [empty_fake((1, 2, 4, 4))])
    verify_functional(module.graph)
    values, indices = module.graph.output_node().meta["val"]
    assert values.shape == indices.shape == (1, 2, 2, 2)
