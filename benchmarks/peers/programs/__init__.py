"""The programs of the table, in PyTorch's words: importing this enters them all into `ROWS`.

`import torch` means whatever the process that imports them has under that name: PyTorch, or this package's torch face.
"""

import importlib

FILES = ("kernels", "vision", "language", "other")


def enter_all() -> None:
    """Imports every file, so that `ROWS` is complete."""
    for name in FILES:
        importlib.import_module(f"{__name__}.{name}")
