"""Rules for functions of this package that say how a global switch is set: the answer is guarded.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> compiled = optimize(lambda x: x + int(settings.are_deterministic_algorithms_enabled()), eager)
>>> compiled(ones(2))
tensor([1., 1.])
>>> print(*(g for g in region_of(compiled).caches[0].entries[0].guards if g.kind == "DETERMINISTIC_ALGORITHMS"))
DETERMINISTIC_ALGORITHMS global_settings.deterministic is False
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.tensor.functions import settings

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Tracer

READERS: dict[Callable[[], Any], tuple[str, str]] = {
    settings.are_deterministic_algorithms_enabled: ("deterministic", "DETERMINISTIC_ALGORITHMS"),
    settings.is_deterministic_algorithms_warn_only_enabled: ("warn_only", "DETERMINISTIC_ALGORITHMS"),
    settings.get_float32_matmul_precision: ("matmul_precision", "MATMUL_PRECISION"),
}


def _reads_a_setting(name: str, kind: str) -> Callable[[Tracer], Value]:
    def rule(tracer: Tracer) -> Value:
        value = getattr(settings.settings, name)
        source = AttrSource(tracer.output.constant_source(settings.settings, "global_settings"), name)
        tracer.output.guards.add(guards.identity(source, value, tracer.output.names, name, kind))
        return ConstantVariable(value)

    return rule


for _function, (_name, _kind) in READERS.items():
    handles(_function)(_reads_a_setting(_name, _kind))
