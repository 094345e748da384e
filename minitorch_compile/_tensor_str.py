"""torch._tensor_str: the pieces of a tensor's text, by the private names by which tensor subclasses join theirs.

>>> from minitorch_compile import arange
>>> print(_add_suffixes("Index(" + _tensor_str(arange(4).view(2, 2), 6), ["dim_size=9"], 6, force_newline=True))
Index([[0, 1],
       [2, 3]],
      dim_size=9)
"""

from __future__ import annotations

from collections.abc import Iterable

from minitorch_compile.tensor import Tensor
from minitorch_compile.tensor.tensor_class.printing import (
    elements_text,
    printoptions,
    set_printoptions,
    to_text,
    with_facts,
)
from minitorch_compile.tensor.tensor_class.printing import get_printoptions as get_printoptions
from minitorch_compile.tensor.tensor_class.printing import options as PRINT_OPTS


def _tensor_str(self: Tensor, indent: int) -> str:
    """The elements in brackets, all lines but the first indented."""
    return elements_text(self, indent)


def _add_suffixes(tensor_str: str, suffixes: Iterable[str], indent: int, force_newline: bool) -> str:
    """The text of the elements, what it doesn't show, and the closing parenthesis."""
    return with_facts(tensor_str, suffixes, indent, on_new_line=force_newline)


def _str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """What `repr` shows, the elements as `tensor_contents`."""
    return to_text(inp, tensor_contents)


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """What `repr` shows, the elements as `tensor_contents`."""
    return to_text(self, tensor_contents)


__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]
