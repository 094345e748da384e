"""Where names live: closure cells and module globals.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> def outer(x):
...     count = 0
...     def step():
...         nonlocal count
...         count += 1
...         return x * count
...     return step(), step
>>> print(generated(outer, ones(2)))
(out_0,) = graph(x)
cell_0 = CellType()
cell_0.cell_contents = 1
cell_1 = CellType()
cell_1.cell_contents = x
tuple_0 = (cell_0, cell_1)
function_0 = FunctionType(code_step, G, 'step', None, tuple_0)
return (out_0, function_0)
"""

from __future__ import annotations

from types import CellType
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.bytecode.instructions import NULL
from minitorch_compile.dynamo.guards import content_guards
from minitorch_compile.dynamo.guards.source import AttrSource, Source
from minitorch_compile.dynamo.variables.base import MISSING, Value, VariableTracker
from minitorch_compile.dynamo.variables.rebuilding import IT, Held, Made, Template, call

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer


class CellVariable(VariableTracker):
    """A cell: the variable that a function shares with the functions inside it. `content` is NULL while it is empty."""

    def __init__(self, content: Any, source: Source | None = None, real: CellType | None = None) -> None:
        super().__init__(source)
        self.content = content
        self.real = real

    @classmethod
    def existing(cls, output: Output, cell: CellType, source: Source) -> CellVariable:
        """A cell from outside; its content is looked at when it is read."""
        return cls(None, source, cell)

    def python_type(self) -> type:
        return CellType

    def real_value(self) -> Any:
        return MISSING if self.real is None else self.real

    def load(self, tracer: Tracer) -> Any:
        if self.content is None:
            self.content = self._load_real(tracer)
        return self.content

    def _load_real(self, tracer: Tracer) -> Any:
        assert self.real is not None and self.source is not None
        try:
            value = self.real.cell_contents
        except ValueError:
            tracer.output.guards.add(content_guards.cell_empty(self.source, tracer.output.names))
            return NULL
        source = AttrSource(self.source, "cell_contents")
        tracer.output.guards.must_read(source)
        return tracer.output.wrap(value, source)

    def store(self, tracer: Tracer, content: Any) -> None:
        self.content = content
        tracer.side_effects.store_cell(self, content)

    def reconstruct(self, output: Output) -> Made:
        """The cell first, then its content, which may be a function that closes over it."""
        content = [] if self.content is NULL else [Template(IT, ".cell_contents = ", self.content)]
        return Made("cell", call(Held(CellType, "CellType")), *content)


class GlobalsVariable(VariableTracker):
    """The globals of a module that the traced program reads from or writes to."""

    def __init__(self, real: dict[str, Any], source: Source) -> None:
        super().__init__(source)
        self.real = real
        self.stored: dict[str, Value] = {}

    def python_type(self) -> type:
        return dict

    def real_value(self) -> Any:
        return self.real
