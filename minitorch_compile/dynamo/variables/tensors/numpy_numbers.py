"""A float of NumPy's from outside: a schedule that gives `np.float64(0.1)`.

Its value is guarded when the program computes with it, which goes by NumPy's types. Beside a tensor it is a Python
float, so the graph takes one that changed between calls.

>>> import numpy as np
>>> from minitorch_compile.dynamo.eval_frame import optimize
>>> from minitorch_compile.dynamo.testing import CompileCounter
>>> from minitorch_compile.tensor import ones
>>> counter = CompileCounter()
>>> step = optimize(lambda x, lr: x * lr, counter)
>>> [step(ones(1), np.float64(lr)).item() for lr in (4.0, 9.0, 16.0)], counter.frame_count
([4.0, 9.0, 16.0], 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import ChainedSource, Source
from minitorch_compile.dynamo.variables.base import Value, VariableTracker
from minitorch_compile.dynamo.variables.constant import ConstantVariable
from minitorch_compile.dynamo.variables.objects.methods import BuiltinMethodVariable
from minitorch_compile.dynamo.variables.rebuilding import Description, Read, Template
from minitorch_compile.dynamo.variables.tensors.numbers import NumberVariable

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

FLOATS = (np.float16, np.float32, np.float64)


@dataclass(frozen=True)
class PlainNumberSource(ChainedSource):
    """origin.item()"""

    def read(self, base: str) -> str:
        return f"{base}.item()"


def plain(tracked: VariableTracker) -> VariableTracker:
    """A Python float in the place of one of NumPy's, where that is all the same; others as they are."""
    return tracked.plain() or tracked if isinstance(tracked, NumpyNumberVariable) else tracked


class NumpyNumberVariable(ConstantVariable):
    """A number of NumPy's. Asking for its `value` guards it."""

    def __init__(self, output: Output, seen: Any, source: Source) -> None:
        VariableTracker.__init__(self, source)
        self.output = output
        self.seen = seen
        self.pinned = False

    @property
    def value(self) -> Any:
        if not self.pinned:
            assert self.source is not None
            check = f"{{0}}.tobytes() == {self.seen.tobytes()!r}"
            self.output.guards.add(Guard(self.source, "EQUALS_MATCH", check, repr(self.seen)))
            self.output.sizes.policy.pinned([(self.source.name(), float(self.seen))])
            self.pinned = True
        return self.seen

    def __repr__(self) -> str:
        return f"<number {self.seen!r}{'' if self.pinned else ', not pinned'}>"

    def describe(self) -> str:
        return f"the number {self.seen!r}"

    def python_type(self) -> type:
        return type(self.seen)

    def real_value(self) -> Any:
        return self.value

    def plain(self) -> NumberVariable | None:
        """The Python float that it stands for; None if it is no float, or the program is for this value only."""
        if self.pinned or not isinstance(self.seen, FLOATS):
            return None
        assert self.source is not None
        number = float(self.seen)
        changing = self.output.sizes.policy.of_float(number, self.source)
        inputs = [(self.source.name(), number)]
        return NumberVariable(self.output, number, PlainNumberSource(self.source), inputs, changing)

    def getattr(self, tracer: Tracer, name: str) -> Value:
        if name == "item":  # to be called: the value may not be needed
            return BuiltinMethodVariable(self, name)
        return super().getattr(tracer, name)

    def call_method(self, tracer: Tracer, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        number = self.plain() if name == "item" and not args and not kwargs else None
        return number or super().call_method(tracer, name, args, kwargs)

    def reconstruct(self, output: Output) -> Description:
        if self.pinned:
            return super().reconstruct(output)
        assert self.source is not None
        return Template(Read(self.source))
