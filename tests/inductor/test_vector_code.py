"""Generated kernels are vector code: their assembly has packed instructions, for several numbers at a time."""

import platform
import re

import numpy as np
import pytest

from minitorch_compile.inductor.codegen.cpu.wrapper import write_file
from minitorch_compile.inductor.lowering import lower
from minitorch_compile.inductor.runtime import code_cache
from minitorch_compile.inductor.runtime.kernel_function import NativeFunction
from minitorch_compile.inductor.schedule.scheduler import schedule
from minitorch_compile.tensor.numerics.dtype import float32
from tests.inductor.prim_graphs import record, tensors_of
from tests.inductor.programs import BF16, PROGRAMS, floats, ints

# Packed arithmetic on float32, by architecture: `vmulps %ymm0, ...`, `fmla v0.4s, ...`.
PACKED = {
    "x86_64": r"\bv?(mul|add|sub|max|min|div|fn?m(add|sub)\d+)ps\s[^\n]*%[xyz]mm",
    "aarch64": r"\bf(mul|add|sub|max|min|div|mla|mls)\s+v\d+\.4s",
    "arm64": r"\bf(mul|add|sub|max|min|div|mla|mls)(\.4s|\s+v\d+\.4s)",
}


def chain(p, a, b):
    half = p.full((64, 200), 0.5, float32)
    return p.add(p.mul(p.maximum(p.add(p.mul(a, b), half), half), half), a)


def row_reductions(p, x):
    return p.sum(p.exp(x), (1,)), p.amax(x, (1,))


def column_reductions(p, x):
    return p.sum(p.exp(x), (0,)), p.amax(x, (0,))


def of_angles(p, x):
    return p.mul(p.sin(x), p.exp(p.cos(x)))


def chosen_by_indices(p, x, i):
    return p.exp(p.gather(x, 1, i))


X = floats(64, 200)
KERNELS = {
    "pointwise": (chain, (X, X)),
    "row_reductions": (row_reductions, (X,)),
    "column_reductions": (column_reductions, (X,)),
    "of_angles": (of_angles, (X,)),
    "chosen_by_indices": (chosen_by_indices, (X, ints(64, 200, low=0, high=200))),
    "bfloat16": (lambda p, x: p.mul(p.tanh(x), x), (X.astype(BF16),)),
    "float16": (lambda p, x: p.mul(p.tanh(x), x), (X.astype(np.float16),)),
    "transpose": (lambda p, x, y: p.mul(p.transpose(x, (1, 0)), y), (X, X.T.copy())),
    "after_a_scan": (lambda p, x: p.exp(p.scan(p.exp(x), 1, "sum")), (X,)),
    "softmax": PROGRAMS["softmax"],
    "layer_norm": PROGRAMS["layer_norm"],
}


def kernels_of(function, arrays):
    source = write_file(schedule(lower(record(function, tensors_of(arrays))))).source
    return [value for value in vars(code_cache.load(source)).values() if isinstance(value, NativeFunction)]


@pytest.mark.skipif(platform.machine() not in PACKED, reason="reads the assembly of x86 and ARM")
@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_has_packed_instructions(name):
    (kernel,) = kernels_of(*KERNELS[name])
    packed = re.findall(PACKED[platform.machine()], kernel.assembly())
    assert len(packed) >= 4, f"{kernel} has {len(packed)} packed instructions"


@pytest.mark.skipif(platform.machine() not in PACKED, reason="reads the assembly of x86 and ARM")
def test_a_loop_whose_steps_wait_for_each_other_has_none():
    def add_up(p, x, rows, values):
        return p.index_put(x, (rows,), values, True)

    (kernel,) = kernels_of(add_up, (floats(200), ints(90, low=0, high=200), floats(90)))
    assert not re.findall(PACKED[platform.machine()], kernel.assembly())
