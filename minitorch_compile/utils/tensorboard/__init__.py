"""torch.utils.tensorboard: SummaryWriter, where the package `tensorboard` is installed; it writes the files.

>>> from minitorch_compile.utils.tensorboard import EventWriter
Traceback (most recent call last):
ImportError: cannot import name 'EventWriter' ...
"""

from __future__ import annotations

import importlib
from typing import Any

NAMES = ("FileWriter", "SummaryWriter")


def __getattr__(name: str) -> Any:
    """SummaryWriter, when it is first asked for: ImportError, which programs catch, if tensorboard is not installed."""
    if name not in NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
    try:
        importlib.import_module("tensorboard.summary.writer.event_file_writer")
    except ImportError as error:
        raise ImportError(
            f"torch.utils.tensorboard.{name} writes its files with the package tensorboard, which can't be imported"
            f" ({error}): install it (`pip install tensorboard`), or leave the writer out",
            name=error.name,
        ) from error
    from minitorch_compile.utils.tensorboard import summary_writer

    return getattr(summary_writer, name)
