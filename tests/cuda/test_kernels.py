"""Kernels of eager operations: one for all sizes of a kind of layout, and none that gives wrong numbers quietly."""

from __future__ import annotations

from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import Runtime, using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.cuda_runtime.sanitized_driver import sanitized
from minitorch_compile.cuda_runtime.sanitizer import CUDASanitizerErrors
from minitorch_compile.inductor.device_calls import lifted_kernel, warm_up
from minitorch_compile.inductor.device_calls.device_kernels import DeviceKernels

OPERATIONS = {
    "pointwise": lambda x: torch.tanh(x) + 1.5 * x,
    "broadcast": lambda x: x * x[:1] + x[:, :1],
    "rows": lambda x: x.sum(1),
    "columns": lambda x: x.amax(0),
    "everything": lambda x: x.mean(),
    "softmax": lambda x: torch.softmax(x, -1),
    "transposed": lambda x: (x.t() + 1).contiguous(),
    "pieces": lambda x: torch.cat([x[1:], x[:1]]),
    "chosen": lambda x: torch.where(x > 0, x, 0.0).cumsum(1),
}


def kernels_of(runtime: Runtime) -> DeviceKernels:
    torch.ones(1, device="cuda") + 1
    kernels = runtime.kernels
    assert isinstance(kernels, DeviceKernels)
    return kernels


@pytest.mark.parametrize("name", OPERATIONS)
def test_another_size_compiles_nothing(name: str, gpus: Runtime) -> None:
    operation: Any = OPERATIONS[name]
    kernels = kernels_of(gpus)
    operation(torch.randn(3, 4, device="cuda"))
    known = len(kernels.compiled)
    for sizes in ((5, 7), (4, 3), (6, 6), (9, 2), (8, 12)):
        x = torch.randn(sizes)
        assert torch.allclose(operation(x.cuda()).cpu(), operation(x), rtol=1e-5, atol=1e-6)
    assert len(kernels.compiled) == known


def test_another_number_compiles_nothing(gpus: Runtime) -> None:
    x, kernels = torch.ones(3, device="cuda"), kernels_of(gpus)
    x + 2.5
    known = len(kernels.compiled)
    assert (x + 7.25).tolist() == [8.25] * 3 and len(kernels.compiled) == known


def test_what_runs_in_main_memory_says_so_once(gpus: Runtime) -> None:
    x = torch.tensor([[2.0, 0.0], [0.0, 3.0]], device="cuda")
    with pytest.warns(UserWarning, match="_linalg_eig on cuda is computed in main memory: an algorithm of LAPACK"):
        found = torch.linalg.eigvals(x)
    assert sorted(found.real.tolist()) == [2, 3] and found.is_cuda
    assert "_linalg_eig" in kernels_of(gpus).reasons


def test_an_index_out_of_range_is_an_error() -> None:
    x = torch.arange(3.0, device="cuda")
    with pytest.raises(IndexError, match="5 is out of bounds"):
        x[torch.tensor([0, 5], device="cuda")]
    assert x[torch.tensor([-1], device="cuda")].tolist() == [2]


def test_empty_tensors_launch_nothing() -> None:
    x = torch.zeros(0, 3, device="cuda")
    assert (x + 1).shape == (0, 3) and x.sum().item() == 0 and x.sum(0).tolist() == [0, 0, 0]


def test_a_call_like_one_before_looks_at_nothing_else(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    x, kernels = torch.ones(3, device="cuda"), kernels_of(gpus)
    x + x
    monkeypatch.setattr(kernels, "run", None)
    assert (x + x).tolist() == [2, 2, 2] and torch.add(x, other=x).tolist() == [2, 2, 2]


def test_another_default_dtype_is_another_call() -> None:
    x = torch.ones(2, dtype=torch.int64, device="cuda")
    assert x.exp().dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert x.exp().dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_a_number_in_main_memory_may_join_again_and_again() -> None:
    x, two = torch.ones(2, device="cuda"), torch.tensor(2.0)
    assert [(x * two).tolist() for _ in range(2)] == [[2, 2], [2, 2]]
    with pytest.raises(RuntimeError, match="found at least two devices"):
        x * torch.ones(2)


def test_each_gpu_computes_in_its_own_memory() -> None:
    first, second = (torch.ones(2, device=f"cuda:{index}") for index in range(2))
    assert [(x + x).get_device() for x in (first, second, first)] == [0, 1, 0]
    with pytest.raises(RuntimeError, match="found at least two devices"):
        first + second


def test_the_sanitizer_is_told_what_kernels_read_and_write(capsys: pytest.CaptureFixture[str]) -> None:
    driver, _ = sanitized(FakeDriver())
    with using(driver):
        x = torch.ones(4, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        with pytest.raises(CUDASanitizerErrors, match="detected 1 errors"):
            y * 2
        told = capsys.readouterr().err
        assert "reads on stream 0" in told and "The memory was allocated here" in told
        torch.cuda.current_stream().wait_stream(side)
        assert (y * 2).tolist() == [4] * 4


def test_many_elements_compile_nothing_until_it_pays(gpus: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifted_kernel, "FEW", 200)
    monkeypatch.setattr(warm_up, "ENOUGH", 1000)
    kernels = kernels_of(gpus)
    operations: list[Any] = [lambda x: x * 2, lambda x: x.t().contiguous(), lambda x: torch.zeros_like(x).copy_(-x)]
    few, many = torch.randn(4, 8), torch.randn(36, 9)
    for operation in operations:
        operation(few.cuda())
        known, counts = len(kernels.compiled), []
        for _ in range(5):
            assert torch.equal(operation(many.cuda()).cpu(), operation(many))
            counts.append(len(kernels.compiled) - known)
        assert counts[:3] == [0, 0, 0] and 0 < counts[4] < 4  # by the fourth call it is more than 1,000 elements
    assert len(kernels.warm_up.work) > 2
