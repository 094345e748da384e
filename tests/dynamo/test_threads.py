"""Compiling and calling from several threads at once: right results, no deadlock, nothing compiled twice."""

import os
import random
import signal
import threading
from types import SimpleNamespace

import pytest

import minitorch_compile as torch
from minitorch_compile import nn
from minitorch_compile.dynamo import optimize, region_of
from minitorch_compile.dynamo.testing import CompileCounter, eager
from tests.dynamo.compiled import matrix

THREADS = pytest.mark.parametrize("count", [2, 8])


def at_once(count, work):
    """`work(number)` in so many threads, begun together; what they raised. Those that hang are named, too."""
    errors = []
    barrier = threading.Barrier(count)

    def run(number):
        try:
            barrier.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
    return [*errors, *(thread.name for thread in threads if thread.is_alive())]


@THREADS
def test_one_function(count):
    counter = CompileCounter()
    f = optimize(lambda x: (x * 2).sum(), counter)

    def work(number):
        for _ in range(20):
            assert f(torch.ones(3) * number).item() == 6 * number

    assert at_once(count, work) == []
    assert counter.frame_count == 1


@THREADS
def test_one_function_with_many_versions(count):
    counter = CompileCounter()
    f = optimize(lambda x: (x * 2).sum(), counter, dynamic=False)

    def work(number):
        chooser = random.Random(number)
        for _ in range(50):
            size = chooser.randrange(1, 6)
            assert f(torch.ones(size)).item() == 2 * size

    assert at_once(count, work) == []
    assert counter.frame_count == 5


@THREADS
def test_one_model(count):
    counter = CompileCounter()
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU()).eval()
    f = optimize(model, counter)
    expected = model(matrix()).tolist()

    def work(number):
        for _ in range(20):
            assert f(matrix()).tolist() == expected

    assert at_once(count, work) == []
    assert counter.frame_count == 1


@THREADS
def test_different_functions(count):
    functions = [torch.compile(lambda x, n=n: x * n + 1) for n in range(count)]

    def work(number):
        for _ in range(5):
            assert functions[number](matrix()).tolist() == (matrix() * number + 1).tolist()

    assert at_once(count, work) == []


@THREADS
def test_grad_mode_belongs_to_the_thread(count):
    counter = CompileCounter()
    f = optimize(lambda x, w: (x * w).sum(), counter)

    def work(number):
        for _ in range(10):
            weight = torch.ones(3, requires_grad=True)
            with torch.set_grad_enabled(number % 2 == 0):
                result = f(torch.ones(3) * number, weight)
            assert result.requires_grad == (number % 2 == 0)

    assert at_once(count, work) == []
    assert counter.frame_count == 2


def test_a_transform_belongs_to_the_thread():
    counter, inside, done = CompileCounter(), threading.Event(), threading.Event()
    f = optimize(lambda x: x * 2, counter)
    assert f(torch.ones(3)).tolist() == [2, 2, 2]

    def row(x):
        inside.set()
        assert done.wait(60)
        return f(x)

    other = threading.Thread(target=lambda: results.append(torch.vmap(row)(torch.ones(2, 3)).tolist()))
    results: list = []
    other.start()
    assert inside.wait(60)
    assert f(torch.ones(3)).tolist() == [2, 2, 2]
    done.set()
    other.join(60)
    assert results == [[[2, 2, 2], [2, 2, 2]]]
    assert counter.frame_count == 1


@THREADS
def test_a_guarded_attribute_that_another_thread_changes(count):
    model = nn.Linear(3, 3)
    f = optimize(lambda x: model(x) * (1 if model.training else 1), eager)
    expected = model(matrix()).tolist()

    def work(number):
        for step in range(30):
            if number == 0:
                model.train(step % 2 == 0)
            else:
                assert f(matrix()).tolist() == expected

    assert at_once(count, work) == []


@THREADS
def test_reset_while_others_call(count):
    f = optimize(lambda x: x + 1, eager)

    def work(number):
        for _ in range(20):
            if number == 0:
                region_of(f).reset()
            else:
                assert f(matrix()).tolist() == (matrix() + 1).tolist()

    assert at_once(count, work) == []


def test_a_function_that_calls_itself():
    def power(x, n):
        return x if n == 0 else compiled(x * 2, n - 1)

    def with_a_break(x, n):
        print(end="")
        return x if n == 0 else broken(x * 2, n - 1)

    compiled, broken = optimize(power, eager), optimize(with_a_break, eager)
    assert compiled(torch.ones(1), 3).tolist() == broken(torch.ones(1), 3).tolist() == [8]


def test_a_backend_that_compiles():
    seen = SimpleNamespace(depth=0)

    def backend(module, inputs):
        seen.depth += 1
        if seen.depth == 1:
            assert f(torch.ones(5)).tolist() == [2] * 5
        assert optimize(lambda x: x * 3, eager)(torch.ones(1)).tolist() == [3]
        return module

    f = optimize(lambda x: x + 1, backend, dynamic=False)
    assert f(torch.ones(2)).tolist() == [2, 2]
    assert f(torch.ones(5)).tolist() == [2] * 5
    assert seen.depth == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_compiles():
    """The child has no such thread, so it must not find the lock taken."""
    compiling = threading.Event()

    def slow(module, inputs):
        compiling.set()
        threading.Event().wait(0.3)
        return module

    other = threading.Thread(target=optimize(lambda x: x + 1, slow), args=(torch.ones(2),))
    other.start()
    compiling.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(int(optimize(lambda x: x * 7, eager)(torch.ones(())).item()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    other.join()
