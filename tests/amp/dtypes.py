"""The dtypes of what a line of a call sheet gives, with and without autocast, on either library."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from tests.battery.arguments import Arguments

# What floats are in the arguments, and what autocast casts to. The first shows what is cast down, the second what up.
CASES = {"float32 to bfloat16": ("float32", "bfloat16"), "float16 to float16": ("float16", "float16")}


def dtypes_of(library: Any, text: str, case: str, enabled: bool = True) -> list[str] | str:
    """The dtypes of the tensors in the result, or the class of the error."""
    element, target = CASES[case]
    arguments = Arguments(library, element=element)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with library.autocast("cpu", dtype=getattr(library, target), enabled=enabled):
                result = eval(text, arguments.vocabulary())
    except Exception as error:  # whatever the library raises is the outcome
        return type(error).__name__
    return [str(x.dtype).removeprefix("torch.") for x in _tensors(result, library)]


def _tensors(value: Any, library: Any) -> Iterator[Any]:
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _tensors(item, library)
    elif isinstance(value, library.Tensor):
        yield value
