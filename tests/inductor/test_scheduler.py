"""What is fused, what is not and why, and what that saves."""

import pytest

from minitorch_compile.inductor.ir.extern_call import ExternCall
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.fit import Limits
from minitorch_compile.inductor.schedule.group import Group
from minitorch_compile.inductor.schedule.schedule import reads_of
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor.numerics.dtype import float32
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import PROGRAMS, floats, ints


def scheduled(function, *arrays, **limits):
    return schedule(lower(record(function, tensors_of(arrays))), Limits(**limits))


def program(name):
    function, arrays = PROGRAMS[name]
    return scheduled(function, *arrays)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "batch_norm"])
def test_a_normalisation_is_one_kernel(name):
    assert program(name).kernel_count == 1


def test_softmax_reads_its_input_and_writes_its_output_and_nothing_else():
    result = program("softmax")
    assert result.bytes_moved == 2 * 16 * 24 * 4
    assert result.steps[0].stages() == [0, 1, 1, 2]


def test_a_producer_and_its_consumer_are_fused_even_through_a_reshape():
    result = scheduled(lambda p, x: p.neg(p.tanh(p.reshape(p.exp(x), (6, 8)))), floats(4, 12))
    assert result.kernel_count == 1


def test_two_sums_of_one_input_share_the_reading_of_it():
    result = scheduled(lambda p, x: (p.sum(x, (1,)), p.amax(x, (1,))), floats(8, 16))
    assert result.kernel_count == 1
    assert result.bytes_moved == (8 * 16 + 8 + 8) * 4


def test_a_transposed_consumer_runs_in_the_producers_order():
    result = scheduled(lambda p, x: (p.tanh(x), p.exp(p.transpose(p.tanh(x), (1, 0)))), floats(8, 6))
    assert result.kernel_count == 1


def test_sums_over_different_dimensions_are_not_fused_and_the_reason_is_given():
    def both(p, x):
        e = p.tanh(p.mul(x, p.exp(x)))
        return p.sum(e, (0,)), p.sum(e, (1,)), e

    (edge,) = scheduled(both, floats(8, 6)).why_not
    assert edge.reason == "their loops differ: [6] reducing [8] and [8] reducing [6]"


def test_a_value_read_in_another_row_is_not_fused():
    def neighbours(p, x):
        e = p.exp(x)
        later, earlier = p.slice(e, (1, 0), (8, 6), (1, 1)), p.slice(e, (0, 0), (7, 6), (1, 1))
        return p.sub(p.mul(later, later), p.mul(earlier, later)), e

    result = scheduled(neighbours, floats(8, 6))
    assert result.kernel_count == 2
    assert "their loops differ: [8, 6] and [7, 6]" in repr(result.why_not)


def test_matrix_products_stay_extern_and_what_surrounds_them_fuses():
    result = scheduled(lambda p, a, b: p.neg(p.exp(p.mm(p.tanh(p.neg(a)), b))), floats(8, 6), floats(6, 4))
    assert [type(step) for step in result.steps] == [Group, ExternCall, Group]
    assert {edge.reason for edge in result.why_not} == {"buf1 is an extern kernel (mm)"}


def test_a_kernel_that_must_run_between_keeps_two_apart():
    def sandwich(p, x):
        e = p.exp(x)
        return p.add(e, p.mm(e, e))

    result = scheduled(sandwich, floats(6, 6))
    assert [type(step) for step in result.steps] == [Group, ExternCall, Group]
    assert any("must run between" in edge.reason for edge in result.why_not)


def test_two_kernels_that_each_need_a_part_of_the_other_are_never_made():
    """The products by y fuse, and need exp(x); the sum needs a product by y, so it stays apart from exp(x)."""

    def crossed(p, x, y, z, w):
        early = p.mm(p.mul(y, z), w)
        shifted = p.exp(x)
        late = p.mul(p.mul(p.mm(shifted, w), y), z)
        return late, p.add(early, shifted)

    done = set()
    for step in scheduled(crossed, *[floats(8, 8)] * 4).steps:
        made_elsewhere = {buffer for buffer in reads_of(step) if buffer.name.startswith("buf")} - set(step.outputs)
        assert made_elsewhere <= done
        done.update(step.outputs)


def test_what_reaches_no_output_is_not_computed():
    def wasteful(p, x):
        p.sum(p.exp(x), (0,))
        return p.neg(x)

    assert scheduled(wasteful, floats(4, 4)).kernel_count == 1


@pytest.mark.parametrize("dim", [0, 1])
def test_a_scan_is_fused_with_what_makes_its_input_and_what_reads_its_result(dim):
    result = scheduled(lambda p, x: p.neg(p.exp(p.scan(p.exp(x), dim, "sum"))), floats(4, 6))
    assert result.kernel_count == 1 and result.bytes_moved == 2 * 4 * 6 * 4


def test_what_reads_a_running_result_at_another_place_is_not_fused():
    result = scheduled(lambda p, x: p.exp(p.rev(p.scan(x, 1, "sum"), (1,))), floats(4, 6))
    assert result.kernel_count == 2
    assert "buf1 reads buf0[5 + 6*i0 - 1*r0] where buf0[6*i0 + r0] is written" in repr(result.why_not)


def test_a_scatter_stays_alone():
    result = scheduled(
        lambda p, x, i: p.exp(p.index_put(p.exp(x), (i,), p.index(x, (i,)), True)), floats(4, 6), ints(3)
    )
    assert "a scatter runs in order, alone" in repr(result.why_not)


def test_limits_bound_a_kernel():
    def chain(p, x):
        for _ in range(12):
            x = p.tanh(p.add(p.tanh(x), x))
        return x

    assert scheduled(chain, floats(8)).kernel_count == 1
    limited = scheduled(chain, floats(8), operations=10)
    assert limited.kernel_count > 1
    assert "more than 10 operations" in repr(limited.why_not)


def test_steps_come_after_what_they_need():
    for name in PROGRAMS:
        result = program(name)
        written = set(result.graph.inputs)
        for step in result.steps:
            inputs = step.inputs if isinstance(step, Group) else [view.buffer for view in step.inputs]
            assert written.issuperset(inputs), name
            written.update(step.outputs)


def test_the_schedule_prints_kernels_formulas_and_totals():
    def scaled_relu(p, x):
        return p.maximum(p.mul(x, p.full((3, 5), 2.0, float32)), p.full((3, 5), 0.0, float32))

    assert repr(scheduled(scaled_relu, floats(3, 5))) == (
        "kernel 0: buf0 = maximum(arg0 * 2.0, 0.0)  [i0:15]  reads arg0; writes buf0\n1 kernel, 120 bytes moved"
    )


def test_an_embedding_gradient_is_one_serial_kernel():
    def gradient(p, rows, values):
        return p.index_put(p.full((5, 6), 0.0, float32), (rows,), values, True)

    (step,) = scheduled(gradient, ints(9, low=0, high=5), floats(9, 6)).steps
    assert not step.is_fusible
