"""Where no GPU can be used, the error says what is missing; where a call fails, which one and why."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from enum import IntEnum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from minitorch_compile.cuda_runtime.cuda_bindings_driver import CudaBindingsDriver
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.errors import CudaError, CudaOutOfMemoryError, CudaUnavailableError
from minitorch_compile.cuda_runtime.launch_loop import LAUNCH, LaunchConfiguration, LaunchSizes


class CUresult(IntEnum):
    """Of the driver's errors, those that are met here, with its numbers."""

    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700


TEXTS = {CUresult.CUDA_ERROR_NO_DEVICE: b"no CUDA-capable device is detected"}


def bindings(monkeypatch: pytest.MonkeyPatch, **calls: Callable[..., Any]) -> None:
    """Puts a package in the place of cuda-bindings that answers these calls only."""
    driver = SimpleNamespace(
        CUresult=CUresult,
        cuGetErrorString=lambda error: (CUresult.CUDA_SUCCESS, TEXTS.get(error, b"some explanation")),
        **{"cuInit": lambda flags: (CUresult.CUDA_SUCCESS,), **calls},
    )
    packages = {"cuda": ModuleType("cuda"), "cuda.bindings": ModuleType("cuda.bindings")}
    packages["cuda.bindings"].driver = driver  # type: ignore[attr-defined]
    for name, package in packages.items():
        monkeypatch.setitem(sys.modules, name, package)


def test_without_the_package_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cuda", None)
    with pytest.raises(CudaUnavailableError, match="the package cuda-bindings is not installed; python -m pip install"):
        CudaBindingsDriver()


def test_without_nvidias_driver_the_error_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(flags: int) -> None:
        raise RuntimeError("Failed to dlopen libcuda.so.1")

    bindings(monkeypatch, cuInit=no_library)
    with pytest.raises(CudaUnavailableError, match="NVIDIA's driver is not installed .*libcuda.so.1"):
        CudaBindingsDriver()


def test_without_a_device_the_error_is_the_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    bindings(monkeypatch, cuInit=lambda flags: (CUresult.CUDA_ERROR_NO_DEVICE,))
    with pytest.raises(CudaUnavailableError, match="no CUDA-capable device .*CUDA_ERROR_NO_DEVICE"):
        CudaBindingsDriver()


def test_errors_have_the_drivers_names_and_out_of_memory_its_own_class(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([CUresult.CUDA_ERROR_OUT_OF_MEMORY, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS])
    bindings(monkeypatch, cuDeviceGetCount=lambda: (next(answers), 0))
    driver = CudaBindingsDriver()
    with pytest.raises(CudaOutOfMemoryError):
        driver.device_count()
    with pytest.raises(CudaError) as error:
        driver.device_count()
    assert (error.value.call, error.value.name) == ("cuDeviceGetCount", "CUDA_ERROR_ILLEGAL_ADDRESS")


def test_a_query_tells_not_yet_from_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([CUresult.CUDA_ERROR_NOT_READY, CUresult.CUDA_SUCCESS, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS])
    bindings(monkeypatch, cuEventQuery=lambda event: (next(answers),))
    driver = CudaBindingsDriver()
    assert [driver.event_is_done(17), driver.event_is_done(17)] == [False, True]
    with pytest.raises(CudaError, match="cuEventQuery: CUDA_ERROR_ILLEGAL_ADDRESS"):
        driver.event_is_done(17)


def test_a_launch_enters_the_device_only_where_another_library_has_left_it(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    current = [""]

    def set_current(context: str) -> tuple[CUresult]:
        calls.append("enter")
        current[0] = context
        return (CUresult.CUDA_SUCCESS,)

    @LAUNCH
    def launch(configuration: int, kernel: int, arguments: int, extra: int | None) -> int:
        calls.append("launch")
        shape = LaunchConfiguration.from_address(configuration)
        assert (kernel, arguments, extra) == (7, 4096, None)
        assert (shape.blocks, shape.threads, shape.threads_z, shape.shared_bytes, shape.stream) == (2, 32, 1, 4, 5)
        return int(CUresult.CUDA_SUCCESS if current[0] == "ours" else CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)

    bindings(
        monkeypatch,
        cuDeviceGet=lambda device: (CUresult.CUDA_SUCCESS, device),
        cuDevicePrimaryCtxRetain=lambda device: (CUresult.CUDA_SUCCESS, "ours"),
        cuCtxSetCurrent=set_current,
        CUdriverProcAddress_flags=SimpleNamespace(CU_GET_PROC_ADDRESS_DEFAULT=0),
        cuGetProcAddress=lambda *asked: (CUresult.CUDA_SUCCESS, ctypes.cast(launch, ctypes.c_void_p).value, 0),
    )
    driver = CudaBindingsDriver()
    put = driver.prepared_launch(0, 7, LaunchSizes(2, 32, 4), 4096)
    for left_in in ("ours", "theirs", "ours"):
        current[0] = left_in
        put(5)
    assert calls == ["launch", "launch", "enter", "launch", "launch"]
    monkeypatch.setattr(driver, "_enter", calls.append)
    current[0] = "theirs"
    with pytest.raises(CudaError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        put(5)


def test_a_row_of_launches_goes_on_where_another_library_had_left_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[int, ...]] = []
    current = ["theirs"]

    def set_current(context: str) -> tuple[CUresult]:
        current[0] = context
        return (CUresult.CUDA_SUCCESS,)

    @LAUNCH
    def launch(configuration: int, kernel: int, arguments: int, extra: int | None) -> int:
        if kernel == 8 and current[0] == "theirs":
            return int(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS)
        shape = LaunchConfiguration.from_address(configuration)
        seen.append((kernel, shape.blocks, shape.threads, shape.blocks_y, shape.stream, arguments))
        return int(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS if kernel == 9 else CUresult.CUDA_SUCCESS)

    bindings(
        monkeypatch,
        cuDeviceGet=lambda device: (CUresult.CUDA_SUCCESS, device),
        cuDevicePrimaryCtxRetain=lambda device: (CUresult.CUDA_SUCCESS, "ours"),
        cuCtxSetCurrent=set_current,
        CUdriverProcAddress_flags=SimpleNamespace(CU_GET_PROC_ADDRESS_DEFAULT=0),
        cuGetProcAddress=lambda *asked: (CUresult.CUDA_SUCCESS, ctypes.cast(launch, ctypes.c_void_p).value, 0),
    )
    driver = CudaBindingsDriver()
    driver.prepared_row(0, [(7, LaunchSizes(2, 32), 64), (8, LaunchSizes(3, 64), 128)])(5)
    assert seen == [(7, 2, 32, 1, 5, 64), (8, 3, 64, 1, 5, 128)]
    with pytest.raises(CudaError, match="CUDA_ERROR_ILLEGAL_ADDRESS"):
        driver.prepared_row(0, [(9, LaunchSizes(1, 1), 64)])(5)


def test_memory_and_kernels_can_be_had_while_a_stream_records(monkeypatch: pytest.MonkeyPatch) -> None:
    mode = ["none"]

    def exchange(new: str) -> tuple[CUresult, str]:
        before, mode[0] = mode[0], new
        return CUresult.CUDA_SUCCESS, before

    def begin(stream: int, chosen: str) -> tuple[CUresult]:
        mode[0] = chosen
        return (CUresult.CUDA_SUCCESS,)

    answered = lambda value: lambda *asked: (CUresult.CUDA_SUCCESS, (value, mode[0]))
    monkeypatch.setattr(CudaBindingsDriver, "_enter", lambda self, device: None)
    modes = {f"CU_STREAM_CAPTURE_MODE_{name}": name for name in ("GLOBAL", "RELAXED")}
    bindings(
        monkeypatch,
        CUstreamCaptureMode=SimpleNamespace(**modes),
        cuThreadExchangeStreamCaptureMode=exchange,
        cuStreamBeginCapture=begin,
        cuStreamEndCapture=lambda stream: (CUresult.CUDA_SUCCESS, 9),
        cuModuleLoadData=answered("module"),
        cuModuleGetFunction=answered("kernel"),
    )
    driver, stream = CudaBindingsDriver(), StreamHandle(0, 5)
    driver.begin_capture(stream)
    assert driver.load_kernel(0, b"code", b"name") == ("kernel", "RELAXED") and mode == ["GLOBAL"]
    assert driver.end_capture(stream) == 9
    assert driver.load_kernel(0, b"code", b"name") == ("kernel", "GLOBAL")
