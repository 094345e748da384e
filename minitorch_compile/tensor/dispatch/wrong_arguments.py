"""What an error says when an argument was of a wrong type: TypeError, with the argument's name, as PyTorch says it.

Ops don't check types before they compute. Where one fails, with whatever error, its arguments are looked at then.

>>> from minitorch_compile.tensor import ops
>>> ops.softmax("1.0", 0)
Traceback (most recent call last):
TypeError: softmax(): argument 'input' (position 1) must be Tensor, not str
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

# As what a wrong type shows itself, if it isn't a TypeError.
MISTAKEN = (AttributeError, IndexError, KeyError, ValueError, RuntimeError, ArithmeticError)
ANYTHING = {"Any", "Callable", "object"}
TENSORS = {"Array", "Tensor", "ndarray", "TensorBase"}
NUMBERS = {"float", "Scalar", "complex"}
WHOLE = {"int", "Ints", "Axes", "Int"}
SEQUENCES = {"Ints", "Axes", "Sequence", "tuple", "list", "Size"}


def check_types(op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> None:
    """TypeError, in place of `error`, for the first argument that can't be what the op's annotations say."""
    if isinstance(error, IndexError) and not args and not kwargs:
        raise TypeError(f"{op.name}() missing the arguments {', '.join(op.parameters)}") from error
    try:
        given = op.__signature__.bind_partial(*args, **kwargs).arguments
    except TypeError:  # names that a wrapper of the op knows
        return
    takes_numbers = not isinstance(error, AttributeError)  # where tensors are; it may be that a number has no sizes
    for name, value in given.items():
        position = op.parameters.index(name)
        parameter, annotation = op.__signature__.parameters[name], op.annotations[position]
        if parameter.kind is parameter.VAR_KEYWORD or value is parameter.default:
            continue
        several = parameter.kind is parameter.VAR_POSITIONAL
        for item in value if several else (value,):
            if several and isinstance(item, (list, tuple)):  # of tensors, or of sizes
                continue
            if not _can_be(item, annotation, position > 0 and takes_numbers):
                raise TypeError(
                    f"{op.name.rpartition('.')[2]}(): argument '{name}' (position {position + 1}) must be"
                    f" {_in_words(annotation)}, not {type(item).__name__}"
                ) from error


def _can_be(value: Any, annotation: str, for_tensors: bool) -> bool:
    """False for what is surely wrong: plain Python values are looked at, and tensors where there can't be one."""
    words = set(re.findall(r"\w+", annotation))
    if words & ANYTHING or not annotation:
        return True
    if value is None:
        return "None" in words
    if isinstance(value, (dict, set, bytes)):
        return False
    if isinstance(value, str):
        return "str" in words
    if isinstance(value, (list, tuple)):
        return bool(words & SEQUENCES)
    if isinstance(value, TensorBase):
        return bool(words & (TENSORS | NUMBERS | WHOLE))
    if isinstance(value, (bool, int, float)):
        return _number_can_be(value, words, for_tensors)
    return True


def _number_can_be(value: float, words: set[str], for_tensors: bool) -> bool:
    """`for_tensors`: numbers may stand where tensors do."""
    if words & TENSORS:
        return for_tensors or bool(words & (NUMBERS | WHOLE | {"bool"}))
    if isinstance(value, float):
        return bool(words & NUMBERS)
    return bool(words & (NUMBERS | WHOLE | {"bool"}))


def _in_words(annotation: str) -> str:
    for kind, words in (("Tensor", TENSORS), ("float", NUMBERS), ("int", WHOLE)):
        if words & set(re.findall(r"\w+", annotation)):
            return "tuple of ints" if kind == "int" and re.search("Ints|Axes|Sequence|tuple", annotation) else kind
    return annotation.replace(" | None", "")
