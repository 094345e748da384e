"""Programs of the GPU's backend, in Numba's simulator of one."""

import os
import subprocess
import sys

import pytest

from .conftest import FOLDER

PROGRAM = """
import numpy as np
from mini.aot import aot
from mini.breaks import Region
from mini.cuda import CudaProgram
from mini.ops import gelu, maximum
from mini.tensor import from_numpy

rng = np.random.default_rng(0)


def r(*sizes, dtype=np.float32):
    return from_numpy(rng.uniform(0.3, 1.7, sizes).astype(dtype))


CASES = [
    (lambda x, y: (x + y * 2) / x - y, r(3, 4), r(4)),
    (lambda x: x.softmax(1), r(2, 20)),
    (lambda x: (x - x.mean((0, 2), True)).amax(1).tanh(), r(3, 2, 5)),
    (lambda x, y: (x @ y + 1).relu(), r(3, 5), r(5, 4)),
    (lambda x, y: x.transpose(1, 2) @ y, r(2, 3, 4), r(3, 5)),
    (lambda x: (x.sum(), x.t().reshape(6), x[1:, ::2]), r(2, 3)),
    (lambda x: gelu(x).sum(0), r(1, 3)),
    (lambda x: x.sum(1), r(3, 1)),
    (lambda x: x + 1, r()),
    (lambda x: x * 2, r(0, 3)),
    (lambda x, y: (x < y).to("float32") * maximum(x, y), r(7), r(7)),
]
for f, *args in CASES:
    wanted, got = f(*args), Region(f, aot(CudaProgram))(*args)
    for a, b in zip(*[out if isinstance(out, tuple) else (out,) for out in (wanted, got)]):
        assert a.sizes == b.sizes and np.allclose(a.numpy(), b.numpy(), rtol=1e-4), args[0].sizes
    if len(args) == 2 and wanted.dtype == np.float32:
        for x in args:
            x.requires_grad = True
        f(*args).sum().backward()
        wanted = [x.grad.numpy() for x in args]
        for x in args:
            x.grad = None
        Region(f, aot(CudaProgram))(*args).sum().backward()
        assert all(np.allclose(x.grad.numpy(), w, rtol=1e-3) for x, w in zip(args, wanted))
print("agrees")
"""


@pytest.mark.slow
def test_the_simulated_gpu_agrees_with_the_eager_library():
    program = "import mini.cuda; mini.cuda.THREADS = 4\n" + PROGRAM  # each thread is one of Python's
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(FOLDER.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "agrees\n", done.stderr
