"""torch.ops.load_library: compiled ops of other packages, as far as there are stand-ins for them.

A compiled library is machine code that calls PyTorch's own; there is nothing here that it could call. For some of them
the ops are written here as well, and loading the library defines these. For all others it fails as on a machine for
which the library was not compiled, and packages that have another way take it.

>>> load_library("/opt/somewhere/theirs/_C.so")
Traceback (most recent call last):
OSError: /opt/somewhere/theirs/_C.so: cannot be loaded: it is compiled for PyTorch, and there is no stand-in for it ...
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

loaded_libraries: set[str] = set()
# What defines the ops of a library, by the package and the file's name without its ending.
STAND_INS: dict[tuple[str, str], Callable[[], object]] = {}


def load_library(path: str | os.PathLike[str]) -> None:
    """Defines the ops of a package's compiled library. OSError if there is no stand-in for it."""
    file = Path(path)
    define = STAND_INS.get((file.parent.name, file.name.partition(".")[0]))
    if define is None:
        raise OSError(
            f"{path}: cannot be loaded: it is compiled for PyTorch, and there is no stand-in for it here; write its ops"
            " with torch.library.custom_op"
        )
    if str(file.resolve()) not in loaded_libraries:
        define()
        loaded_libraries.add(str(file.resolve()))
