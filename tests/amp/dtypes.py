"""The dtypes of what a line of a call sheet gives, with and without autocast, on either library."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from tests.battery.arguments import Arguments

# Where tensors are, what floats are in the arguments, and what autocast casts to. Floats of the type that is cast to
# show what is cast up, others what is cast down.
CASES = {
    "float32 to bfloat16": ("cpu", "float32", "bfloat16"),
    "float16 to float16": ("cpu", "float16", "float16"),
    "float32 to float16 on cuda": ("cuda", "float32", "float16"),
    "float16 to float16 on cuda": ("cuda", "float16", "float16"),
}


def cases_on(device: str) -> list[str]:
    """The names of the cases with tensors there."""
    return [name for name, (where, *_) in CASES.items() if where == device]


def dtypes_of(library: Any, text: str, case: str, enabled: bool = True, make: Any = None) -> list[str] | str:
    """The dtypes of the tensors in the result, or the class of the error. `make` moves an argument to the device."""
    where, element, target = CASES[case]
    try:
        with warnings.catch_warnings(), nullcontext() if where == "cpu" else library.device(where):
            warnings.simplefilter("ignore")
            arguments = Arguments(library, element=element, make=make)
            with _casting(library, where, getattr(library, target), enabled):
                result = eval(text, arguments.vocabulary())
    except Exception as error:  # whatever the library raises is the outcome
        return type(error).__name__
    return [str(x.dtype).removeprefix("torch.") for x in _tensors(result, library)]


@contextmanager
def _casting(library: Any, where: str, target: Any, enabled: bool) -> Iterator[None]:
    """torch.autocast, also for a device that isn't there: fake tensors on it are cast."""
    library.set_autocast_enabled(where, enabled)
    before = library.get_autocast_dtype(where)
    library.set_autocast_dtype(where, target)
    try:
        yield
    finally:
        library.set_autocast_enabled(where, False)
        library.set_autocast_dtype(where, before)
        library.clear_autocast_cache()


def _tensors(value: Any, library: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item, library)
    elif isinstance(value, library.Tensor):
        yield value
