"""opcheck: whether what was registered for a custom op fits together.

>>> from minitorch_compile.library import custom_op
>>> from minitorch_compile.tensor import Tensor, ones
>>> @custom_op("docs::half", mutates_args=())
... def half(x: Tensor) -> Tensor:
...     return x / 2
>>> @half.register_fake
... def _(x):
...     return x.new_empty(x.shape[0] + 1)
>>> opcheck(half, (ones(3),), test_utils="test_faketensor", raise_exception=False)
{'test_faketensor': OpCheckError('... Shapes torch.Size([3]) and torch.Size([4]) are not equal!')}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from minitorch_compile.autograd import grad
from minitorch_compile.compiler.compile import compile as compiled
from minitorch_compile.library.custom_op import CustomOpDef, tensors_in
from minitorch_compile.library.fragment import find_op
from minitorch_compile.tensor import ops
from minitorch_compile.tensor.modes.fake_tensor_mode import FakeTensorMode
from minitorch_compile.tensor.tensor_base import TensorBase
from minitorch_compile.testing import assert_close

ALL_CHECKS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic")

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


class OpCheckError(Exception):
    """A check failed."""


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = ALL_CHECKS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Checks an op on these arguments: {name of the check: "SUCCESS", or the error}.

    test_utils: which checks. "test_schema": it writes to what the schema says, and its results
        have memory of their own. "test_autograd_registration": results require grad if there is a formula.
        "test_faketensor": fake results look like the real ones. "test_aot_dispatch_dynamic": compiled, with sizes that
        are not known, it gives the same results and gradients.
    OpCheckError for the first that fails, unless raise_exception is False.
    """
    checked, keywords = find_op(op), kwargs or {}
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    results: dict[str, Any] = {}
    for name in names:
        if name not in CHECKS:
            raise AssertionError(f"opcheck: test_utils must be among {', '.join(CHECKS)}, but got {name!r}")
        try:
            CHECKS[name](checked, args, keywords, {"rtol": rtol, "atol": atol})
            results[name] = "SUCCESS"
        except Exception as error:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {error} (scroll up for stack trace)"
                ) from error
            results[name] = error
    return results


def _copies(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """The arguments anew; leaves that require grad again."""

    def anew(value: Any) -> Any:
        if isinstance(value, TensorBase):
            return ops.clone(ops.detach(value)).requires_grad_(value.requires_grad)
        return type(value)(map(anew, value)) if isinstance(value, (list, tuple)) else value

    return tuple(map(anew, args)), {name: anew(value) for name, value in kwargs.items()}


def _schema(op: CustomOpDef, args: Any, kwargs: Any, tolerances: Any) -> None:
    """What the schema doesn't say to be written to is as before."""
    given, named = _copies(args, kwargs)
    before, before_named = _copies(args, kwargs)
    op(*given, **named)
    pairs = zip(op.schema.arguments, op.bind(before, before_named), op.bind(given, named), strict=True)
    for argument, old, new in pairs:
        for x, y in zip(tensors_in(old), tensors_in(new), strict=True):
            if not argument.is_write and not bool(((x == y) | (x != x)).all()):
                raise OpCheckError(
                    f"Argument {argument.name} is not defined as mutable but was mutated: name it in mutates_args"
                )


def _autograd(op: CustomOpDef, args: Any, kwargs: Any, tolerances: Any) -> None:
    """Results of what requires grad do, too."""
    given, named = _copies(args, kwargs)
    if op.schema.writes or not any(x.requires_grad for x in tensors_in(op.bind(given, named))):
        return
    result = op(*given, **named)
    if not any(x.requires_grad for x in tensors_in(result) if x.dtype.is_floating_point):
        raise OpCheckError("no output requires grad although an input does")


def _faketensor(op: CustomOpDef, args: Any, kwargs: Any, tolerances: Any) -> None:
    """Fake results have the sizes, dtypes and strides of the real ones."""
    given, named = _copies(args, kwargs)
    real = list(tensors_in(op(*given, **named)))
    given, named = _copies(args, kwargs)
    with FakeTensorMode() as mode:
        bound = op.bind(given, named)
        fakes = [_fake(mode, value) for value in bound]
        found = list(tensors_in(op(*fakes)))
    intro = (
        f"When comparing the output of {op.name}.default on FakeTensor and concrete Tensors, found mismatched tensor"
        " metadata:"
    )
    if len(real) != len(found):
        raise OpCheckError(f"{intro} {len(real)} and {len(found)} tensors")
    for x, y in zip(real, found, strict=True):
        for what, a, b in (
            ("Shapes", x.shape, y.shape),
            ("Dtypes", x.dtype, y.dtype),
            ("Strides", x.stride(), y.stride()),
        ):
            if a != b:
                raise OpCheckError(f"{intro} {what} {a} and {b} are not equal!")


def _fake(mode: FakeTensorMode, value: Any) -> Any:
    if isinstance(value, TensorBase):
        return mode.from_tensor(value)
    return type(value)(_fake(mode, x) for x in value) if isinstance(value, (list, tuple)) else value


def _aot_dispatch(op: CustomOpDef, args: Any, kwargs: Any, tolerances: Any) -> None:
    """Compiled, it gives what it gives."""
    plain = _with_gradients(op, *_copies(args, kwargs))
    call = compiled(lambda *a, **k: op(*a, **k), backend="aot_eager", fullgraph=True, dynamic=True)
    assert_close(_with_gradients(call, *_copies(args, kwargs)), plain, **tolerances)


def _with_gradients(call: Callable[..., Any], args: Any, kwargs: Any) -> list[Any]:
    """All results, the arguments afterwards, and gradients of the results' sum."""
    results = list(tensors_in(call(*args, **kwargs)))
    inputs = [x for x in tensors_in([*args, *kwargs.values()]) if x.requires_grad]
    wanted = [x.sum() for x in results if x.requires_grad]
    gradients = [g for g in grad(sum(wanted), inputs, allow_unused=True) if g is not None] if wanted and inputs else []
    return [x.detach() for x in (*results, *tensors_in([*args, *kwargs.values()]), *gradients)]


CHECKS: dict[str, Callable[..., None]] = {
    "test_schema": _schema,
    "test_autograd_registration": _autograd,
    "test_faketensor": _faketensor,
    "test_aot_dispatch_dynamic": _aot_dispatch,
}
