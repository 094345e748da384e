"""Products of floats of two bytes by kernels of ours on tensor cores: in the simulator, which checks each access."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_cublas_lt import FakeCublasLt
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_simulator import simulate
from minitorch_compile.generated_source import function_from_source
from minitorch_compile.inductor.device_calls import product_choice
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels
from minitorch_compile.inductor.device_calls.launcher import HEADER
from minitorch_compile.inductor.device_calls.libraries import Libraries
from minitorch_compile.inductor.device_calls.product_launches import OnAlignedFactors
from minitorch_compile.inductor.device_calls.tensor_core_product import ProductKernel, Side, Tile
from minitorch_compile.inductor.ir.buffer import Buffer

F = torch.nn.functional


def lines(count: int, length: int) -> np.ndarray:
    """Random numbers in lines that begin at 16 bytes."""
    made = np.zeros((count, -(-length // 8) * 8), np.float16)
    made[:, :length] = np.random.default_rng(count).standard_normal((count, length))
    return made


LAYOUTS = [(True, False), (True, True), (False, False), (False, True)]
SHAPES = [Tile(1, 1, 1), Tile(2, 1, 2, stages=2), Tile(1, 1, 1, step=128, wide=2)]
CASES = [(SHAPES[0], *layout) for layout in LAYOUTS] + [(SHAPES[1], *LAYOUTS[0]), (SHAPES[2], *LAYOUTS[3])]


@pytest.mark.parametrize("tile, a_along_k, b_along_k", CASES)
def test_a_tile_and_its_ragged_neighbours_hit_no_bank_twice(tile: Tile, a_along_k: bool, b_along_k: bool) -> None:
    rows, columns, inner = tile.rows + 3, tile.columns + 5, 72
    kernel = ProductKernel(tile, "float16", Side(a_along_k), Side(b_along_k))
    a = lines(rows, inner) if a_along_k else lines(inner, rows)
    b = lines(columns, inner) if b_along_k else lines(inner, columns)
    out = np.full((rows, columns), np.nan, np.float16)
    sizes = map(np.int64, (1, rows, columns, inner, 0, a.shape[1], 0, b.shape[1]))
    function = function_from_source(HEADER.format(threads=tile.threads) + kernel.text, kernel.name, {})
    arrays = (x.view(np.uint16).reshape(-1) for x in (a, b, out))
    run = simulate(function, counts=True)[2, tile.threads](*arrays, *sizes)
    left, right = (a if a_along_k else a.T)[:rows, :inner], (b.T if b_along_k else b)[:inner, :columns]
    np.testing.assert_allclose(out, left.astype(np.float32) @ right.astype(np.float32), rtol=2e-3, atol=1e-2)
    assert run.counts is not None and run.counts.total.bank_conflicts == 0


def close(found: Any, expected: Any, tolerance: float = 2e-2) -> None:
    np.testing.assert_allclose(found.detach().cpu().float().numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)


def used(gpus: Runtime) -> list[str]:
    return [text for text in gpus.kernels.compiled if "tensor_cores" in text]


@pytest.mark.parametrize("element", [torch.float16, torch.bfloat16])
def test_matmul_takes_them_where_cublas_is_not(element: Any, gpus: Runtime) -> None:
    x, w = torch.randn(2, 9, 16).to(element), torch.randn(2, 16, 24).to(element)
    close(x.cuda() @ w.cuda(), x.float() @ w.float(), 5e-2)
    assert len(used(gpus)) == 1 and not gpus.kernels.reasons


def test_sizes_are_parameters(gpus: Runtime) -> None:
    for rows in (3, 20):
        x, w = torch.randn(rows, 16).half(), torch.randn(24, 16).half()
        close(x.cuda() @ w.cuda().T, x.float() @ w.float().T)
    assert len(used(gpus)) == 1


def test_a_factor_that_begins_between_16_bytes_is_moved(gpus: Runtime) -> None:
    whole, w = torch.randn(4 * 16 + 1).half(), torch.randn(16, 8).half()
    multiplied = lambda whole, w: whole[1:].view(4, 16) @ w
    for function in (multiplied, torch.compile(multiplied)):  # which sees a buffer, and begins in the midst of it
        close(function(whole.cuda(), w.cuda()), multiplied(whole.float(), w.float()))
    assert len(used(gpus)) == 1


def test_a_result_that_begins_between_4_bytes_is_moved(gpus: Runtime) -> None:
    assert isinstance(gpus.driver, FakeDriver)
    driver, asked = gpus.driver, []

    def launch(addresses: list[int], stream: StreamHandle) -> None:
        asked.append(addresses[0])
        driver.bytes_at(addresses[0], 8).view(np.uint16)[:] = [1, 2, 3, 4]

    memory, stream = driver.allocate(0, 16), gpus.current_stream(0)
    put = OnAlignedFactors(launch, [], Libraries(gpus), Buffer.contiguous("out", (4,), torch.float16))
    for offset in (4, 2):
        driver.bytes_at(memory, 16)[:] = 0
        put([memory + offset], stream)
        assert driver.bytes_at(memory + offset, 8).view(np.uint16).tolist() == [1, 2, 3, 4]
        assert not driver.bytes_at(memory, 16)[offset + 8 :].any()
    assert asked[0] == memory + 4 and asked[1] % 16 == 0 and asked[1] != memory


def test_lines_that_are_no_multiple_of_16_bytes_are_left_to_loops(gpus: Runtime) -> None:
    x, w = torch.randn(4, 12).half(), torch.randn(12, 8).half()
    close(x.cuda() @ w.cuda(), x.float() @ w.float())
    assert not used(gpus)


def activated(x: Any, w: Any, b: Any, more: Any) -> Any:
    return F.gelu(F.linear(x, w, b)) + more


def kept(x: Any, w: Any, b: Any, more: Any) -> Any:
    y = F.linear(x, w)
    return y, (y + b).relu() * 2


def turned(x: Any, w: Any, b: Any, more: Any) -> Any:
    return F.linear(x, w, b).T + more.T


@pytest.mark.parametrize("function", [activated, kept, turned])
def test_what_follows_is_part_of_the_kernel(function: Any, gpus: Runtime) -> None:
    tensors = [torch.randn(*sizes).half() for sizes in ((18, 16), (40, 16), (40,), (18, 40))]
    found = torch.compile(function)(*(x.cuda() for x in tensors))
    expected = function(*(x.float() for x in tensors))
    for one, other in zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]:
        close(one, other)
    assert len(gpus.kernels.compiled) == 1 and "finish" in used(gpus)[0]


def softmax(x: Any, w: Any) -> Any:
    return torch.softmax(x @ w.T, -1)


def reversed_rows(x: Any, w: Any) -> Any:
    return (x @ w.T).flip(1) + 1


@pytest.mark.parametrize("function", [softmax, reversed_rows])
def test_loops_that_want_other_elements_stay_kernels_of_their_own(function: Any, gpus: Runtime) -> None:
    x, w = torch.randn(5, 16).half(), torch.randn(40, 16).half()
    close(torch.compile(function)(x.cuda(), w.cuda()), function(x.float(), w.float()))
    assert len(gpus.kernels.compiled) == 2 and "finish" not in used(gpus)[0]


def with_cublas(gpus: Runtime) -> FakeCublasLt:
    assert isinstance(gpus.driver, FakeDriver)
    library = FakeCublasLt(gpus.driver)
    gpus.kernels = DeviceKernels(gpus)
    gpus.kernels.libraries = Libraries(gpus, {"cublasLt": library}.__getitem__)
    return library


@pytest.mark.parametrize("first", [True, False])
def test_beside_cublas_what_is_faster_is_chosen_by_timing_and_remembered(
    first: bool, gpus: Runtime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    library, asked = with_cublas(gpus), []
    monkeypatch.setenv("MTC_CACHE_DIR", str(tmp_path))

    def timed(names: list[str], run: Callable[[str], float], known: None) -> dict[str, float]:
        asked.append(names)
        assert all(run(name) > 0 for name in names)
        return dict(zip(names, (1e-6, 2e-6) if first else (2e-6, 1e-6), strict=True))

    monkeypatch.setattr(product_choice, "timed", timed)
    monkeypatch.setattr(product_choice, "MOST_CALLS", 1)
    x, w = torch.randn(18, 16).half(), torch.randn(40, 16).half()
    for _ in range(2):
        torch._dynamo.reset()
        found = torch.compile(followed, mode="max-autotune-no-cudagraphs")(x.cuda(), w.cuda())
        close(found, followed(x.float(), w.float()))
    assert len(asked) == 1 and library.asked > 0
    assert sum("finish" in text for text in used(gpus)) == 1  # it was tried, whoever won


def followed(x: Any, w: Any, bias: Any = None) -> Any:
    return F.linear(x, w, bias).relu() + 1


def test_a_bias_behind_which_loops_come_is_left_to_a_kernel_of_ours_to_try(gpus: Runtime, monkeypatch: Any) -> None:
    with_cublas(gpus)
    asked: list[Any] = []

    def ask(timer: object, planned: object, step: object) -> bool:
        asked.append(step)
        return True

    monkeypatch.setattr(product_choice.EpilogueTimer, "__call__", ask)
    x, w, bias = (torch.randn(*sizes).half() for sizes in ((18, 16), (40, 16), (40,)))
    for program in (followed, F.linear):  # all of a plain layer is cuBLASLt's
        found = torch.compile(program, mode="max-autotune-no-cudagraphs")(x.cuda(), w.cuda(), bias.cuda())
        close(found, program(x.float(), w.float(), bias.float()))
        assert len(asked) == 1
