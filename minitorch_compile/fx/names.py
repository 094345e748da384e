"""Readable names that are unique and legal in Python.

>>> names = Namespace()
>>> [names.create_name(wish) for wish in ("add", "add", "layers.0.weight", "sum", "lambda", "2x")]
['add', 'add_1', 'layers_0_weight', 'sum_1', 'lambda_1', '_2x']

`sum` and `lambda` get a number at once: a variable of that name would hide the builtin, or not be Python.
"""

from __future__ import annotations

import builtins
import keyword
import re

_NOT_IN_A_NAME = re.compile(r"\W+", re.ASCII)
_HUMP = re.compile(r"(?<=[a-z])([A-Z])")
_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"self"}
# Names that generated code has uses for, as PyTorch writes it.
_USED_IN_CODE = _RESERVED | {"inf", "nan", "NoneType", "torch", "device", "fx_pytree", "pytree"}


class Namespace:
    """The names given so far, and the next number to try for each stem. `for_globals`: names that code has uses for
    may be given, to these very things."""

    def __init__(self, for_globals: bool = False) -> None:
        self._reserved = _RESERVED if for_globals else _USED_IN_CODE
        self._used: set[str] = set()
        self._next_number: dict[str, int] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._used

    def create_name(self, wish: str) -> str:
        """`wish` made into an identifier, with the smallest free number behind it if the plain name is taken."""
        name = identifier(wish)
        if name in self._used or name in self._reserved:
            name = self._numbered(name)
        self._used.add(name)
        return name

    def _numbered(self, name: str) -> str:
        """add -> add_1, and add_1 -> add_2 rather than add_1_1."""
        stem, _, number_so_far = name.rpartition("_")
        if not stem or not number_so_far.isdecimal():
            stem = name
        number = self._next_number.get(stem, 1)
        while f"{stem}_{number}" in self._used:
            number += 1
        self._next_number[stem] = number + 1
        return f"{stem}_{number}"


def identifier(text: str) -> str:
    """The nearest Python identifier: `layers.0.weight` -> `layers_0_weight`."""
    if text.isascii() and text.isidentifier() and not text.endswith("_"):  # most are, and copies of graphs ask for many
        return text
    name = _NOT_IN_A_NAME.sub("_", text)
    if len(name) > 1 and not text.endswith("_"):
        name = name.rstrip("_") or "_"
    return f"_{name}" if not name or name[0].isdigit() else name


def is_dotted_name(text: str) -> bool:
    """Whether `text` could be written in Python as a name with attributes: `ops.add`, `x`."""
    return all(part.isidentifier() and not keyword.iskeyword(part) for part in text.split("."))


def snake_case(text: str) -> str:
    """PyTorch's wish for a node's name: `MaxPool` -> `max_pool`, `__call__` -> `call`.

    >>> [snake_case(text) for text in ("TensorPair", "A", "layers.0.ReLU", "__call__")]
    ['tensor_pair', 'a', 'layers.0.re_lu', 'call']
    """
    if text.startswith("__") and text.endswith("__"):
        text = text[2:-2]
    return _HUMP.sub(r"_\1", text).lower()
