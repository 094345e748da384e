"""A value from outside that nothing looked into yet.

Arguments and globals enter the trace this way, so that guards are installed only on what the program read: an argument
that is just passed along may be anything at the next call.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda x, other: (x + 1, other), ones(2), object()))
(out_0,) = graph(x)
return (out_0, other)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards import guards
from minitorch_compile.dynamo.guards.source import Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output


class LazyVariable(Value):
    """Becomes a tracker, with guards, when it is first looked into."""

    def __init__(self, output: Output, value: Any, source: Source) -> None:
        self.output = output
        self.value = value
        self.source: Source = source
        self._tracker: VariableTracker | None = None

    def __repr__(self) -> str:
        return f"<lazy {self.source.name()}>" if self._tracker is None else repr(self._tracker)

    def realize(self) -> VariableTracker:
        if self._tracker is None:
            self._tracker = self.output.build(self.value, self.source)
        return self._tracker

    @property
    def is_realized(self) -> bool:
        return self._tracker is not None

    def is_unread_text(self) -> bool:
        """Whether it is a string that nothing looked into; its type is guarded with this answer."""
        if self._tracker is not None or type(self.value) is not str:
            return False
        self.output.guards.add(guards.type_is(self.source, str, self.output.names))
        return True
