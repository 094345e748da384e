"""torch.__config__: what the package stands on.

>>> print(show().splitlines()[0])
minitorch_compile on NumPy ...
"""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import numpy as np

from minitorch_compile.tensor.cpu.thread_count import get_num_threads
from minitorch_compile.version import __version__


def show() -> str:
    """The libraries that compute, and how NumPy was built."""
    built = io.StringIO()
    with redirect_stdout(built):
        np.show_config()
    return f"minitorch_compile on NumPy {np.__version__}, in place of PyTorch {__version__}\n{built.getvalue()}"


def parallel_info() -> str:
    """How many threads compute."""
    return f"minitorch_compile:\n\tget_num_threads() : {get_num_threads()}\n"
