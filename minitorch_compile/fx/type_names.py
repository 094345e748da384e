"""Annotations as text.

>>> from minitorch_compile.tensor import Tensor
>>> [type_name(each) for each in (int, Tensor, list[int], "Any thing")]
['int', 'torch.Tensor', 'list[int]', 'Any thing']
"""

from __future__ import annotations

import sys
import types
import typing
from typing import Any

from minitorch_compile.fx.targets import PACKAGE, torch_name


def type_name(annotation: Any) -> str:
    """The name of a class, or an annotation as it is written."""
    written: Any = annotation
    if isinstance(annotation, str):
        return annotation
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        if annotation.__module__ == "builtins":
            return annotation.__qualname__
        if getattr(sys.modules[PACKAGE], written.__name__, None) is annotation:
            return f"torch.{written.__name__}"
        return f"{torch_name(annotation.__module__)}.{annotation.__qualname__}"
    if annotation is ...:
        return "..."
    if isinstance(annotation, types.FunctionType):
        return annotation.__name__
    if typing.get_origin(annotation) is not None:
        parts = ", ".join(map(type_name, typing.get_args(annotation)))
        alias = getattr(annotation, "_name", None)
        outer = f"typing.{alias}" if alias else type_name(typing.get_origin(annotation))
        return f"{outer}[{parts}]" if parts else outer
    return repr(annotation)
