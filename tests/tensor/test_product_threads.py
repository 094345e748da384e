"""OpenBLAS's threads: they don't spin for long after a product, unless the user says so, and are as many as before."""

import os
import subprocess
import sys

import pytest

from minitorch_compile.tensor.cpu import blas

PROGRAM = """
import ctypes, threading, time
import numpy as np
from threadpoolctl import ThreadpoolController

waiting = threading.Event()
if {another_thread}:
    threading.Thread(target=waiting.wait).start()
ones = np.ones((300, 300), np.float32)
ones @ ones
before = ThreadpoolController().info()
import minitorch_compile.tensor
same = ThreadpoolController().info() == before
right = bool(((ones @ ones) == 300).all())
library = ctypes.CDLL(before[0]["filepath"])
print(library.openblas_thread_timeout(), same, right)
waiting.set()
"""


@pytest.mark.skipif(blas._openblas is None, reason="another BLAS")
@pytest.mark.parametrize(
    "variable, another_thread, expected",
    [(None, False, "18"), ("22", False, "22"), (None, True, "0")],
    ids=["as it is", "the user's", "beside a thread"],
)
def test_the_threads_of_products_sleep_soon(variable, another_thread, expected):
    environment = {name: value for name, value in os.environ.items() if name != blas.SPINNING}
    if variable:
        environment[blas.SPINNING] = variable
    program = PROGRAM.format(another_thread=another_thread)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [expected, "True", "True"]
