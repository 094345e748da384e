"""Temporaries share memory only when neither needs it at the same time."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from minitorch_compile.inductor.codegen.cpu.wrapper import WrapperWriter
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.schedule.memory_plan import Life, assign_offsets, in_place
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor.numerics.dtype import float32
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import floats

lives = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5), st.integers(1, 500)), max_size=12)


@given(lives)
def test_nothing_overlaps_in_both_place_and_time(spans):
    made = [Life(n, first, first + length, size) for n, (first, length, size) in enumerate(spans)]
    offsets, total = assign_offsets(made)
    for a, b in itertools.combinations(made, 2):
        together = a.first <= b.last and b.first <= a.last
        apart = offsets[a.name] + a.nbytes <= offsets[b.name] or offsets[b.name] + b.nbytes <= offsets[a.name]
        assert apart or not together
    assert all(offsets[life.name] % 64 == 0 and offsets[life.name] + life.nbytes <= total for life in made)
    assert total <= sum(-(-life.nbytes // 64) * 64 for life in made)


def scheduled(function, *arrays):
    return schedule(lower(record(function, tensors_of(arrays))))


def products(p, x, steps):
    for _ in range(steps):
        x = p.tanh(p.mm(x, x))
    return x


def test_a_dying_temporary_is_overwritten_in_place():
    result = scheduled(lambda p, x: p.mm(p.tanh(p.mm(x, x)), x), floats(8, 8))
    ((output, source),) = in_place(result)[1].items()
    assert (output.name, source.name) == ("buf1", "buf0")


def test_a_temporary_can_live_in_the_memory_of_the_output_that_replaces_it():
    result = scheduled(lambda p, x: p.tanh(p.mm(x, x)), floats(8, 8))
    plan = WrapperWriter(result).plan
    assert plan.total == 0  # the product is computed in the output's memory


def test_a_value_that_is_read_again_is_not_overwritten():
    def again(p, x):
        y = p.mm(x, x)
        return p.mm(p.tanh(y), y)

    assert in_place(scheduled(again, floats(8, 8)))[1] == {}


def test_a_value_read_in_another_order_is_not_overwritten():
    def transposed(p, x):
        y = p.mm(x, x)
        return p.mm(p.add(y, p.transpose(y, (1, 0))), x)

    assert in_place(scheduled(transposed, floats(8, 8)))[1] == {}


def test_an_input_is_never_overwritten():
    result = scheduled(lambda p, x: p.mm(p.tanh(x), x), floats(8, 8))
    assert all(not pairs for pairs in in_place(result))


def test_a_long_chain_needs_no_more_memory_than_a_short_one():
    short, long = (WrapperWriter(scheduled(lambda p, x, n=n: products(p, x, n), floats(16, 16))).plan for n in (3, 12))
    assert long.total == short.total
    assert long.without_sharing > short.without_sharing


def test_a_row_that_is_kept_between_two_loops_needs_one_row_of_memory():
    def softmax(p, x):
        wide = lambda t: p.broadcast_in_dim(t, (16, 24), (0,))
        e = p.exp(p.sub(x, wide(p.amax(x, (1,)))))
        return p.mul(p.div(e, wide(p.sum(e, (1,)))), p.full((16, 24), 2.0, float32))

    writer = WrapperWriter(scheduled(softmax, floats(16, 24)))
    assert (writer.plan.total, writer.scratch_bytes) == (0, 128)  # 24 floats, aligned, for each thread


def test_the_report_adds_up_what_a_call_asks_for():
    writer = WrapperWriter(scheduled(lambda p, x: products(p, x, 6), floats(16, 16)))
    report, matrix = writer.write().memory, 16 * 16 * 4
    assert (report.arguments, report.results, report.arena, report.scratch) == (matrix, matrix, 2 * matrix, 0)
    assert report.peak() == 4 * matrix and report.without_sharing > report.arena
