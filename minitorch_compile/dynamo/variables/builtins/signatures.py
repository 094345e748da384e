"""inspect.signature(function): asked while tracing, and again by a guard. What is done with it is traced as Python.

>>> import inspect
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def scale(x, by=2, *, shift=0):
...     return x * by + shift
>>> def with_shift(x):
...     bound = inspect.signature(scale).bind(x, shift=1)
...     bound.apply_defaults()
...     return scale(*bound.args, **bound.kwargs)
>>> print(captured(with_shift, ones(2)))
x -> ((x * 2) + 1,)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.variables.base import MISSING, Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.functions.functions import MethodVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer


def has_signature(function: Callable[..., Any], known: inspect.Signature) -> bool:
    """Whether a function takes what it took: names, kinds, the same defaults and annotations.

    >>> has_signature(lambda x, y=1: x, inspect.signature(lambda x, y=1: y))
    True
    """
    now = inspect.signature(function)
    pairs = list(zip(now.parameters.values(), known.parameters.values()))
    return len(now.parameters) == len(known.parameters) == len(pairs) and all(
        (a.name, a.kind) == (b.name, b.kind) and _same(a.default, b.default) and _same(a.annotation, b.annotation)
        for a, b in [*pairs, (_returned(now), _returned(known))]
    )


def _returned(signature: inspect.Signature) -> inspect.Parameter:
    return inspect.Parameter("returned", inspect.Parameter.KEYWORD_ONLY, annotation=signature.return_annotation)


def _same(a: Any, b: Any) -> bool:
    """The same object, or equal numbers or text; a tensor is equal to nothing else."""
    return a is b or (type(a) is type(b) and type(a) in (int, float, str, bool, tuple) and repr(a) == repr(b))


@handles(inspect.signature)
def _signature(tracer: Tracer, obj: Value) -> Value:
    tracked = obj.realize()
    is_bound = isinstance(tracked, MethodVariable)
    function = tracked.function.realize() if isinstance(tracked, MethodVariable) else tracked
    real, source = function.real_value(), function.source
    if real is MISSING or source is None:
        tracked.unsupported("inspect.signature()", "unsupported-call")
    known = tracer.compute(inspect.signature, real)
    names = tracer.output.names
    check = f"{names.install(has_signature, 'has_signature')}({{0}}, {names.install(known, 'signature')})"
    tracer.output.guards.add(guards.Guard(source, "SIGNATURE", check, str(known).replace("{", "{{").replace("}", "}}")))
    shown = tracer.compute(inspect.signature, MethodType(real, tracer)) if is_bound else known
    return tracer.output.wrap_constant(shown, "signature")
