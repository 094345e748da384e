"""How groups are dealt out to a GPU's threads: which strategy has which, and that all give what the loops mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda_simulator import cuda as simulated
from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.inductor.codegen.cuda import reductions
from minitorch_compile.inductor.codegen.cuda.kernels import CudaKernelWriter
from minitorch_compile.inductor.codegen.cuda.strategies import choose
from minitorch_compile.inductor.device_calls import (
    columns_beside_rows,
    device_graph,
    lifted_kernel,
    split_for_device,
    warm_up,
)
from minitorch_compile.inductor.device_calls.one_op_graph import schedule_of
from minitorch_compile.inductor.schedule.schedule import Schedule
from minitorch_compile.tensor import empty_fake, ops
from tests.inductor.fuzz.thresholds import thresholds


@pytest.fixture(autouse=True)
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """The few elements of a test are dealt out as many are."""
    monkeypatch.setattr(lifted_kernel, "FEW", 0)
    monkeypatch.setattr(warm_up, "ENOUGH", 0)


AWKWARD = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, 3e38, -1.5]


def reasons(op: Any, *arguments: Any, threads: int = 256) -> list[str]:
    scheduled = schedule_of(op, arguments, [x for x in arguments if isinstance(x, torch.Tensor)])
    steps: list[Any] = scheduled.steps
    return [CudaKernelWriter(step, scheduled.internal, threads).strategy.reason for step in steps]


def test_sizes_and_layout_choose_a_strategy():
    def matrix(*sizes: int, dtype: Any = torch.float32) -> Any:
        return empty_fake(sizes, dtype=dtype)

    rows = lambda x: reasons(ops.softmax, x, 1, None)
    assert reasons(ops.exp, matrix(64, 100)) == ["4 x 4 neighbouring elements of i0 a thread at a time"]
    assert reasons(ops.exp, matrix(64, 100, dtype=torch.bfloat16)) == [
        "4 x 8 neighbouring elements of i0 a thread at a time"
    ]
    for columns, reason in {
        99: "a warp: 4 x 1 elements a thread",
        100: "8 threads: 4 x 4 elements a thread",
        1000: "a warp: 8 x 4 elements a thread",
        999: "a warp: 8 x 4 elements a thread, ends apart",
        4095: "a block: 4 x 4 elements a thread, ends apart",
        16384: "a block of 4 times the usual threads: 4 x 4 elements a thread, the next row under way",
    }.items():
        assert rows(matrix(64, columns)) == [f"rows of {columns} in the registers of {reason}"]
    assert rows(matrix(64, 4096, dtype=torch.bfloat16)) == [
        "rows of 4096 in the registers of a block of 0.5 times the usual threads: 4 x 8 elements a thread"
    ]
    assert rows(matrix(64, 65536)) == ["a block goes along each row of 65536, 4 x 4 elements a thread at a time"]
    assert reasons(ops.sum, matrix(600, 3000), (0,)) == [
        "4 neighbouring columns of i1 a thread",
        "a block goes down a strip of i0, 4 columns a thread",
    ]
    assert reasons(ops.sum, matrix(6000, 64), (0,)) == [
        f"a block goes down a strip of {axis}, 4 columns a thread" for axis in ("i1", "i0")
    ]
    assert reasons(ops.sum, matrix(6000, 63), (0,)) == [
        f"a block goes down 32 columns of {axis}, whose lines its threads share out" for axis in ("i1", "i0")
    ]
    assert reasons(ops.sum, matrix(3, 40000), (0,)) == ["4 neighbouring columns of i0 a thread"]
    assert reasons(ops.contiguous_copy, matrix(70, 100).t()) == ["squares of i0 by i1 in shared memory, 64 wide"]
    turned = matrix(72, 96, dtype=torch.bfloat16).t()
    assert reasons(ops.contiguous_copy, turned) == [
        "squares of i0 by i1 in shared memory, 128 wide, 8 elements at a time"
    ]
    assert reasons(ops.cumsum, matrix(70, 100), 1) == ["running results: each thread goes along a row"]


OPERATIONS: dict[str, Callable[[Any], Any]] = {
    "points": lambda x: x * 3 - x.abs(),
    "divided": lambda x: x / 3,
    "softmax": lambda x: torch.softmax(x, -1),
    "norm": lambda x: torch.nn.functional.layer_norm(x, x.shape[-1:]),
    "rows": lambda x: x.amax(-1),
    "columns": lambda x: x.amin(0),
    "everything": lambda x: x.sum(),
    "turned": lambda x: x.t().contiguous() + 1,
}
# Of the simulator's 32 threads, a block holds rows of up to 2,048 numbers.
SIZES = [(1, 1), (2, 17), (33, 36), (36, 64), (2, 517), (3, 1028), (2, 1030), (1, 2052)]


def same(operation: Callable[[Any], Any], x: Any, tolerance: float = 1e-5) -> None:
    with np.errstate(all="ignore"):
        expected = operation(x).to(torch.float64).numpy()
    found = operation(x.cuda()).cpu().to(torch.float64).numpy()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("many", (1, choose.MANY_COLUMNS))
@pytest.mark.parametrize("sizes", [(1, 8), (100, 9), (2, 50, 33), (4, 1, 64), (0, 9), (3, 0)])
def test_columns_are_one_thread_s_or_a_block_s(
    many: int, sizes: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choose, "MANY_COLUMNS", many)
    x = torch.randn(*sizes)
    same(lambda x: x.sum(-2), x)
    same(lambda x: (x > 1).any(0), x)
    same(lambda x: x.to(torch.bfloat16).sum(-2), x, 1e-2)
    if sizes[0]:
        same(lambda x: x.var(0) + x.amax(0), x, 1e-4)


@pytest.mark.parametrize("sizes", [(200, 5), (192, 300)])
def test_lines_are_shared_out_in_pieces(sizes: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_for_device, "MANY", 0)
    x = torch.randn(*sizes)
    assert len(reasons(ops.sum, empty_fake(sizes), (0,))) == 2
    same(lambda x: x.sum(0), x)
    same(lambda x: x.amax(0), x)


@pytest.mark.parametrize("threads", [32, 64, 512])
@pytest.mark.parametrize(("kind", "reduced"), [("sum", np.sum), ("amax", np.max)])
def test_threads_of_a_column_meet(threads: int, kind: str, reduced: Any) -> None:
    together = getattr(reductions, f"warp_columns_{kind}")

    @simulated.jit
    def meet(x: Any, out: Any, side: int) -> None:
        shared = simulated.shared.array(threads, np.float64)
        out[simulated.threadIdx.x] = together(x[simulated.threadIdx.x], shared, side)

    for side in (1, 2, 4, 8, 16, 32):
        x, out = np.random.default_rng(0).standard_normal(threads), np.zeros(threads)
        x[-1] = np.nan if kind == "amax" else x[-1]
        simulate(meet)[1, threads](x, out, side)
        np.testing.assert_allclose(out, np.tile(reduced(x.reshape(-1, side), 0), threads // side), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64, torch.int64])
@pytest.mark.parametrize("start", [0, 1])
def test_strips_wherever_an_array_begins(dtype: Any, start: int) -> None:
    x = (torch.randn(37 * 48 + 1) * 8).to(dtype)
    same(lambda x: x[start : start + 37 * 48].view(37, 48).sum(0), x, 5e-2 if dtype is torch.bfloat16 else 1e-4)
    same(lambda x: x[start : start + 37 * 48].view(37, 48).amax(0), x)
    same(lambda x: (x[start : start + 37 * 48].view(37, 48) > -20).all(0), x)


@pytest.mark.parametrize(("norm", "dtype"), [("layer_norm", torch.float32), ("rms_norm", torch.bfloat16)])
def test_columns_are_summed_beside_rows(norm: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_for_device, "MANY", 0)
    monkeypatch.setattr(columns_beside_rows, "FEWEST_PIECES", 2)
    fused = []

    def beside(schedule: Schedule, threads: int) -> Schedule:
        found = columns_beside_rows.with_columns_beside_rows(schedule, threads)
        fused.append(len(schedule.steps) - len(found.steps))
        return found

    monkeypatch.setattr(device_graph, "with_columns_beside_rows", beside)
    width = 264  # of whole vectors, of which the last ones are some threads' only
    normed = lambda x, w: getattr(torch.nn.functional, norm)(x, (width,), w)
    x, weight, grad = (torch.randn(*sizes).to(dtype) for sizes in ((32, width), (width,), (32, width)))
    results = []
    for place, wide in (("cuda", dtype), ("cpu", torch.float64)):
        leaves = [t.to(wide).to(place).requires_grad_() for t in (x, weight)]
        function = torch.compile(normed) if place == "cuda" else normed
        function(*leaves).backward(grad.to(wide).to(place))
        results.append([t.grad.cpu().to(torch.float64).numpy() for t in leaves])
    assert fused == [0, 1]
    tolerance = 1e-5 if dtype is torch.float32 else 2.0**-6
    for found, expected in zip(*results):
        np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_what_is_only_summed_down_columns_needs_no_memory_beside_rows() -> None:
    def sums(x: Any) -> Any:
        wide = x.float()  # nobody reads it but the sums: vectors are as wide as x's elements allow
        for n in range(12):
            wide = (wide * x + n).sin()
        return wide.sum(0), (wide * wide).sum(0)

    x = torch.rand(128, 64).half()
    with thresholds("in pieces"):
        results = torch.compile(sums)(x.cuda())
    for found, expected in zip(results, sums(x)):
        np.testing.assert_allclose(found.cpu().numpy(), expected.numpy(), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_all_strategies_give_what_the_loops_mean(name: str, sizes: tuple[int, ...]) -> None:
    same(OPERATIONS[name], torch.randn(*sizes), 1e-4)


@pytest.mark.parametrize("name", ["points", "softmax", "columns", "turned"])
def test_views_that_begin_at_odd_places_or_go_backwards(name: str) -> None:
    x = torch.randn(37, 45).cuda()
    for view in (lambda x: x[1:, 1:], lambda x: x[:, 1:], lambda x: x[::2, :44], lambda x: torch.flip(x, (0, 1))):
        same(lambda x, view=view: OPERATIONS[name](view(x)), x.cpu(), 1e-4)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int8, torch.bool])
def test_vectors_of_all_kinds_of_elements(dtype: Any) -> None:
    x = (torch.randn(20, 64) * 3).to(dtype)
    for operation in (lambda x: torch.where(x > 0, x, x[0]), lambda x: x.amax(1), lambda x: x.t().contiguous()):
        same(operation, x)


def test_a_quotient_is_near_only_where_it_is_rounded_at_once() -> None:
    def kernel(op: Any, dtype: Any) -> str:
        pair = [empty_fake((64, 100), dtype=dtype) for _ in range(2)]
        scheduled = schedule_of(op, pair, pair)
        steps: list[Any] = scheduled.steps
        return "".join(CudaKernelWriter(step, scheduled.internal).write().body for step in steps)

    assert "near_quotient" in kernel(ops.div, torch.bfloat16)
    assert "near_quotient" not in kernel(ops.div, torch.float32)
    assert "near_quotient" not in kernel(ops.floor_divide, torch.bfloat16)


def test_a_long_row_needn_t_be_whole_chunks() -> None:
    x = np.random.default_rng(0).standard_normal((1, 24_004)).astype(np.float32)
    found = torch.softmax(torch.tensor(x, device="cuda"), 1)
    powers = np.exp(x.astype(np.float64) - x.max())
    np.testing.assert_allclose(found.cpu(), powers / powers.sum(), rtol=3e-6)


def test_what_belongs_to_a_column_is_there_before_the_way_down() -> None:
    def centred(x: Any) -> Any:
        scale = x[0].exp()
        return (x - scale).sum(0), scale

    x = torch.randn(6, 8)
    for found, expected in zip(torch.compile(centred)(x.cuda()), centred(x), strict=True):
        torch.testing.assert_close(found.cpu(), expected)


def test_there_are_no_vectors_of_complex_numbers() -> None:
    x = empty_fake((64, 100), dtype=torch.complex64)
    assert "neighbouring" not in reasons(ops.mul, x, x)[0] and "neighbouring" not in reasons(ops.sum, x, (0,))[0]


def test_numbers_at_the_edge() -> None:
    x = torch.tensor([AWKWARD * 3] * 3)
    for name in ("points", "divided", "rows", "columns"):
        same(OPERATIONS[name], x)
    divisors = torch.tensor(AWKWARD)[:, None]
    same(lambda x: x / divisors.to(x.device), torch.tensor([AWKWARD] * 8), 1e-6)
    assert torch.signbit(torch.full((512,), -0.0).cuda() / 3).all()


def test_nothing_is_done_for_nothing() -> None:
    for sizes in ((0,), (0, 4), (4, 0)):
        assert (torch.ones(*sizes).cuda() + 1).shape == torch.Size(sizes)
    assert torch.ones(4, 0).cuda().sum(1).tolist() == [0.0] * 4


def test_a_scatter_s_blocks_have_the_launcher_s_threads() -> None:
    def program(x: Any) -> Any:
        x.diagonal().add_(1)
        return x

    x = torch.randn(20, 40)
    found = torch.compile(program)(x.cuda().t())
    torch.testing.assert_close(found.cpu(), program(x.clone().t()))


@pytest.mark.parametrize("name", ("softmax", "points", "rows", "columns"))
def test_views_begin_anywhere(name: str) -> None:
    """Where a vector may begin is asked of the address, in the simulator as on a GPU."""
    x = torch.randn(4, 259)
    torch.testing.assert_close(OPERATIONS[name](x.cuda()[1:, 1:]).cpu(), OPERATIONS[name](x[1:, 1:]))


@pytest.mark.parametrize("kind", ("bool", "uint8", "int16"))
def test_what_shuffles_pass_on_has_four_bytes_or_more(kind: str) -> None:
    """The largest of a short row is found in shared memory, where its numbers are narrower."""
    x = (torch.arange(499) % 7).to(getattr(torch, kind))
    assert x.cuda().amax().item() == x.amax().item()
