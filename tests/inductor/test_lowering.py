"""Lowering: every prim has a rule, views cost nothing, and what is needed in memory is stored once."""

import pytest

from minitorch_compile import prims
from minitorch_compile.inductor.ir.dependencies import accesses_of
from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.ir.loops import Loop
from minitorch_compile.inductor.lowering import WITHOUT_A_KERNEL, lower, table
from minitorch_compile.tensor.numerics.dtype import float32
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import floats


def lowered(function, *arrays):
    return lower(record(function, tensors_of(arrays)))


def test_every_prim_has_a_lowering_or_a_reason():
    assert set(table) | set(WITHOUT_A_KERNEL) == set(prims.table)
    assert not set(table) & set(WITHOUT_A_KERNEL)


def test_a_chain_of_pointwise_prims_and_views_is_one_loop():
    def chain(p, x):
        return p.reshape(p.exp(p.transpose(p.neg(x), (1, 0))), (2, 6))

    (loop,) = lowered(chain, floats(3, 4)).operations
    assert isinstance(loop, Loop)


def test_a_transposed_matrix_is_read_in_place_by_blas():
    (call,) = lowered(lambda p, a, b: p.mm(p.transpose(a, (1, 0)), b), floats(5, 3), floats(5, 4)).operations
    assert isinstance(call, ExternCall)
    assert call.inputs[0].strides == (1, 3)


def test_a_matrix_that_blas_cannot_read_is_copied():
    def strided(p, a, b):
        return p.mm(p.slice(a, (0, 0), (5, 6), (1, 2)), b)

    first, second = lowered(strided, floats(5, 6), floats(3, 4)).operations
    assert isinstance(first, Loop) and isinstance(second, ExternCall)


def test_a_value_with_several_uses_is_stored_if_it_costs_something():
    def twice(p, x):
        e = p.exp(x)
        return p.sum(e, (0,)), p.sum(e, (1,))

    def cheap(p, x):
        e = p.neg(x)
        return p.sum(e, (0,)), p.sum(e, (1,))

    assert len(lowered(twice, floats(3, 4)).operations) == 3
    assert len(lowered(cheap, floats(3, 4)).operations) == 2


@pytest.mark.parametrize(
    "bordered",
    [
        lambda p, x: p.pad(p.transpose(x, (1, 0)), (20, 0), (0, 0), 0.0),
        lambda p, x: p.cat([p.transpose(x, (1, 0)), p.transpose(x, (1, 0))], 0),
    ],
    ids=["pad", "cat"],
)
def test_what_may_lie_outside_of_memory_is_known_to_be_read_under_a_mask(bordered):
    (loop,) = lowered(bordered, floats(3, 4)).operations
    assert all(access.masked for access in accesses_of(loop).reads)


def test_an_expensive_value_is_stored_before_it_is_repeated():
    def repeated(p, x):
        return p.broadcast_in_dim(p.exp(x), (100, 4), (1,))

    assert len(lowered(repeated, floats(4)).operations) == 2


@pytest.mark.parametrize(
    "sizes, loops", [((64, 2048), 2), ((1 << 17,), 2), ((64, 100), 1), ((3, 1 << 17), 1), ((100_003,), 1)]
)
def test_a_long_reduction_of_everything_is_taken_in_parts(sizes, loops):
    operations = lowered(lambda p, x: p.sum(p.exp(x), tuple(range(len(sizes)))), floats(*sizes)).operations
    assert len(operations) == loops and operations[-1].buffer.sizes == ()


def test_a_constant_exponent_becomes_a_multiplication():
    graph = lowered(lambda p, x: p.pow(x, p.full((4,), 2.0, float32)), floats(4))
    assert "mul(t0, t0)" in repr(graph) and "pow(t" not in repr(graph)


def test_an_input_returned_as_it_is_stays_itself():
    graph = lowered(lambda p, x: (x, p.neg(x)), floats(4))
    assert graph.outputs[0].buffer is graph.inputs[0]


def test_the_ir_prints_loops_under_the_users_line():
    text = repr(lowered(lambda p, x: p.sum(p.exp(x), (1,)), floats(3, 4)))
    assert text == (
        "input arg0: float32[3, 4]\n\n# sum: model.py:3  sum(...)\nbuf0: float32[3]\n"
        "for i0 in 3, reduce r1 in 4:\n    t0 = load(arg0, 4*i0 + r1)\n    t1 = exp(t0)\n    buf0[i0] = sum(t1)\n\n"
        "output buf0[3]:[1]"
    )


def test_concatenations_of_many_share_the_rows_that_are_stored():
    """Hundreds of tensors: more arguments than a kernel has. What grows doesn't begin again each time."""

    def growing(p, *xs):
        return tuple(p.cat(xs[:n], 0) for n in (16, 17, 40, 300))

    graph = lowered(growing, *(floats(1, 3) for _ in range(300)))
    read = [len({access.buffer for access in accesses_of(loop).reads}) for loop in graph.operations]
    assert max(read) <= 32
    assert len(graph.operations) == 4 + 300 // 16
