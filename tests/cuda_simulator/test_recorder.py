"""A recorder keeps what one block did, and counts like any other."""

import numpy as np

from minitorch_compile.cuda_simulator import Counts, Recorder, cuda, simulate
from minitorch_compile.inductor.codegen.cuda.tensor_cores import ldmatrix_x4


def reverse(x, out):
    tile = cuda.shared.array(32, np.float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[thread] = x[i]
    cuda.syncthreads()
    if i < x.size:
        out[i] = tile[31 - thread]


def recorded(**options):
    recorder = Recorder(**options)
    x = np.arange(64, dtype=np.float32)
    simulate(reverse, counts=recorder)[2, 32](x, np.zeros_like(x))
    return recorder


def test_what_happened_is_kept_in_order():
    happened = [(event.what, event.array) for event in recorded().events]
    assert happened == [("load", "x"), ("store", "tile"), ("barrier", ""), ("load", "tile"), ("store", "out")]


def test_each_access_has_its_threads_and_their_bytes():
    for block in (0, 1):
        load, _, _, read, _ = recorded(block=block).events
        assert load.threads.tolist() == list(range(32))
        assert (load.addresses % 4 == 0).all() and np.diff(load.addresses).tolist() == [4] * 31
        assert load.addresses[0] == 128 * block  # each block has its own part of x, and the whole of its tile
        assert read.addresses.tolist() == [4 * (31 - thread) for thread in range(32)]


def test_it_counts_what_counts_count():
    x, counts = np.arange(64, dtype=np.float32), Counts()
    simulate(reverse, counts=counts)[2, 32](x, np.zeros_like(x))
    assert recorded().total == counts.total


def test_what_tensor_cores_load_is_kept_by_name():
    def load(x, out):
        tile = cuda.shared.array(256, np.uint16)
        lane = cuda.threadIdx.x
        for i in range(lane, 256, 32):
            tile[i] = x[i]
        cuda.syncthreads()
        out[lane] = ldmatrix_x4(tile, 16 * (lane % 16) + 8 * (lane // 16))[0]

    recorder = Recorder()
    simulate(load, counts=recorder)[1, 32](np.zeros(256, np.uint16), np.zeros(32, np.int32))
    store, loaded = recorder.events[-1], recorder.events[-2]
    assert (store.array, loaded.what, loaded.array, loaded.threads.size) == ("out", "load", "tile", 32)
