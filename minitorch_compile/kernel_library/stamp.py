"""What a library of kernels was made for: versions, the processor, and the code that wrote it.

Asked for without Numba, by a process that only wants to know whether there is a library for it.

>>> len(stamp()), stamp() == stamp()
(32, True)
"""

from __future__ import annotations

import hashlib
import os
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path

import llvmlite
import numpy as np
from llvmlite import binding as llvm

from minitorch_compile.version import __version__

# The floors whose code decides what is in a library: their files are looked at from outside only, which is quick.
WRITERS = ("kernel_library", "inductor", "prims", "aot", "fx", "autograd", "tensor")


@cache
def stamp() -> str:
    """The name of the library for this process."""
    versions = (__version__, sys.version, np.__version__, llvmlite.__version__, version("numba"))
    processor = (llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten())
    settings = sorted(item for item in os.environ.items() if item[0].startswith("NUMBA_"))
    text = f"{versions} {processor} {settings} {sources()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def sources() -> str:
    """The hash of names, sizes and times of the files in these floors."""
    digest = hashlib.sha256()
    pending = [Path(__file__).parent.parent / floor for floor in reversed(WRITERS)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    digest.update(f"{entry.name} {status.st_size} {status.st_mtime_ns}\n".encode())
                elif entry.is_dir() and entry.name != "__pycache__":
                    pending.append(Path(entry.path))
    return digest.hexdigest()
