"""The launches of a call over one buffer of arguments, and what is written where it belongs at once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.cuda_runtime.driver import StreamHandle
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from minitorch_compile.inductor.device_calls.device_call import DeviceCall
from minitorch_compile.inductor.device_calls.launch_row import LaunchRow
from minitorch_compile.inductor.device_calls.launcher import SIZE, array_of
from minitorch_compile.inductor.device_calls.prepared_launch import LoadedKernel, PreparedLaunch
from minitorch_compile.inductor.ir.buffer import Buffer
from minitorch_compile.inductor.ir.extern_call import ExternCall, whole
from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.inductor.schedule.written_at_once import written_at_once

FLOATS = np.dtype(np.float32)


class Driver(FakeDriver):
    """Notes for each launch the words that a kernel would be given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Any] = []
        self.told: list[bool] = []

    def load_kernel(self, device: int, image: bytes, entry: bytes) -> bytes:
        return entry

    def prepared_row(self, device: int, launches: Sequence[Any]) -> Callable[[int, bool], None]:
        def put(stream: int, is_new: bool) -> None:
            self.told.append(is_new)
            for entry, (blocks, threads, _), table in launches:
                addresses = (ctypes.c_uint64 * WORDS[entry]).from_address(table)
                words = [ctypes.c_uint64.from_address(address).value for address in addresses]
                self.seen.append((entry, blocks, threads, stream, words))

        return put


WORDS = {b"add": 4, b"scatter": 9}


def test_kernels_of_a_call_share_its_addresses() -> None:
    driver = Driver()
    add, scatter = (LoadedKernel(driver, b"code", entry, 256) for entry in (b"add", b"scatter"))
    reach = 4, FLOATS
    adding = PreparedLaunch(add, 2, ["float32", "float32", SIZE, "=int64"], [reach, reach], [4, -1])
    scattering = PreparedLaunch(scatter, 3, ["float32", array_of("float32"), SIZE], [reach, (8, FLOATS)], [7])
    between: list[Any] = []
    row = LaunchRow(
        [(adding, [0, 2]), (scattering, [2, 1]), (lambda *told: between.append(told), [1]), (adding, [2, 0])], 3
    )
    row([4096, 8192, 16384], StreamHandle(0, 5))
    minus_one = 2**64 - 1
    assert driver.seen == [
        (b"add", 2, 256, 5, [4096, 16384, 4, minus_one]),
        (b"scatter", 3, 256, 5, [16384, 0, 0, 8, 4, 8192, 8, 4, 7]),
        (b"add", 2, 256, 5, [16384, 4096, 4, minus_one]),
    ]
    assert between == [([8192], StreamHandle(0, 5))]
    row([1, 2, 3], StreamHandle(0))
    assert driver.seen[3][4] == [1, 3, 4, minus_one] and driver.seen[4][4][5] == 2
    row([1, 2, 3], StreamHandle(0))
    row([1, 2, 4], StreamHandle(0))
    assert driver.told == [True] * 4 + [False] * 2 + [True] * 2 and driver.seen[9][4][1] == 4


def test_kernels_behind_a_call_that_raised_are_told_its_addresses() -> None:
    driver, answers = Driver(), iter([True, False, True, True])
    adding = PreparedLaunch(
        LoadedKernel(driver, b"code", b"add", 256), 2, ["float32", "float32", SIZE, "=int64"], [(4, FLOATS)] * 2, [4, 1]
    )

    def library(*told: Any) -> None:
        if not next(answers):
            raise RuntimeError("no memory")

    row = LaunchRow([(adding, [0, 1]), (library, [1]), (adding, [1, 0])], 2)
    row([1, 2], StreamHandle(0))
    with pytest.raises(RuntimeError, match="no memory"):
        row([3, 4], StreamHandle(0))
    for _ in range(2):
        row([3, 4], StreamHandle(0))
    assert driver.told == [True, True, True, True, True, False, False]


def test_a_whole_step_writes_parameters_where_they_are(monkeypatch: Any) -> None:
    torch.compiler.reset()
    names: list[list[str]] = []
    plain = DeviceCall.results_of

    def noted(call: DeviceCall, *arguments: Any) -> Any:
        names.append([launch.name for launch in call.launches])
        return plain(call, *arguments)

    monkeypatch.setattr(DeviceCall, "results_of", noted)
    w = torch.ones(3, 2, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.5, momentum=0.5)
    x = torch.arange(6.0, device="cuda").view(2, 3)

    @torch.compile
    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = (x @ w).sum()
        loss.backward()
        optimizer.step()
        return loss

    place = w.data_ptr()
    losses = [step(x).item() for _ in range(3)]
    assert losses == [30, -53, -177.5] and w.data_ptr() == place
    assert "copies" not in names[-1]


def test_only_calls_that_write_to_any_address_write_into_inputs() -> None:
    x, p, made = (Buffer.contiguous(name, (4, 4), torch.float32) for name in ("x", "p", "made"))
    for kernel, count in (("mm", 1), ("cudnn_convolution", 0)):  # which is told of addresses that 16 divides
        call = ExternCall(kernel, [whole(x), whole(x)], [made])
        graph = LoopGraph([x, p], [call], [whole(made)], written_back={made: p})
        assert len(written_at_once(schedule(graph))) == count
