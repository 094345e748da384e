"""A kernel of a learner's on a device, for which the simulator stands in."""

from __future__ import annotations

import numpy as np

from minitorch_compile.course.on_gpu import on_gpu
from minitorch_compile.cuda_simulator import cuda


@cuda.jit(device=True)
def square(x):
    return x * x


def squares(x, factor):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = factor * square(x[i])


def device():
    return cuda


def test_it_says_whether_the_values_are_those_of_the_simulator():
    x = np.arange(40, dtype=np.float32)
    said = on_gpu(squares, 2, 32, x, np.float32(2), device=device)
    assert said.startswith("squares: the same values as in the simulator, ") and said.endswith(
        " us a launch on the GPU"
    )
    assert x.tolist() == list(range(40))  # it works on copies


def test_other_values_are_told():
    class Forgetful:
        """A device whose kernels do nothing."""

        jit = staticmethod(lambda function, **options: {(2, 32): lambda *arrays: None})
        to_device, synchronize = staticmethod(cuda.to_device), staticmethod(cuda.synchronize)

    said = on_gpu(squares, 2, 32, np.arange(40, dtype=np.float32), np.float32(2), device=Forgetful)
    assert "OTHER VALUES THAN" in said


def test_without_a_gpu_there_is_nothing_to_say():
    assert "no GPU here" in on_gpu(squares, 2, 32, np.ones(4, np.float32), np.float32(2), device=None)
