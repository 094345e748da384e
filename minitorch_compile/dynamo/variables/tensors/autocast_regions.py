"""Autocast in a captured graph: a node where a region begins and one where it ends, as in PyTorch.

>>> from minitorch_compile.amp import autocast
>>> from minitorch_compile.dynamo.testing import captured
>>> from minitorch_compile.tensor import ones
>>> def f(x):
...     with autocast("cpu"):
...         return x @ x
>>> print(captured(f, ones(2, 2)))                                                      # doctest: +ELLIPSIS
x -> ... = _enter_autocast('cpu', torch.bfloat16, True, True); ... = _exit_autocast(_enter_autocast); (x @ x,)

While tracing it is switched for real, so that the fakes have the dtypes of the tensors. A graph leaves the switch where
it was, whatever it does inside; what a frame leaves switched, because it breaks within a region, the code around the
graph switches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch_compile.amp import autocast_mode
from minitorch_compile.amp.autocast_mode import Before, _enter_autocast, _exit_autocast
from minitorch_compile.amp.autocast_state import setting, state
from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import AttrSource
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.call_rules import handles
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.fx.effects import has_side_effect

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer
    from minitorch_compile.fx import Node

SWITCHES = (_enter_autocast, _exit_autocast)
for _switch in SWITCHES:
    has_side_effect(_switch)


class AutocastRegions:
    """The regions that a frame enters and leaves. `outside`: how autocast stood before, on which the trace depends.
    `open`: what the frame has done and not undone, in order."""

    @classmethod
    def of(cls, output: Output) -> AutocastRegions:
        """Those of a trace; there are none before the program asks."""
        output.autocast = output.autocast or cls(output)
        return output.autocast

    def __init__(self, output: Output) -> None:
        self.output = output
        self.outside = setting()
        self.open: list[tuple[Callable[..., Any], tuple[Any, ...], Node]] = []
        source = output.constant_source(state, "autocast_state")
        stands: dict[AttrSource, Any] = {AttrSource(source, "cache_enabled"): self.outside.cache_enabled}
        for device_type, enabled, element in self.outside.switches:
            switch = AttrSource(source, device_type)
            stands |= {AttrSource(switch, "enabled"): enabled, AttrSource(switch, "dtype"): element}
        for switch, value in stands.items():
            output.guards.add(guards.identity(switch, value, output.names, "setting of autocast", "AUTOCAST"))

    def enter(self, *region: Any) -> Before:
        """A region begins: in the graph when it runs, and for the fakes now."""
        node = self._node(_enter_autocast, region)
        node.meta["val"] = before = _enter_autocast(*region)
        self.open.append((_enter_autocast, region, node))
        return before

    def exit(self, before: Before) -> None:
        """A region ends: one of this frame, or one that the frame was called in."""
        _exit_autocast(before)
        if self.open and self.open[-1][0] is _enter_autocast:
            self._node(_exit_autocast, (self.open.pop()[2],))
        else:
            self.open.append((_exit_autocast, (before,), self._node(_exit_autocast, (before,))))

    def _node(self, switch: Callable[..., Any], args: tuple[Any, ...]) -> Node:
        node = self.output.graph.call_function(switch, args)
        node.meta.update(val=None, stack=self.output.tracer.user_line())
        return node


@handles(_enter_autocast)
def _enter(tracer: Tracer, *region: Value) -> Value:
    return tracer.output.from_python(AutocastRegions.of(tracer.output).enter(*map(tracer.constant, region)))


@handles(_exit_autocast)
def _exit(tracer: Tracer, before: Value) -> Value:
    AutocastRegions.of(tracer.output).exit(tuple(map(tracer.constant, tracer.unpack_all(before))))
    return ConstantVariable(None)


def _asked_while_tracing(question: Callable[..., Any]) -> Callable[..., Value]:
    def rule(tracer: Tracer, *args: Value, **kwargs: Value) -> Value:
        AutocastRegions.of(tracer.output)
        named = {name: tracer.constant(arg) for name, arg in kwargs.items()}
        return tracer.output.from_python(tracer.compute(question, *map(tracer.constant, args), **named))

    return rule


for _question in (
    autocast_mode.is_autocast_enabled,
    autocast_mode.is_autocast_cpu_enabled,
    autocast_mode.is_autocast_cache_enabled,
    autocast_mode.get_autocast_dtype,
    autocast_mode.get_autocast_cpu_dtype,
    autocast_mode.get_autocast_gpu_dtype,
):
    handles(_question)(_asked_while_tracing(_question))
