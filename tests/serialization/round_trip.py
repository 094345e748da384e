"""A value after save() and load()."""

import io
from typing import Any

import minitorch_compile as torch


def saved(value: Any) -> bytes:
    """The bytes of the file."""
    file = io.BytesIO()
    torch.save(value, file)
    return file.getvalue()


def round_trip(value: Any) -> Any:
    """The value after save() and load()."""
    return torch.load(io.BytesIO(saved(value)))
