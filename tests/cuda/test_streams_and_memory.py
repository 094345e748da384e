"""torch.cuda: devices, streams, events, and the figures of the allocator."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import minitorch_compile as torch
from minitorch_compile.cuda import device_block
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver


def test_devices_are_counted_and_chosen() -> None:
    assert torch.cuda.is_available() and torch.cuda.device_count() == 2 and torch.cuda.is_initialized()
    assert torch.cuda.current_device() == 0
    torch.cuda.set_device("cuda:1")
    assert torch.cuda.current_device() == 1 and torch.ones(1, device="cuda").get_device() == 1
    torch.cuda.set_device(-1)
    assert torch.cuda.current_device() == 1
    with torch.cuda.device_of(torch.ones(1, device="cuda:0")):
        assert torch.cuda.current_device() == 0
    assert torch.cuda.get_device_capability() == (9, 0) and torch.cuda.is_bf16_supported()
    assert torch.cuda.get_device_properties(0).total_memory == torch.cuda.mem_get_info(0)[1]
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.synchronize("cpu")


def test_work_goes_to_the_current_stream() -> None:
    side = torch.cuda.Stream()
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != side
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        with torch.cuda.stream(None):
            assert torch.cuda.current_stream() == side
        with torch.cuda.stream(torch.cuda.Stream(device=1)):
            assert torch.cuda.current_device() == 1
    assert torch.cuda.current_stream() == torch.cuda.default_stream() and torch.cuda.current_device() == 0
    with side as entered:
        assert torch.cuda.current_stream() == entered == side


def test_an_event_orders_two_streams() -> None:
    with using(FakeDriver(order="latest")):
        x = torch.zeros(4, device="cuda")
        side, done = torch.cuda.Stream(), torch.cuda.Event()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.add_(1)
            done.record()
        assert not x.is_cpu
        torch.cuda.current_stream().wait_event(done)
        assert x.tolist() == [1, 1, 1, 1] and done.query() and side.query()


def test_events_tell_times() -> None:
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with pytest.raises(ValueError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    torch.ones(3, device="cuda").add_(1)
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(torch.cuda.Event())


def test_memory_is_counted_and_given_back() -> None:
    torch.cuda.empty_cache()
    gc.collect()
    before = torch.cuda.memory_allocated()
    x = torch.zeros(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4096
    view = x[1:]
    del x
    assert torch.cuda.memory_allocated() - before == 4096
    del view
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.memory_reserved() >= torch.cuda.max_memory_allocated() > before
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() == 0
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == before
    assert "Allocated memory" in torch.cuda.memory_summary() and torch.cuda.memory_stats()["num_ooms"] == 0


def test_out_of_memory_leaves_the_process_usable() -> None:
    with using(FakeDriver(memory=64 << 20)):
        kept = torch.zeros(8 << 20).cuda()
        with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory. Tried to allocate"):
            torch.zeros(12 << 20).cuda()
        assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError) and kept[0].item() == 0
        del kept
        assert torch.zeros(12 << 20).cuda()[-1].item() == 0
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction(0.25)
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.zeros(8 << 20).cuda()


def test_after_an_error_nothing_keeps_what_the_frames_had() -> None:
    """So memory that a failed step took is there for the next try, without a run of the garbage collector."""

    def failing() -> Any:
        x = torch.zeros(2000).cuda()
        with pytest.raises(torch.cuda.OutOfMemoryError):
            torch.exp(torch.zeros(1, device="cuda").expand(1 << 30))
        return weakref.ref(x)

    with using(FakeDriver(memory=64 << 20)):
        failing()
        gc.collect()
        gc.disable()
        try:
            assert failing()() is None
        finally:
            gc.enable()


def test_tensors_of_a_runtime_that_was_left_keep_their_memory() -> None:
    with using(FakeDriver()):
        x = torch.ones(3, device="cuda")
    assert (x + 1).tolist() == [2, 2, 2]


def test_the_accelerator_is_the_gpu() -> None:
    accelerator = torch.accelerator
    assert accelerator.is_available() and accelerator.device_count() == 2
    assert accelerator.current_accelerator() == torch.device("cuda")
    with accelerator.device_index(1):
        assert accelerator.current_device_index() == 1 == torch.ones(1, device="cuda").get_device()
    assert accelerator.current_device_index() == 0 and torch.get_device_module() is torch.cuda
    accelerator.synchronize()
    assert accelerator.current_stream() == torch.cuda.default_stream()
    assert isinstance(torch.Stream("cuda"), torch.cuda.Stream) and isinstance(torch.Event("cuda"), torch.cuda.Event)
    assert accelerator.memory_allocated() == torch.cuda.memory_allocated()
    assert torch.float16 in accelerator.get_device_capability()["supported_dtypes"]


def test_memory_waits_for_the_streams_that_were_named() -> None:
    with using(FakeDriver(order="latest")):
        x, side = torch.zeros(1000, device="cuda"), torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            y = x + 1
        x.record_stream(side)
        address = x.data_ptr()
        del x
        assert torch.zeros(1000, device="cuda").data_ptr() != address
        torch.cuda.current_stream().wait_stream(side)
        assert y.sum().item() == 1000


def test_without_a_cache_memory_is_the_drivers_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MTC_NO_CUDA_MEMORY_CACHING", "1")
    with using(FakeDriver(order="latest")) as runtime:
        x, side = torch.zeros(1000).cuda(), torch.cuda.Stream()
        (free, total), address = torch.cuda.mem_get_info(), x.data_ptr()
        assert total - free == 4096
        x.record_stream(side)
        del x
        assert torch.cuda.mem_get_info() == (free, total)  # the other stream may use it still
        side.synchronize()
        y = torch.ones(3).cuda()
        assert torch.cuda.memory_reserved() == 512 == total - torch.cuda.mem_get_info()[0] and y.data_ptr() != address
        del y
        assert torch.cuda.mem_get_info() == (total, total) and runtime.allocators[0].snapshot() == []


def test_blocks_are_copied_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_block, "SMALL", 64)
    sizes = [0, 1, 3, 8, 64, 65, *[4] * 70]
    tensors = [torch.arange(size, dtype=torch.uint8, device="cuda") for size in sizes]
    blocks = [x.storage.block for x in tensors]
    copies = blocks[0].copies(blocks)
    assert [copy.nbytes for copy in copies] == [block.nbytes for block in blocks]
    assert not {copy.address for copy in copies if copy.nbytes} & {block.address for block in blocks}
    for x in tensors:
        x.zero_()
    assert [copy.read(0, size).tolist() for copy, size in zip(copies, sizes)] == [[*range(size)] for size in sizes]
