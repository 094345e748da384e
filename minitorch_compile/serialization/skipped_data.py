"""skip_data: files and tensors of the right sizes without what is in them, to be filled later or never.

>>> import io
>>> from minitorch_compile.serialization.save_load import load, save
>>> from minitorch_compile.tensor import ones
>>> file = io.BytesIO()
>>> with skip_data():
...     save(ones(2), file)
>>> load(io.BytesIO(file.getvalue()))
tensor([0., 0.])
"""

from __future__ import annotations

import threading
from typing import Any


class _Skipping(threading.local):
    """Whether this thread skips."""

    data = False


_skipping = _Skipping()


def skips_data() -> bool:
    """Whether the bytes of tensors are neither written nor read now."""
    return _skipping.data


class skip_data:
    """Within a `with`, save() writes zeros where the bytes of tensors would be, and load() gives tensors of zeros
    without reading them. `materialize_fake_tensors` is taken and has no effect: tensors without data, those of the
    tracer, aren't saved."""

    def __init__(self, materialize_fake_tensors: bool = False) -> None:
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self._before, _skipping.data = _skipping.data, True

    def __exit__(self, type: Any, value: Any, tb: Any) -> None:
        _skipping.data = self._before
