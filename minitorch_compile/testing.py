"""torch.testing: assertions about closeness that say how much differs, and where.

>>> from minitorch_compile import ones, tensor
>>> assert_close(ones(2), tensor([1.0, 1.1]))
Traceback (most recent call last):
AssertionError: Tensor-likes are not close!
<BLANKLINE>
Mismatched elements: 1 / 2 (50.0%)
Greatest absolute difference: 0.10000002384185791 at index (1,) (up to 1e-05 allowed)
Greatest relative difference: 0.09090910851955414 at index (1,) (up to 1.3e-06 allowed)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.tensor import ops
from minitorch_compile.tensor.numerics.dtype import (
    FROM_NUMPY,
    bool_,
    dtype,
    dtype_of_scalar,
)
from minitorch_compile.tensor.numerics.numeric_limits import finfo, iinfo
from minitorch_compile.tensor.numerics.rounding import widened
from minitorch_compile.tensor.tensor_base import TensorBase, wrap

# (rtol, atol) for each dtype; the others compare exactly.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
    "complex32": (1e-3, 1e-5),
    "complex64": (1.3e-6, 1e-5),
    "complex128": (1e-7, 1e-7),
}
NUMBERS = (int, float, complex, bool, np.number, np.bool_)


@dataclass(frozen=True)
class _Rules:
    """How two values are compared."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_dtype: bool
    check_stride: bool
    allow_subclasses: bool

    def tolerances(self, *names: str) -> tuple[float, float]:
        """(rtol, atol): what was given, else the larger of the dtypes'."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        rows = [TOLERANCES.get(name, (0.0, 0.0)) for name in names]
        return max(row[0] for row in rows), max(row[1] for row in rows)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """AssertionError unless |actual - expected| <= atol + rtol |expected| everywhere.

    Takes tensors, arrays, numbers, and sequences and mappings of them. ValueError if only one tolerance is given,
    TypeError for values that can't be compared.
    """
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    rules = _Rules(rtol, atol, equal_nan, check_dtype, check_stride, allow_subclasses)
    problem = _difference(actual, expected, rules, "")
    if problem is not None:
        raise AssertionError(problem if msg is None else msg(problem) if callable(msg) else msg)


def _difference(actual: Any, expected: Any, rules: _Rules, place: str) -> str | None:
    """What is wrong, in words, or None."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        return _mapping_difference(actual, expected, rules, place)
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return _at(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", place)
        pairs = enumerate(zip(actual, expected, strict=True))
        return _first(_difference(a, b, rules, f"{place}[{i}]") for i, (a, b) in pairs)
    if actual is None and expected is None:
        return None
    if isinstance(actual, NUMBERS) and isinstance(expected, NUMBERS):
        return _at(_number_difference(actual, expected, rules), place)
    left, right = _as_tensor(actual), _as_tensor(expected)
    if left is None or right is None or isinstance(actual, NUMBERS) != isinstance(expected, NUMBERS):
        raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")
    return _at(_tensor_difference(left, right, rules), place)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, NUMBERS) or (isinstance(value, np.ndarray) and value.dtype in FROM_NUMPY):
        return wrap(np.asarray(value))
    return None


def _at(problem: str | None, place: str) -> str | None:
    return f"{problem}\n\nThe failure occurred for item {place}" if problem and place else problem


def _first(problems: Any) -> str | None:
    return next((problem for problem in problems if problem is not None), None)


def _mapping_difference(actual: Any, expected: Any, rules: _Rules, place: str) -> str | None:
    missing, added = [k for k in expected if k not in actual], [k for k in actual if k not in expected]
    if missing or added:
        return _at(
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(missing, key=repr)}\n"
            f"Additional keys in the actual mapping: {sorted(added, key=repr)}",
            place,
        )
    return _first(_difference(actual[k], expected[k], rules, f"{place}[{k!r}]") for k in expected)


def _number_difference(actual: Any, expected: Any, rules: _Rules) -> str | None:
    if rules.check_dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    names = [
        _wide(dtype_of_scalar(value).name) if isinstance(value, (int, float)) else "complex128"
        for value in (actual, expected)
    ]
    rtol, atol = rules.tolerances(*names)
    if np.isclose(actual, expected, rtol, atol, rules.equal_nan):
        return None
    exact = rtol == atol == 0
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else float("inf")
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{'' if exact else f' (up to {atol} allowed)'}\n"
        f"Relative difference: {relative}{'' if exact else f' (up to {rtol} allowed)'}"
    )


def _wide(name: str) -> str:
    """Python's floats are compared as float64."""
    return "float64" if name.startswith("float") else name


def _tensor_difference(actual: Any, expected: Any, rules: _Rules) -> str | None:
    for attribute, checked in (("shape", True), ("dtype", rules.check_dtype), ("stride()", rules.check_stride)):
        name = attribute.removesuffix("()")
        left, right = (getattr(x, name)() if "(" in attribute else getattr(x, name) for x in (actual, expected))
        if checked and left != right:
            return f"The values for attribute {attribute!r} do not match: {left} != {right}."
    rtol, atol = rules.tolerances(actual.dtype.name, expected.dtype.name)
    a, b = _computable(actual), _computable(expected)
    close = np.isclose(a, b, rtol, atol, rules.equal_nan)
    return None if close.all() else _report(a, b, close, rtol, atol)


def _computable(x: Any) -> np.ndarray:
    """The values in a dtype that NumPy subtracts without wrapping round."""
    array = x.detach().array
    if array.dtype.kind in "fc":
        return array
    if x.dtype.is_complex:
        return widened(array)
    return array.astype(np.float32 if x.dtype.is_floating_point else np.int64)  # bfloat16, integers and truth values


def _report(a: np.ndarray, b: np.ndarray, close: np.ndarray, rtol: float, atol: float) -> str:
    exact = rtol == atol == 0
    word = "Scalars" if a.ndim == 0 else "Tensor-likes"
    with np.errstate(all="ignore"):
        absolute = np.abs(a - b)
        relative = absolute / np.abs(b)
    lines = [f"{word} are not {'equal' if exact else 'close'}!", ""]
    if a.ndim == 0:
        lines.append(f"Expected {b.item()} but got {a.item()}.")
        lines += [f"Absolute difference: {absolute.item()}{'' if exact else f' (up to {atol} allowed)'}"]
        lines += [f"Relative difference: {relative.item()}{'' if exact else f' (up to {rtol} allowed)'}"]
        return "\n".join(lines)
    wrong = int((~close).sum())
    lines.append(f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})")
    for name, values, allowed in (("absolute", absolute, atol), ("relative", relative, rtol)):
        considered = np.where(close, 0, values)
        index = tuple(int(i) for i in np.unravel_index(int(np.argmax(considered)), a.shape))
        suffix = "" if exact else f" (up to {allowed} allowed)"
        lines.append(f"Greatest {name} difference: {considered[index].item()} at index {index}{suffix}")
    return "\n".join(lines)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The older form of assert_close, which doesn't mind different dtypes."""
    if rtol is None and atol is None:
        rtol, atol = _Rules(None, None, equal_nan, False, False, True).tolerances(
            *(x.dtype.name for x in (_as_tensor(actual), _as_tensor(expected)) if x is not None)
        )
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


# ------------------------------------------------------------------------------------------ tensors to test with


def make_tensor(
    *shape: Any,
    dtype: dtype,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Any:
    """A tensor of numbers drawn from [low, high): of [-9, 9) for floats, of [-9, 10) for integers, [0, 10) for uint8.

    exclude_zero: zeros become the smallest positive number. ValueError for an empty interval, or for both a memory
    format and `noncontiguous`.

    >>> from minitorch_compile import int64
    >>> make_tensor(2, 3, dtype=int64, device="cpu", low=0, high=1)
    tensor([[0, 0, 0],
            [0, 0, 0]])
    """
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
    if noncontiguous and memory_format is not None:
        raise ValueError(
            f"The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got {noncontiguous=} and"
            f" {memory_format=}"
        )
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"`requires_grad=True` is not supported for boolean and integral dtypes, but got {dtype=}")
    doubled = noncontiguous and math.prod(sizes) > 1
    made = _drawn((*sizes[:-1], 2 * sizes[-1]) if doubled else sizes, dtype, low, high)
    if doubled:
        made = made[..., ::2]
    if exclude_zero:
        made[made == 0] = finfo(dtype).tiny if dtype.is_floating_point or dtype.is_complex else 1
    if memory_format is not None:
        made = made.clone(memory_format=memory_format)
    made = made if str(device) == "cpu" else made.to(device)
    return made.requires_grad_() if requires_grad else made


def _drawn(sizes: tuple[int, ...], element: dtype, low: Any, high: Any) -> Any:
    """The numbers, of [low, high) as far as the dtype goes."""
    if element is bool_:
        first, last = _bounds(low, high, 0, 2, 0, 2)
        return ops.randint(first, last, sizes).to(bool_)
    if not (element.is_floating_point or element.is_complex):
        limits = iinfo(element)
        first, last = _bounds(low, high, 0 if limits.min == 0 else -9, 10, limits.min, limits.max)
        return ops.randint(math.ceil(first), math.ceil(last), sizes).to(element)
    widest = finfo(element).max
    first, last = _bounds(low, high, -9, 9, -widest, widest)
    if element.is_complex:
        parts = element.to_real()
        return ops.complex(*(ops.empty(sizes, dtype=parts).uniform_(first, last) for _ in range(2)))
    return ops.empty(sizes, dtype=element).uniform_(first, last)


def _bounds(low: Any, high: Any, first: Any, last: Any, least: Any, most: Any) -> tuple[Any, Any]:
    low, high = first if low is None else low, last if high is None else high
    if low != low or high != high:
        raise ValueError(f"`low` and `high` cannot be NaN, but got {low=} and {high=}")
    low, high = max(low, least), min(high, most)
    if low > high:
        raise ValueError(f"`low` must be less than or equal to `high`, but got {low} > {high}")
    return low, high
