"""What an error says when an argument was of a wrong type: TypeError, with the argument's name, as PyTorch says it; in
a few functions AttributeError.

Ops don't check types before they compute. Where one fails, with whatever error, its arguments are looked at then.

>>> from minitorch_compile.tensor import ops
>>> ops.softmax("1.0", 0)
Traceback (most recent call last):
TypeError: softmax(): argument 'input' (position 1) must be Tensor, not str
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch_compile.tensor.dispatch.overrides import MISSING, recovered
from minitorch_compile.tensor.numerics.dtype import dtype
from minitorch_compile.tensor.tensor_base import TensorBase

if TYPE_CHECKING:
    from minitorch_compile.tensor.dispatch.op import Op

# As what a wrong type shows itself.
MISTAKEN = (AttributeError, IndexError, KeyError, ValueError, RuntimeError, ArithmeticError, TypeError)
ANYTHING = {"Any", "Callable", "object"}
TENSORS = {"Array", "Tensor", "ndarray", "TensorBase"}
NUMBERS = {"float", "Scalar", "complex"}
WHOLE = {"int", "Ints", "Axes", "Int"}
NO_ARGUMENTS = (object, slice, type, FunctionType)
DTYPES = {"dtype", "DType"}  # some files have `dtype` for a parameter
SEQUENCES = {"Ints", "Axes", "Sequence", "tuple", "list", "Size"}
# What PyTorch writes in Python asks these for an attribute, whatever they are. So there it is an AttributeError.
ASKED_FIRST: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("F.softsign", "F.tanhshrink", "F.glu", "F.softmax", "F.log_softmax", "F.normalize"), ("input",)),
    **dict.fromkeys(("F.dropout1d", "F.dropout2d", "F.dropout3d", "F.gaussian_nll_loss"), ("input",)),
    **dict.fromkeys(("F.group_norm", "F.batch_norm", "F.instance_norm", "F.local_response_norm"), ("input",)),
    **dict.fromkeys(("adaptive_avg_pool2d", "adaptive_avg_pool3d", "F.adaptive_max_pool2d"), ("input",)),
    **dict.fromkeys(("F.adaptive_max_pool3d", "F.max_pool3d_with_indices", "F.lp_pool1d", "F.lp_pool2d"), ("input",)),
    **dict.fromkeys(("F.lp_pool3d", "F.interpolate", "F.upsample", "F.upsample_nearest"), ("input",)),
    **dict.fromkeys(("F.upsample_bilinear", "norm", "stft"), ("input",)),
    **dict.fromkeys(("F.mse_loss", "F.l1_loss", "F.smooth_l1_loss", "F.huber_loss"), ("input", "target")),
    **dict.fromkeys(("F.binary_cross_entropy", "F.binary_cross_entropy_with_logits"), ("input", "target")),
    "F.margin_ranking_loss": ("input1", "input2", "target"),
    "F.triplet_margin_with_distance_loss": ("anchor", "positive", "negative"),
    "F.embedding_bag": ("input", "weight", "offsets"),
    "F.multi_head_attention_forward": ("query", "key", "value", "in_proj_weight", "in_proj_bias"),
    "F.affine_grid": ("theta",),
    "tensordot": ("a", "b"),
    "unravel_index": ("indices",),
}


def answered(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception) -> Any:
    """What a call gives that failed: the answer of an argument that overrides it (`overrides.py`), or an error.

    The error isn't kept here, where its traceback leads: that would be a circle, which keeps alive what all the frames
    on the way have, and after an error for want of memory that has to go at once.
    """
    try:
        result = recovered(op, args, kwargs)
        if result is MISSING:
            check_types(op, args, kwargs, error)
            raise error
        return result
    finally:
        del error


def check_types(op: Op, args: Sequence[Any], kwargs: Mapping[str, Any], error: Exception) -> None:
    """TypeError, in place of `error`, for the first argument that can't be what the op's annotations say."""
    if isinstance(error, TypeError) and op.name not in ASKED_FIRST:  # somebody has said already what is wrong
        return
    if "prims" in op.namespaces:  # which check their arguments themselves
        return
    if isinstance(error, IndexError) and not args and not kwargs:
        raise TypeError(f"{op.name}() missing the arguments {', '.join(op.parameters)}") from error
    try:
        given = op.own_signature.bind_partial(*args, **kwargs).arguments
    except TypeError:  # names that a wrapper of the op knows
        return
    asked_first = ASKED_FIRST.get(op.name, ()) if len(given) >= op.required else ()
    takes_numbers = not isinstance(error, AttributeError)  # where tensors are; it may be that a number has no sizes
    for name, value in given.items():
        position = op.parameters.index(name)
        parameter, annotation = op.own_signature.parameters[name], op.annotations[position]
        if parameter.kind is parameter.VAR_KEYWORD or value is parameter.default or name == "reduction":
            continue
        several = parameter.kind is parameter.VAR_POSITIONAL
        if several and len(value) == 1 and isinstance(value[0], (list, tuple)):  # of tensors, or of sizes
            value = value[0]
        for item in value if several else (value,):
            if not _can_be(item, annotation, position > 0 and takes_numbers):
                kind = AttributeError if name in asked_first else TypeError
                raise kind(
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
    if isinstance(value, complex):
        return bool(words & NUMBERS)
    if isinstance(value, dtype):
        return bool(words & DTYPES)
    return type(value).__name__ in words or type(value) not in NO_ARGUMENTS


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
