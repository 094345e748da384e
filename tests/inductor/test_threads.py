"""Kernels shared out among threads: the same numbers whatever the number of threads, and nothing that hangs."""

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from numba import njit, types

import minitorch_compile as torch
import minitorch_compile.nn.functional as F
from minitorch_compile.inductor.runtime.atomics import atomic_add, atomic_load
from minitorch_compile.inductor.runtime.chunks import chunk_length
from minitorch_compile.inductor.runtime.kernel_function import native_function
from minitorch_compile.inductor.runtime.thread_pool import POOL, parallel_for

COUNTS = (1, 2, 4)


@native_function("test_threads_count", types.void(*[types.int64] * 3))
def count(context, chunk, thread):
    atomic_add(context + 8 * chunk, 1)
    atomic_add(context + 8 * 1000 + 8 * thread, 1)


run_in_native_code = njit(parallel_for)


@native_function("test_threads_nested", types.void(*[types.int64] * 3))
def nested(context, chunk, thread):
    """`context` begins with the addresses of the pool and of `count`: machine code that is kept on disk has none."""
    pool, task = atomic_load(context), atomic_load(context + 8)
    run_in_native_code(pool, task, context + 8 * 1100 * (chunk + 1), 10, 2)


@pytest.fixture
def threads():
    """Sets the number of threads, and puts it back."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("number", COUNTS)
def test_each_chunk_is_done_once_by_one_of_the_threads(number):
    done = np.zeros(1100, np.int64)
    for _ in range(50):
        POOL.run(count.address, done.ctypes.data, 1000, number)
    assert (done[:1000] == 50).all()
    assert done[1000 : 1000 + number].sum() == 50_000


def test_tasks_of_several_python_threads_at_once_are_all_done():
    totals = [np.zeros(1100, np.int64) for _ in range(4)]
    run = lambda done: [POOL.run(count.address, done.ctypes.data, 100, 4) for _ in range(200)]
    callers = [threading.Thread(target=run, args=(done,)) for done in totals]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((done[:100] == 200).all() for done in totals)


def test_a_task_that_starts_a_task_does_it_alone():
    done = np.zeros((5, 1100), np.int64)
    done[0, :2] = POOL.address, count.address
    POOL.run(nested.address, done.ctypes.data, 4, 2)
    assert (done[1:, :10] == 1).all()


def test_threads_end_and_begin_again():
    done = np.zeros(1100, np.int64)
    POOL.run(count.address, done.ctypes.data, 10, 3)
    assert POOL.started >= 2
    POOL.stop()
    assert POOL.started == 0
    POOL.run(count.address, done.ctypes.data, 10, 3)
    assert (done[:10] == 2).all()


PROGRAMS = {
    "pointwise": lambda x: torch.tanh(x * x + 1) * torch.sigmoid(x),
    "softmax": lambda x: torch.softmax(x, -1),
    "layer norm": lambda x: F.gelu(F.layer_norm(x, (x.shape[-1],))),
    "sum of rows": lambda x: x.exp().sum(1),
    "sum of columns": lambda x: x.exp().sum(0),
    "sum of everything": lambda x: x.exp().sum(),
    "norm of a vector": lambda x: x / x.view(-1).square().sum().sqrt() + x.amax() * x.amin(),
    "transpose": lambda x: x.t().contiguous() + 1,
    "axes that change places": lambda x: x.view(335, 8, 50).transpose(0, 1) * 2 + x.view(8, 335, 50),
    "product": lambda x: torch.relu(x @ x.t()) @ x,
    "batched product": lambda x: x.view(5, 67, 400) @ x.view(5, 67, 400).transpose(1, 2),
    "maximum pooling": lambda x: F.max_pool2d(x.view(1, 25, 67, 80), 3, 2, 1),
    "convolution": lambda x: F.conv2d(x.view(5, 8, 67, 50), x.view(-1)[: 8 * 8 * 9].view(8, 8, 3, 3), padding=1),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_do_not_depend_on_the_number_of_threads(name, threads):
    torch.manual_seed(0)
    x = torch.randn(335, 400)
    compiled = torch.compile(PROGRAMS[name])
    results = []
    for number in COUNTS:
        threads(number)
        results.append(compiled(x).numpy())
    assert all(np.array_equal(results[0], other) for other in results[1:])


@pytest.mark.parametrize("sizes", [(131101,), (2, 131101), (3, 1 << 16), (1 << 17, 3), (40, 5000, 1), (4, 7, 5000)])
def test_a_reduction_in_two_steps_is_that_of_all_elements(sizes):
    """131101 is prime: it can't be cut into rows."""
    x = torch.randn(*sizes)
    compiled = torch.compile(lambda x: (x.sum(), x.amax(), x.square().sum(tuple(range(1, x.dim())))))
    a = x.numpy().astype("f8")
    wanted = a.sum(), a.max(), np.square(a).sum(tuple(range(1, a.ndim)) if a.ndim > 1 else None)
    for found, expected in zip(compiled(x)[:2], wanted):
        np.testing.assert_allclose(found.numpy(), expected, rtol=1e-5, atol=1e-3)
    if len(sizes) > 1:
        np.testing.assert_allclose(compiled(x)[2].numpy(), wanted[2], rtol=1e-5)


def test_gradients_do_not_depend_on_the_number_of_threads(threads):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.GELU(), torch.nn.Linear(300, 300))
    x = torch.randn(512, 300)
    step = torch.compile(lambda x: model(x).square().mean())
    found = []
    for number in COUNTS:
        threads(number)
        model.zero_grad()
        step(x).backward()
        found.append([p.grad.numpy().copy() for p in model.parameters()])
    assert all(np.array_equal(a, b) for other in found[1:] for a, b in zip(found[0], other))


def test_an_index_out_of_range_is_reported_by_whichever_thread_meets_it(threads):
    threads(4)
    index = torch.zeros(100_000, dtype=torch.int64)
    index[99_999] = 7
    gather = torch.compile(lambda x, index: x[index].exp().log().exp())
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        gather(torch.zeros(5, 8), index)


def test_small_kernels_stay_on_one_thread():
    assert chunk_length(4096, 5_000) == 0
    assert chunk_length(1, 1e9) == 0


def python(program: str) -> str:
    """What a program prints in a process of its own, which has ten minutes."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


LARGE = """
    import os
    import minitorch_compile as torch
    torch.set_num_threads(4)
    compiled = torch.compile(lambda x: torch.softmax(x, -1).sum())
    x = torch.ones(1024, 512)  # every sum on the way is exact, in whatever order it is taken
    assert compiled(x).item() == 1024
"""


def test_a_program_ends_while_threads_wait():
    assert python(LARGE + "    print('ended')") == "ended\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_threads_of_its_own():
    program = """
    child = os.fork()
    if child == 0:
        assert compiled(x).item() == 1024
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    print(compiled(x).item())
    """
    assert python(LARGE + program) == "1024.0\n"
