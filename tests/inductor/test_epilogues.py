"""Matrix products by tiles, with the loops that follow: the same values, and no kernel of its own for the loops."""

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.runtime import code_cache
from minitorch_compile.inductor.schedule.cpu_schedule import cpu_schedule
from minitorch_compile.inductor.schedule.fused_call import FusedCall
from minitorch_compile.inductor.schedule.interpreter import interpret_schedule
from minitorch_compile.tensor.cpu.thread_count import get_num_threads, set_num_threads
from minitorch_compile.tensor.tensor_base import wrap
from tests.inductor.prim_graphs import expected, record, tensors_of
from tests.inductor.programs import floats


def planned(function, *arrays):
    """The schedule of a program, all of its products by tiles."""
    return cpu_schedule(lower(record(function, tensors_of(arrays))), packed=lambda call: True)


def run(schedule, *arrays):
    return [result.array for result in code_cache.load(write_file(schedule).source).run(*tensors_of(arrays))]


def check(function, *arrays):
    """Runs a program natively and by the interpreter, and compares both with the prims in NumPy."""
    schedule = planned(function, *arrays)
    wanted = expected(record(function, tensors_of(arrays)), tensors_of(arrays))
    flat = [tensor.storage.buffer[tensor.offset :] for tensor in tensors_of(arrays)]
    for result, meant, reference in zip(run(schedule, *arrays), interpret_schedule(schedule, flat), wanted):
        tolerance = 1e-4 if reference.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(result, reference, rtol=tolerance, atol=10 * tolerance)
        np.testing.assert_allclose(meant.reshape(reference.shape), reference, rtol=tolerance, atol=10 * tolerance)
    return schedule


def kinds(schedule):
    return [
        step.call.kernel if isinstance(step, FusedCall) else getattr(step, "kernel", "loops") for step in schedule.steps
    ]


FUSED = ["pack_panels", "packed_product"]


def linear(p, x, w):
    return p.mm(x, p.transpose(w, (1, 0)))


def bias_gelu(p, x, w, b):
    y = p.add(linear(p, x, w), p.broadcast_in_dim(b, (x.meta["val"].sizes[0], b.meta["val"].sizes[0]), (1,)))
    return p.mul(y, p.erf(y))


@pytest.mark.parametrize("rows", [2, 5, 12, 13, 47, 48, 100, 400])
@pytest.mark.parametrize("columns", [2, 16, 31, 32, 33, 70])
def test_a_bias_and_an_activation_are_an_epilogue(rows, columns):
    schedule = check(bias_gelu, floats(rows, 20), floats(columns, 20), floats(columns))
    assert kinds(schedule) == FUSED


@pytest.mark.parametrize(
    "sizes", [(1, 20, 33), (50, 20, 1), (1, 1, 1), (50, 1, 33), (0, 20, 33), (50, 0, 33), (50, 20, 0)]
)
def test_single_rows_and_columns_and_empty_matrices(sizes):
    rows, inner, columns = sizes
    check(bias_gelu, floats(rows, inner), floats(columns, inner), floats(columns))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("inner", [2, 7, 300])
def test_products_of_either_precision_and_any_length(kind, inner):
    arrays = [floats(*sizes).astype(kind) for sizes in ((50, inner), (37, inner), (37,))]
    check(bias_gelu, *arrays)


LAYOUTS = {
    "by rows": lambda a: a,
    "by columns": lambda a: np.asfortranarray(a),
    "part of a larger one": lambda a: np.pad(a, 3)[3:-3, 3:-3],
    "every other row": lambda a: np.repeat(a, 2, 0)[::2],
}


@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_operands_in_any_layout(first, second):
    x, w = LAYOUTS[first](floats(60, 40)), LAYOUTS[second](floats(40, 50))
    schedule = check(lambda p, x, w: p.exp(p.mm(x, w)), x, w)
    assert kinds(schedule)[-1] == "packed_product"


@pytest.mark.parametrize("sizes", [(5, 2, 2, 3), (7, 9, 16, 9), (3, 40, 20, 33), (64, 2, 3, 50), (2, 13, 5, 32)])
@pytest.mark.parametrize("transposed", [False, True])
def test_a_batch_of_products_and_what_follows_each(sizes, transposed):
    batch, rows, inner, columns = sizes

    def program(p, x, w, b):
        second = p.transpose(w, (0, 2, 1)) if transposed else w
        return p.tanh(p.add(p.bmm(x, second), p.broadcast_in_dim(b, (batch, rows, columns), (2,))))

    w = floats(batch, columns, inner) if transposed else floats(batch, inner, columns)
    for kind in (np.float32, np.float64):
        schedule = check(program, floats(batch, rows, inner).astype(kind), w.astype(kind), floats(columns).astype(kind))
        assert kinds(schedule) == ["batched_tiles"]


def test_batches_that_blas_computes_have_epilogues_too():
    graph = record(lambda p, x, y: p.exp(p.bmm(x, y)), tensors_of([floats(6, 8, 8), floats(6, 8, 8)]))
    schedule = cpu_schedule(lower(graph))
    assert kinds(schedule) == ["bmm"] and isinstance(schedule.steps[0], FusedCall)
    wanted = expected(graph, tensors_of([floats(6, 8, 8), floats(6, 8, 8)]))
    np.testing.assert_allclose(run(schedule, floats(6, 8, 8), floats(6, 8, 8))[0], wanted[0], rtol=1e-4)


def test_only_a_block_of_the_result_is_ever_there():
    schedule = planned(lambda p, x, w: p.exp(p.mm(x, w)), floats(1000, 64), floats(64, 256))
    (fused,) = [step for step in schedule.steps if isinstance(step, FusedCall)]
    assert fused.result in schedule.internal
    assert "ScratchBlock(" in write_file(schedule).source
    assert schedule.bytes_moved == 4 * (
        3 * 64 * 256 + 1000 * 64 + 1000 * 256
    )  # w, packed and read again; x; the result


def test_a_result_that_others_want_is_stored_once_and_read_while_hot():
    def both(p, x, w):
        y = p.mm(x, w)
        return y, p.exp(y)

    schedule = check(both, floats(100, 30), floats(30, 40))
    assert kinds(schedule) == FUSED
    assert not any(step.result in schedule.internal for step in schedule.steps if isinstance(step, FusedCall))


def softmax(p, x, w):
    y = p.mm(x, w)
    sizes = y.meta["val"].sizes
    e = p.exp(p.sub(y, p.broadcast_in_dim(p.amax(y, (1,)), sizes, (0,))))
    return p.div(e, p.broadcast_in_dim(p.sum(e, (1,)), sizes, (0,)))


def test_a_softmax_of_each_row_is_an_epilogue():
    schedule = check(softmax, floats(300, 30), floats(30, 40))
    assert kinds(schedule) == FUSED


def test_a_sum_down_the_columns_is_not_and_the_reason_is_given():
    schedule = check(lambda p, x, w: p.sum(p.mm(x, w), (0,)), floats(300, 30), floats(30, 40))
    assert kinds(schedule) == [*FUSED, "loops"]
    assert "piece by piece" in schedule.why_not[-1].reason


def test_a_transpose_of_the_result_is_not():
    schedule = check(lambda p, x, w: p.exp(p.transpose(p.mm(x, w), (1, 0))), floats(300, 30), floats(30, 40))
    assert kinds(schedule) == [*FUSED, "loops"]  # squares of it reach over several blocks


def test_heads_are_dealt_out_by_the_epilogue():
    def heads(p, x, w):
        y = p.reshape(p.mm(x, w), (5, 60, 4, 10))
        return p.neg(p.transpose(y, (0, 2, 1, 3)))

    check(heads, floats(300, 30), floats(30, 40))


def test_a_residual_that_dies_is_overwritten_unless_the_product_still_reads_it():
    def block(p, x, w):
        h = p.exp(x)
        return p.add(p.tanh(p.add(p.mm(h, w), h)), p.mm(p.sin(x), w))

    check(block, floats(300, 40), floats(40, 40))


def test_two_products_and_their_sum():
    schedule = check(lambda p, x, y, w: p.add(p.mm(x, w), p.mm(y, w)), floats(90, 30), floats(90, 30), floats(30, 40))
    assert sorted(kinds(schedule)) == ["pack_panels", "packed_product", "packed_product"]  # packed once, for both


def test_a_group_that_needs_a_product_of_the_product_comes_after_both():
    def chain(p, x, w):
        y = p.mm(x, w)
        return p.add(p.mm(p.tanh(y), w), y)

    check(chain, floats(90, 40), floats(40, 40))


def test_every_element_is_the_same_with_any_number_of_threads():
    arrays = floats(500, 64), floats(200, 64), floats(200)
    schedule, before = planned(bias_gelu, *arrays), get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3):
            set_num_threads(threads)
            results.append(run(schedule, *arrays)[0])
    finally:
        set_num_threads(before)
    assert all(np.array_equal(results[0], other) for other in results[1:])


def test_infinities_stay_in_their_columns():
    w = floats(40, 33)
    w[:, 32] = np.inf
    with np.errstate(invalid="ignore"):
        (result,) = run(planned(lambda p, x, w: p.exp(p.mm(x, w)), floats(20, 40), w), floats(20, 40), w)
    assert np.isfinite(result[:, :32]).all()


def test_small_products_stay_with_blas():
    schedule = cpu_schedule(lower(record(lambda p, x, w: p.exp(p.mm(x, w)), [wrap(floats(8, 8)), wrap(floats(8, 8))])))
    assert kinds(schedule) == ["mm", "loops"]
    assert schedule.why_not[0].reason == "buf0 is an extern kernel (mm)"


def feed_forward(x, w, v, b):
    h = torch.nn.functional.gelu(torch.addmm(b, x, w, beta=0.5, alpha=2.0))
    return torch.softmax(torch.addmm(x, h, v, alpha=-0.25) + x, -1)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [0, 1, 9, 130])
@pytest.mark.heavy
def test_a_feed_forward_layer_and_its_gradients(kind, rows):
    torch.manual_seed(0)
    sizes = (rows, 48), (48, 96), (96, 48), (96,)
    inputs = [torch.randn(*size, dtype=kind).mul(0.2).requires_grad_() for size in sizes]
    tolerance = 1e-4 if kind is torch.float32 else 1e-11
    wanted, found = feed_forward(*inputs), torch.compile(feed_forward)(*inputs)
    grads = [torch.autograd.grad((result * result).sum(), inputs) for result in (wanted, found)]
    for reference, value in [(wanted, found), *zip(*grads)]:
        np.testing.assert_allclose(
            value.detach().numpy(), reference.detach().numpy(), rtol=tolerance, atol=10 * tolerance
        )


def test_the_error_of_a_long_product_is_that_of_float32():
    x, w = floats(64, 2000), floats(2000, 64)
    (result,) = run(planned(lambda p, x, w: p.neg(p.mm(x, w)), x, w), x, w)
    exact = -(x.astype(np.float64) @ w.astype(np.float64))
    size = np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
    assert (np.abs(result - exact) <= 50 * np.finfo(np.float32).eps * size).all()


@pytest.mark.parametrize("seed", range(6))
def test_random_loops_after_a_product(seed):
    """Pointwise operations, reductions of either dimension, several results: fused or not, all are right."""
    chosen = np.random.default_rng(seed)

    def program(p, x, w):
        results = [p.mm(x, w)]
        for number in chosen.integers(0, 5, 5):
            value = results[chosen.integers(len(results))]
            sizes = value.meta["val"].sizes
            if len(sizes) == 1 or number == 0:
                results.append(p.tanh(value))
            elif number == 1:
                results.append(p.sub(value, p.broadcast_in_dim(p.amax(value, (1,)), sizes, (0,))))
            else:
                results.append([p.mul(value, value), p.sum(value, (0,)), p.neg(value)][number - 2])
        return tuple(dict.fromkeys([results[-1], results[chosen.integers(len(results))]]))

    arrays = floats(70, 12), floats(12, 45)
    state = chosen.bit_generator.state
    schedule = planned(program, *arrays)
    chosen.bit_generator.state = state
    module = record(program, tensors_of(arrays))
    for result, reference in zip(run(schedule, *arrays), expected(module, tensors_of(arrays))):
        np.testing.assert_allclose(result, reference, rtol=1e-3, atol=1e-4 * np.abs(reference).max())
