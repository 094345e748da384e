"""What a reader made of one file: a value that is sound, its one error, or a mistake of ours.

>>> from tests.serialization.fuzz.readers import READERS
>>> mistake_of(READERS["safetensors"], b"nonsense") is None
True
"""

from __future__ import annotations

import math
import traceback
from typing import Any

import numpy as np

from minitorch_compile.serialization.allowed_names import Global
from minitorch_compile.serialization.unpickler import Arguments
from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.memory.memory_format import sparse_coo
from tests.serialization.fuzz.readers import Reader


def mistake_of(reader: Reader, data: bytes) -> str | None:
    """What is wrong with how a file was read; None if nothing is."""
    try:
        value = reader.read(data)
    except reader.error:
        return None
    except Exception as error:  # any other is the mistake that is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} at {place.filename}:{place.lineno}: {str(error)[:200]}"
    return unsound(value)


def unsound(value: Any) -> str | None:
    """What is wrong with a value that was read; None if nothing is."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if id(item) in seen or isinstance(item, (str, bytes, int, float, type(None))):
            continue
        seen.add(id(item))
        if isinstance(item, (Global, Arguments)):
            return f"{item!r:.100} is in what was read, and is no data"
        if isinstance(item, Tensor):
            problem = elsewhere(item) if item.is_sparse_layout else outside(item)
            if problem is not None:
                return problem
        elif isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting += item
        if hasattr(item, "__dict__") and not isinstance(item, type):
            waiting += [part for part in vars(item).values() if not isinstance(part, np.ndarray)]
    return None


def elsewhere(s: Any) -> str | None:
    """How the entries of a sparse tensor lie beyond its sizes; None if they don't."""
    if math.prod(s.sizes) < 10**5:
        s.to_dense()  # IndexError, if they don't
    places = s._indices() if s.layout is sparse_coo else s.col_indices()
    sizes = s.sizes[: s.sparse_dim()] if s.layout is sparse_coo else s.sizes[1:]
    array = places.array.reshape(len(sizes), -1)
    within = (array >= 0) & (array < np.array(sizes).reshape(-1, 1))
    return None if within.all() else f"a sparse tensor of sizes {s.sizes} has entries at {array}"


def outside(x: Tensor) -> str | None:
    """How a tensor is not what it says; None if its elements all lie in its storage."""
    if x.device.type == "meta":
        return None
    size = x.storage.buffer.size
    numbers = (x.offset, *x.sizes, *x.strides)
    if any(type(number) is not int or number < 0 for number in numbers) or len(x.sizes) != len(x.strides):
        return f"a tensor has sizes {x.sizes!r}, strides {x.strides!r}, offset {x.offset!r}"
    last = x.offset + sum((n - 1) * s for n, s in zip(x.sizes, x.strides, strict=True))
    if 0 not in x.sizes and last >= size:
        return f"a tensor of sizes {x.sizes}, strides {x.strides}, offset {x.offset} lies over {size} elements"
    if x.storage.buffer.dtype != x.dtype.numpy or x.array.dtype != x.dtype.numpy:
        return f"a tensor of {x.dtype} lies over {x.storage.buffer.dtype}"
    if x.numel() < 10**5:
        x.array.tobytes()  # every element is there
    return None
