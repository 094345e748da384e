"""Compare a compiled program with the plain one: results, everything reachable from them, printed text, exceptions.

>>> def program(scale, history):
...     history.append(scale)
...     return scale * 2
>>> behaviour(program, (3, [1]))
Behaviour(value=(('int', '6'), ('tuple', 0, (('int', '3'), ('list', 1, (('int', '1'), ('int', '3'))))), ()), printed='')

`canonical_form` (of `canonical_form.py`) turns a value into nested tuples, with a number for each object, so that equal
forms mean equal values with the same sharing between them.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from minitorch_compile.dynamo.testing.canonical_form import Canonicalizer
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.tensor_base import TensorBase


@dataclass(frozen=True)
class Behaviour:
    """What a call did: the canonical form of (result, arguments, more state), and what was printed."""

    value: tuple[Any, ...]
    printed: str


def behaviour(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, state: Iterable[Any] = ()
) -> Behaviour:
    """Calls the function and looks at everything. `state`: what else the program can reach (globals, objects)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            result = function(*args, **(kwargs or {}))
        except Exception as error:  # noqa: BLE001  exceptions are behaviour, too
            text = "" if isinstance(error, RecursionError) else str(error).partition("\n")[0]
            result = (type(error).__name__, text)
    forms = Canonicalizer()
    compared = (
        forms.form_of(result),
        forms.form_of((*args, *(kwargs or {}).values())),
        tuple(forms.form_of(item) for item in state),
    )
    return Behaviour(compared, printed.getvalue())


def same(found: Any, expected: Any, tol: float = 1e-4, equal_nan: bool = False) -> bool:
    """Whether two nestings of lists, tuples, dicts hold the same, tensors up to `tol`, as `torch._dynamo.testing.same`.

    >>> from minitorch_compile.tensor import ones
    >>> same([ones(2)], [ones(2) + 1e-7]), same([ones(2)], [ones(3)])
    (True, False)
    """
    if isinstance(expected, TensorBase):
        shapes = isinstance(found, TensorBase) and found.sizes == expected.sizes and found.dtype is expected.dtype
        return shapes and bool(ops.allclose(found, expected, tol, tol, equal_nan))
    if isinstance(expected, np.ndarray):
        alike = isinstance(found, np.ndarray) and found.shape == expected.shape and found.dtype == expected.dtype
        return alike and bool(np.allclose(found, expected, tol, tol, equal_nan))
    if isinstance(expected, (list, tuple)):  # a namedtuple's class may be made anew by each call
        kind = list if isinstance(expected, list) else tuple
        pairs = zip(found, expected) if isinstance(found, kind) else ()
        return isinstance(found, kind) and len(found) == len(expected) and all(same(*p, tol) for p in pairs)
    if isinstance(expected, dict):
        return set(found) == set(expected) and all(same(found[key], expected[key], tol) for key in expected)
    return bool(found == expected)
