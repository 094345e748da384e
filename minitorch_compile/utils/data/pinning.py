"""The tensors of a batch in pinned memory, from which a GPU copies while the program goes on.

>>> pinned_batch({"name": "a", "rows": [1, 2]})   # where there are no tensors, nothing changes
{'name': 'a', 'rows': [1, 2]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from minitorch_compile.tensor.dispatch.accelerators import accelerators
from minitorch_compile.user_warnings import warn_user
from minitorch_compile.utils.data.collate import made_like

NO_GPU = (
    "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used;"
    " pin_memory=torch.cuda.is_available() says that it isn't wanted then."
)


def pinning_step() -> Callable[[Any], Any]:
    """What pins a batch; if there is no GPU, a warning says so, and batches stay as they are."""
    if any(accelerator.is_available() for accelerator in accelerators.values()):
        return pinned_batch
    warn_user(NO_GPU)
    return lambda batch: batch


def pinned_batch(data: Any) -> Any:
    """A copy in which the tensors inside lists, tuples and dicts are pinned; so is whatever has a `pin_memory()`, which
    is asked first: a batch of a class of its own knows best."""
    if hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, (str, bytes)):
        return data
    if isinstance(data, Mapping):
        return made_like(data, {key: pinned_batch(value) for key, value in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(pinned_batch, data))
    if isinstance(data, tuple):
        return type(data)(map(pinned_batch, data))
    if isinstance(data, Sequence):
        return made_like(data, [pinned_batch(item) for item in data])
    return data
