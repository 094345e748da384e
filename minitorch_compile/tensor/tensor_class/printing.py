"""The text of a tensor, laid out as PyTorch lays it out.

>>> from minitorch_compile.tensor import tensor, arange
>>> tensor([[1.0, -2.5], [3.0, 10000.0]])
tensor([[ 1.0000e+00, -2.5000e+00],
        [ 3.0000e+00,  1.0000e+04]])
>>> arange(2000)
tensor([   0,    1,    2,  ..., 1997, 1998, 1999])

Source: PyTorch's _tensor_str.py, for the choice of notation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from minitorch_compile.tensor.memory.strides import numel
from minitorch_compile.tensor.numerics.dtype import bool_, get_default_dtype, int64
from minitorch_compile.tensor.numerics.rounding import widened

if TYPE_CHECKING:
    from minitorch_compile.tensor.tensor_base import TensorBase


@dataclass
class PrintOptions:
    """How tensors are printed. `sci_mode` None: scientific notation where the numbers call for it."""

    precision: int = 4
    threshold: float = 1000  # tensors of more elements are summarised
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}
options = PrintOptions()
SHOWN_AS_TENSORS: set[type] = set()  # the library's own subclasses, which don't print their names


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Changes how tensors are printed; what is None stays. `profile` is one of "default", "short" and "full".

    ValueError for an unknown profile.
    """
    if profile is not None:
        if profile not in PROFILES:
            raise ValueError(f"set_printoptions: profile must be one of {', '.join(PROFILES)}, got {profile!r}")
        chosen = asdict(PROFILES[profile])
        del chosen["sci_mode"]
        vars(options).update(chosen)
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    vars(options).update({name: value for name, value in given.items() if value is not None}, sci_mode=sci_mode)


def get_printoptions() -> dict[str, object]:
    """How tensors are printed."""
    return asdict(options)


@contextmanager
def printoptions(**changes: Any) -> Iterator[None]:
    """set_printoptions() for the inside of a `with`."""
    before = asdict(options)
    set_printoptions(**changes)
    try:
        yield
    finally:
        vars(options).update(before)


def to_text(x: TensorBase, elements: str | None = None) -> str:
    """What `repr(x)` shows, its elements as they are or as another text."""
    is_plain = type(x) is type(x).concrete or type(x) in SHOWN_AS_TENSORS
    if getattr(x, "_is_param", False) and not is_plain:
        return f"Parameter({_text(x, type(x).__name__ + '(', elements)})"
    return _text(x, "tensor(" if is_plain else f"{type(x).__name__}(", elements)


def _text(x: TensorBase, prefix: str, elements: str | None) -> str:
    if x.device.type == "meta":
        facts = ["device='meta'", f"size={tuple(x.sizes)}", *_dtype_fact(x), *autograd_fact(x)]
        return with_facts("tensor(...", facts, len(prefix))
    if x.is_fake:
        facts = [f"sizes={list(x.sizes)}", f"strides={list(x.strides)}", f"dtype={x.dtype}", *_device_fact(x)]
        facts += autograd_fact(x)
        return f"FakeTensor({', '.join(facts)})"
    body = elements_text(x, len(prefix)) if elements is None else elements
    size = [f"size={tuple(x.sizes)}"] if not numel(x.sizes) and len(x.sizes) != 1 else []
    return with_facts(prefix + body, [*_device_fact(x), *size, *_dtype_fact(x), *autograd_fact(x)], len(prefix))


def elements_text(x: TensorBase, indent: int) -> str:
    """The elements in brackets; all lines but the first begin with `indent` spaces."""
    if not numel(x.sizes):
        return "[]"
    array = x.array  # of bfloat16 and complex32 NumPy can't judge the numbers
    array = widened(array) if x.dtype.name in ("bfloat16", "complex32") else array
    return _nested(array, _formatter(array), indent)


def with_facts(text: str, facts: Iterable[str], indent: int, *, on_new_line: bool = False) -> str:
    """The text, what it doesn't show, and the closing parenthesis. A fact that its line has no room for begins a new
    line, as in PyTorch, which counts two characters too many.

    >>> print(with_facts("tensor([0.1000, 0.2000]", ["dtype=torch.float64", "size=(2,)", "grad_fn=<MulBackward0>"], 7))
    tensor([0.1000, 0.2000], dtype=torch.float64, size=(2,),
           grad_fn=<MulBackward0>)
    """
    length = len(text) - text.rfind("\n") + 1
    for fact in facts:
        if on_new_line or length + len(fact) + 2 > options.linewidth:
            text += ",\n" + " " * indent + fact
            length = indent + len(fact)
        else:
            text += ", " + fact
            length += len(fact) + 2
        on_new_line = False
    return text + ")"


def _device_fact(x: TensorBase) -> list[str]:
    """The device, unless it is main memory."""
    return [] if x.device.type == "cpu" else [f"device='{x.device}'"]


def _dtype_fact(x: TensorBase) -> list[str]:
    """The dtype, unless the elements tell it."""
    default = get_default_dtype()
    visible = numel(x.sizes) and x.device.type != "meta"
    implied = (default, default.to_complex(), int64, bool_) if visible else (default,)
    return [] if x.dtype in implied else [f"dtype={x.dtype}"]


def autograd_fact(x: TensorBase) -> list[str]:
    """Which operation made it, or that it requires grad."""
    if x.grad_fn is not None:
        return [f"grad_fn=<{x.grad_fn.name()}>"]
    return ["requires_grad=True"] if x.requires_grad else []


def _summarised(array: np.ndarray) -> np.ndarray:
    """The elements that will be printed: the edges of a large array."""
    if array.size <= options.threshold:
        return array
    for axis, n in enumerate(array.shape):
        if n > 2 * options.edgeitems:
            array = np.take(array, [*range(options.edgeitems), *range(n - options.edgeitems, n)], axis)
    return array


class _Format(NamedTuple):
    """The text of an element. `width` is that of the elements that were measured: lines are filled by it."""

    text: Callable[[object], str]
    width: int


def _formatter(array: np.ndarray) -> _Format:
    """One text for each element, all of one width; what is 0 or not finite isn't measured, as in PyTorch."""
    if array.dtype.kind == "c":
        return _complex_format(_summarised(array))
    shown = _summarised(array).reshape(-1)
    one = (
        str
        if array.dtype.kind in "iu"
        else (lambda v: "True" if v else "False")
        if array.dtype.kind == "b"
        else _float_format(shown)
    )
    measured = shown[np.isfinite(shown) & (shown != 0)] if array.dtype.kind == "f" else shown
    width = max((len(one(v)) for v in measured), default=1)
    return _Format(lambda v: one(v).rjust(width), width)


def _complex_format(values: np.ndarray) -> _Format:
    """Each part in the notation that suits all of its kind: ` 1.0000-2.5000j`."""
    real, imaginary = _formatter(values.real), _formatter(values.imag)

    def one(value: object) -> str:
        assert isinstance(value, np.complexfloating)
        below = imaginary.text(value.imag).lstrip()
        return real.text(value.real) + ("" if below.startswith("-") else "+") + below + "j"

    return _Format(one, real.width + imaginary.width + 1)


def _float_format(values: np.ndarray) -> Callable[[object], str]:
    finite = np.abs(values[np.isfinite(values) & (values != 0)].astype(np.float64))
    if not finite.size:
        return lambda v: _float_text(v, "{:.0f}.")
    low, high = float(finite.min()), float(finite.max())
    whole = bool((finite == np.ceil(finite)).all())
    scientific = high / low > 1000.0 or high > 1.0e8 or (low < 1.0e-4 and not whole)
    scientific = scientific if options.sci_mode is None else options.sci_mode
    if whole and not scientific:
        return lambda v: _float_text(v, "{:.0f}.")
    pattern = f"{{:.{options.precision}{'e' if scientific else 'f'}}}"
    return lambda v: _float_text(v, pattern)


def _float_text(value: object, pattern: str) -> str:
    number = float(value)  # type: ignore[arg-type]
    if math.isnan(number) or math.isinf(number):
        return str(number)
    return pattern.format(number)


def _nested(array: np.ndarray, one: _Format, indent: int) -> str:
    if array.ndim == 0:
        return one.text(array[()]).strip()
    summarise = array.size > options.threshold
    return _level(array, one, indent, summarise)


def _level(array: np.ndarray, one: _Format, indent: int, summarise: bool) -> str:
    edge = options.edgeitems
    cut = summarise and len(array) > 2 * edge
    rows = [*array[:edge], ..., *array[-edge:]] if cut else list(array)
    if array.ndim == 1:
        return _vector([" ..." if row is ... else one.text(row) for row in rows], indent, one.width)
    parts = ["..." if row is ... else _level(row, one, indent + 1, summarise) for row in rows]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _vector(items: list[str], indent: int, width: int) -> str:
    per_line = max(1, (options.linewidth - indent) // (width + 2))
    lines = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
