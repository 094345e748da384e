"""Every planted fault is reported with its line, and none in the kernel without it."""

import numpy as np
import pytest

from minitorch_compile.cuda_simulator import KernelFault, cuda, simulate
from tests.cuda_simulator.planted import PLANTED, N


def launch(kernel, blocks, arguments, collect=False):
    return simulate(kernel, collect=collect)[blocks, N](*(make() for make in arguments))


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_reported_with_its_lines(name):
    kind, faulty, _, blocks, arguments = PLANTED[name]
    with pytest.raises(KernelFault) as raised:
        launch(faulty, blocks, arguments)
    fault = raised.value
    assert fault.kind == kind
    assert "# here" in fault.place.text and fault.place.function == "faulty"
    assert fault.place.file.endswith("planted.py")
    assert (fault.other is not None) == (kind == "data race")
    assert fault.other is None or "# and here" in fault.other.text


@pytest.mark.parametrize("name", PLANTED)
def test_its_correct_twin_has_no_fault(name):
    _, _, right, blocks, arguments = PLANTED[name]
    assert launch(right, blocks, arguments, collect=True).faults == []


@pytest.mark.parametrize("name", PLANTED)
def test_collected_faults_let_the_kernel_run_on(name):
    kind, faulty, _, blocks, arguments = PLANTED[name]
    assert kind in [fault.kind for fault in launch(faulty, blocks, arguments, collect=True).faults]


def test_a_message_names_threads_element_and_lines():
    kind, faulty, _, blocks, arguments = PLANTED["reading_a_neighbours_value"]
    with pytest.raises(KernelFault) as raised:
        launch(faulty, blocks, arguments)
    first, here, there = str(raised.value).split("\n")
    assert first == (
        "data race: thread 0 of block 0 reads shared[127], which thread 127 of block 0 writes,"
        " and nothing says which comes first"
    )
    assert here.endswith("in faulty:  out[thread] = shared[N - 1 - thread]  # here")
    assert there.endswith("in faulty:  shared[thread] = x[thread]  # and here")


def test_each_kind_is_reported_once_for_each_line():
    def kernel(x):
        x[cuda.grid(1) + 10] = 1
        x[cuda.grid(1) + 20] = 1

    run = simulate(kernel, collect=True)[4, 8](np.zeros(8))
    assert [fault.kind for fault in run.faults] == ["out of bounds", "out of bounds"]


def test_writing_the_same_value_is_no_race():
    def kernel(x):
        x[0] = 7

    x = np.zeros(1)
    assert simulate(kernel)[2, 64](x).faults == [] and x[0] == 7


def test_two_views_of_one_array_race_as_one():
    def kernel(x, y):
        x[cuda.threadIdx.x] = y[cuda.threadIdx.x]

    def shifted(x, y):
        x[cuda.threadIdx.x + 1] = y[cuda.threadIdx.x]

    whole = np.arange(65.0)
    with pytest.raises(KernelFault, match="data race"):
        simulate(kernel)[1, 64](whole[1:], whole[:-1])
    assert simulate(kernel)[1, 64](whole[1:], np.arange(64.0)).faults == []
    assert simulate(kernel)[1, 32](whole[1:33], whole[33:]).faults == []
    on_device = cuda.to_device(whole)
    with pytest.raises(KernelFault, match="data race"):
        simulate(shifted)[1, 64](on_device, on_device)


def test_elements_of_different_sizes_in_one_memory_race():
    def kernel(numbers, halves):
        i = cuda.threadIdx.x
        numbers[i] = i
        halves[i] = i + 1

    memory = np.zeros(64, np.int64)
    with pytest.raises(KernelFault, match=r"thread 1 of block 0 writes halves\[1\], which thread 0 of block 0 writes"):
        simulate(kernel)[1, 32](memory[:32], memory.view(np.int32)[:32])
    assert simulate(kernel)[1, 32](memory[:32], memory.view(np.int32)[64:96]).faults == []


def test_arrays_of_dynamic_shared_memory_begin_at_one_place():
    def kernel(out):
        numbers, bytes_ = cuda.shared.array(0, np.int32), cuda.shared.array(0, np.uint8)
        i = cuda.threadIdx.x
        numbers[i] = 256 * i + 7
        if out[0]:
            cuda.syncthreads()
        out[i] = bytes_[4 * i] if i % 2 else bytes_[4 * (i ^ 2)]

    out = np.ones(8, np.int64)
    simulate(kernel)[1, 8, 0, 32](out)
    assert out.tolist() == [7] * 8
    with pytest.raises(KernelFault, match="data race"):
        simulate(kernel)[1, 8, 0, 32](np.zeros(8, np.int64))


def test_a_histogram_that_nobody_zeroed_is_an_uninitialised_read():
    def kernel(x):
        bins = cuda.shared.array(4, np.int32)
        cuda.atomic.exch(bins, 0, 0)
        cuda.atomic.add(bins, x[cuda.threadIdx.x] % 4, 1)

    assert simulate(kernel)[1, 4](np.zeros(4, np.int64)).faults == []
    with pytest.raises(KernelFault, match=r"uninitialised read: thread 1 of block 0 reads bins\[1\]"):
        simulate(kernel)[1, 4](np.arange(4))


def test_a_fault_in_a_device_function_is_reported_there():
    @cuda.jit(device=True)
    def last(x):
        return x[x.size]

    def kernel(x):
        x[0] = last(x)

    with pytest.raises(KernelFault, match=r"reads x\[4\], but x has 4 elements") as raised:
        simulate(kernel)[1, 1](np.zeros(4))
    assert (raised.value.place.function, raised.value.place.text) == ("last", "return x[x.size]")


def test_threads_of_a_block_with_two_dimensions_are_named_by_both():
    def kernel(x):
        x[cuda.threadIdx.y, cuda.threadIdx.x] = 1

    with pytest.raises(KernelFault, match=r"thread \(4, 0, 0\) of block 0 writes x\[0, 4\], but x has sizes \(4, 4\)"):
        simulate(kernel)[1, (8, 4)](np.zeros((4, 4)))


def test_what_a_partial_syncwarp_orders_is_no_race():
    def kernel(out, mask):
        shared = cuda.shared.array(32, np.float32)
        lane = cuda.threadIdx.x
        if lane < 16:
            shared[lane] = lane
            cuda.syncwarp(0xFFFF)
            out[lane] = shared[15 - lane]

    assert simulate(kernel)[1, 32](np.zeros(32), 0).faults == []


def test_a_loop_that_waits_for_a_thread_of_its_own_warp_is_reported(monkeypatch):
    def kernel(lock):
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            pass
        cuda.atomic.exch(lock, 0, 0)

    monkeypatch.setattr("minitorch_compile.cuda_simulator.frame.MOST_TURNS", 50)
    with pytest.raises(KernelFault, match="endless loop: 50 turns"):
        simulate(kernel)[1, 32](np.zeros(1, np.int64))
