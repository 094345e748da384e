"""Iterators that the program was handed: over a tuple, a list or a range, partly used or not.

What they go over and how far they have come is read once, and guarded. The items that the program takes are taken from
the real iterator, too, after the graph has run.

>>> from minitorch_compile.dynamo.testing import generated
>>> from minitorch_compile.tensor import ones
>>> print(generated(lambda x, items: x * next(items) + next(items), ones(2), iter((2.0, 3.0, 4.0))))
(out_0,) = graph(x)
advanced(items, 2)
return out_0
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import ChainedSource, Source
from minitorch_compile.dynamo.variables.base import Value
from minitorch_compile.dynamo.variables.containers.iterators import IteratorVariable, advanced
from minitorch_compile.dynamo.variables.containers.sequences import SequenceVariable
from minitorch_compile.dynamo.variables.rebuilding import Held, Template, call
from minitorch_compile.dynamo.variables.side_effects import Effect

if TYPE_CHECKING:
    from minitorch_compile.dynamo.variables.tracer import Output, Tracer

OVER_SEQUENCES: tuple[type, ...] = (type(iter(())), type(iter([])))
OVER_RANGES: tuple[type, ...] = (type(iter(range(0))),)


def iterated(iterator: Iterator[Any]) -> Any:
    """The tuple or list that it goes over, or the rest of the range; empty once it has come to the end.

    >>> items = iter([1, 2]), iter(range(3)), iter("")
    >>> _ = next(items[0]), next(items[1])
    >>> iterated(items[0]), iterated(items[1])
    ([1, 2], range(1, 3))
    """
    (sequence,) = _reduced(iterator)[1]
    return sequence[position(iterator) :] if type(sequence) is range else sequence


def position(iterator: Iterator[Any]) -> int:
    """How many items of `iterated` it has given, or of the range from where it is said to begin."""
    state = _reduced(iterator)[2:]
    return (state[0] or 0) if state else 0


def _reduced(iterator: Iterator[Any]) -> tuple[Any, ...]:
    """How it is copied: a function, its arguments, and perhaps a position."""
    state = iterator.__reduce__()
    assert isinstance(state, tuple)
    return state


@dataclass(frozen=True)
class IteratedSource(ChainedSource):
    """iterated(origin)"""

    function: str

    def read(self, base: str) -> str:
        return f"{self.function}({base})"


@dataclass
class Advance(Effect):
    """The real iterator gives so many items."""

    count: int = 1

    def statement(self) -> Template:
        return call(Held(advanced, "advanced"), self.target, repr(self.count))


class OutsideIterator(IteratorVariable):
    """Sees what is appended to a list meanwhile, and stays at its end once it has been there, as the real one."""

    def __init__(self, output: Output, real: Iterator[Any], source: Source) -> None:
        super().__init__()
        self.source = source
        self.real = real
        self.cls = type(real)
        over = IteratedSource(source, output.names.install(iterated, "iterated"))
        output.guards.must_read(over)
        self.sequence = output.wrap(iterated(real), over).realize()
        self.position = 0
        if self.cls in OVER_SEQUENCES:
            self.position = position(real)
            asked = output.names.install(position, "position")
            output.guards.add(
                Guard(source, "ITERATOR_POSITION", f"{asked}({{0}}) == {self.position}", str(self.position))
            )
        self.has_ended = False

    def real_value(self) -> Any:
        return self.real

    def next_value(self, tracer: Tracer) -> Value | None:
        if self.has_ended:
            return None
        self._note_advance(tracer)
        known = self.sequence
        items = known.items if isinstance(known, SequenceVariable) else known.as_constant()
        if self.position >= len(items):
            self.has_ended = True
            return None
        self.position += 1
        item = items[self.position - 1]
        return item if isinstance(item, Value) else tracer.output.from_python(item)

    def _note_advance(self, tracer: Tracer) -> None:
        """One more item is taken, after all that was changed before; several in a row are one statement."""
        effects = tracer.side_effects.effects
        last = effects[-1] if effects else None
        if isinstance(last, Advance) and last.target is self:
            last.count += 1
        else:
            tracer.side_effects.note(Advance(self))
