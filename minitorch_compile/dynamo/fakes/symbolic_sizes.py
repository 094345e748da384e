"""The unknown sizes of one traced frame: which inputs have them, where each is read from, and their guards.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.tensor import ones
>>> def halves(x):
...     return x.view(2, -1) * len(x)
>>> compiled = optimize(halves, eager)
>>> for n in (4, 6, 8, 10):
...     _ = compiled(ones(n))
>>> entries = region_of(compiled).caches[0].entries
>>> len(entries), entries[1].graph_module.graph.compact().splitlines()[0]
(2, 'x, s0 -> (x.view(2, -1) * s0,)')
>>> print(*(guard.code for guard in entries[1].guards if guard.kind == "SHAPE_ENV"), sep="\\n")
2 <= x.sizes[0]
x.sizes[0] % 2 == 0
x.sizes[0]//2 != 1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from minitorch_compile import config, logs
from minitorch_compile.dynamo.fakes.dimension_marks import DimensionMark, marks_of
from minitorch_compile.dynamo.fakes.size_history import SizeHistory
from minitorch_compile.dynamo.guards.guards import Guard
from minitorch_compile.dynamo.guards.source import AttrSource, ElementsSource, ItemSource, Source
from minitorch_compile.symbolic import (
    ConstraintViolationError,
    Expression,
    Range,
    ShapeEnv,
    Symbol,
    SymInt,
    simplified,
    symbol,
    text_of,
)
from minitorch_compile.tensor.memory.size import Size
from minitorch_compile.tensor.modes.symbolic_layout import symbolic_strides
from minitorch_compile.tensor.tensor_base import TensorBase

log = logs.artifact("dynamic")
OWN_BY_MODULES = ("_parameters", "_buffers")


@dataclass
class SizePolicy:
    """Which sizes become unknown: all from 2 on (`dynamic` is True), those that changed (None), or none (False)."""

    dynamic: bool | None = False
    history: SizeHistory = field(default_factory=SizeHistory)
    all_known: bool = False  # whatever is marked
    modules: set[Source] = field(default_factory=set)

    def with_known_sizes(self) -> SizePolicy:
        """For a backend that can't compile for unknown sizes."""
        return SizePolicy(False, self.history, all_known=True)

    def of_tensor(self, x: TensorBase, source: Source) -> list[DimensionMark | None]:
        """For each dimension, how it is marked; None if its size is known."""
        marks = {} if self.all_known else marks_of(x)
        if _is_owned_by_module(x, source):
            asked = {dim: mark for dim, mark in marks.items() if mark.kind == "dynamic"}
            return [asked.get(dim) for dim in range(len(x.sizes))]
        changed = self.history.changing(source.name(), x)
        wanted = [self.dynamic is True or (changing and self._is_automatic) for changing in changed]
        found = [marks.get(dim) or (DimensionMark("maybe") if wants else None) for dim, wants in enumerate(wanted)]
        return [None if mark is None or mark.kind == "static" else mark for mark in found]

    def of_number(self, value: int, source: Source) -> bool:
        """Whether a number from outside is unknown."""
        if value in (0, 1) or self.dynamic is False or self._is_within_module(source):
            return False
        return self.dynamic is True or (self._is_automatic and self.history.is_changing_number(source.name(), value))

    def of_float(self, value: float, source: Source) -> bool:
        """Whether a float from outside is unknown: infinity and NaN never are."""
        if self.dynamic is False or config.specialize_float or not math.isfinite(value):
            return False
        if self.dynamic is True and not self._is_within_module(source):
            return True
        wants = self.dynamic is True or self._is_automatic
        return wants and self.history.is_changing_number(source.name(), value)

    @property
    def _is_automatic(self) -> bool:
        return self.dynamic is None and config.automatic_dynamic_shapes

    def _is_within_module(self, source: Source) -> bool:
        """Whether it is read from a module: widths and kernel sizes are settings, and stay."""
        base = source.base
        return base is not None and (base in self.modules or self._is_within_module(base))

    def pinned(self, inputs: Iterable[tuple[str, Any]]) -> None:
        """The compiled function is for these numbers only, read on these paths."""
        for path, value in inputs:
            if type(value) in (int, float):
                self.history.number_changed(path, value)


def _is_owned_by_module(x: TensorBase, source: Source) -> bool:
    """Parameters and buffers keep their sizes."""
    if type(x) is not TensorBase.concrete:
        return True
    base = source.base
    return base is not None and getattr(base, "attribute", None) in OWN_BY_MODULES


class Layout:
    """The sizes and strides of an input, some of them unknown."""

    def __init__(self, sizes: list[Any], strides: tuple[Any, ...]) -> None:
        self.sizes = Size(sizes)
        self.strides = strides

    @property
    def parts(self) -> tuple[Any, ...]:
        """All numbers in it."""
        return (*self.sizes, *self.strides)

    def apply_to(self, fake: TensorBase) -> None:
        """Gives a fake these sizes and strides; those that became constants meanwhile, as numbers."""
        fake.sizes, fake.strides = Size(map(simplified, self.sizes)), tuple(map(simplified, self.strides))


class SymbolicSizes:
    """The `ShapeEnv` of a frame, and what connects it with the inputs. `place` says which line is being traced."""

    def __init__(self, policy: SizePolicy, place: Callable[[], str]) -> None:
        self.policy = policy
        self.env = ShapeEnv(place)
        self.sources: dict[Symbol, Source] = {}
        self._bound: list[tuple[Source, Expression]] = []  # what must be an expression in the symbols
        self._marks: dict[Symbol, DimensionMark] = {}

    # --- inputs -------------------------------------------------------------------------------------------------------

    def layout_of(self, x: TensorBase, source: Source) -> Layout | None:
        """The sizes and strides of an input, None if all are known."""
        marks = self.policy.of_tensor(x, source)
        sizes = [self._size(x, dim, mark, source) for dim, mark in enumerate(marks)]
        if all(type(size) is int for size in sizes):
            return None
        changing = self.policy.history.changing_strides(source.name(), x)
        places = AttrSource(source, "strides")

        def other(dim: int) -> Any:
            value = x.strides[dim]
            if not changing[dim] or value < 2:
                return value
            return self._bind(self.env.duck(value), ItemSource(places, dim))

        strides = symbolic_strides(x.sizes, x.strides, sizes, other)
        for dim, stride in enumerate(strides):
            self._bind(stride, ItemSource(places, dim))
        log(f"{source.name()}: sizes {sizes}, strides {list(strides)}, seen {list(x.sizes)}")
        return Layout(sizes, strides)

    def _size(self, x: TensorBase, dim: int, mark: DimensionMark | None, source: Source) -> Any:
        seen = x.sizes[dim]
        if mark is None:
            return seen
        place = ItemSource(ElementsSource(source, "sizes"), dim)
        if seen < 2:
            if mark.kind == "dynamic":
                raise ConstraintViolationError(
                    f"mark_dynamic: {place.name()} is {seen}, but sizes 0 and 1 are always compiled for themselves."
                    " Call the function first with another size, or use maybe_mark_dynamic"
                )
            return seen
        if mark.kind != "dynamic":
            return self._bind(self.env.duck(seen) if self.policy.dynamic else self.env.create(seen), place)
        limits = Range(2 if mark.min is None else mark.min, math.inf if mark.max is None else mark.max)
        size = self.env.create(seen, limits)
        self._marks[next(iter(size.expression.symbols))] = mark
        return self._bind(size, place)

    def number(self, value: int, source: Source) -> SymInt:
        """The symbol of a number from outside."""
        size = self._bind(self.env.create_number(value), source)
        log(f"{source.name()}: {size}, seen {value}")
        return size

    def _bind(self, size: Any, source: Source) -> Any:
        """Notes that the source reads this size."""
        if not isinstance(size, SymInt):
            return size
        only = size.expression.only_symbol
        if only is not None and only not in self.sources:
            self.sources[only] = source
        elif all(source != known for known in self.sources.values()):
            self._bound.append((source, size.expression))
        return size

    # --- text and guards ----------------------------------------------------------------------------------------------

    def text(self, size: SymInt) -> str:
        """A Python expression that computes the size from the inputs."""
        return text_of(size.expression, lambda s: self.sources[s].name())

    def guards(self) -> list[Guard]:
        """What must hold for the sizes of a later call; afterwards no question can be asked any more.

        ConstraintViolationError if a dimension marked dynamic can't be.
        """
        self._check_marks()
        self.env.is_frozen = True
        made = [
            Guard(source, "SHAPE_ENV", _escaped(text), "as when it was traced", place=place)
            for source, text, place in self._conditions(Source.name)
        ]
        if made and log.is_on:
            log("\n".join(map(str, made)))
        return made

    def checks(self, variable: Callable[[Source], str]) -> list[str]:
        """The same as texts of conditions, with the variables that hold the sizes."""
        return [text for _, text, _ in self._conditions(variable)]

    def _conditions(self, name: Callable[[Source], str]) -> Iterator[tuple[Source, str, str]]:
        """A source that a condition is about, the condition, and the line of the user's that asked for it."""
        names = {known.name: name(source) for known, source in self.sources.items()}
        for source, value in self._bound:
            yield source, f"{name(source)} == {text_of(value, lambda s: names[s.name])}", ""
        for known, source in self.sources.items():
            text = self._range_text(known, names[known.name])
            if text:
                yield source, text, self.env.narrowed.get(known, "")
        for relation in self.env.relations:
            first = min(relation.difference.symbols, key=str)
            yield self.sources[first], str(relation.renamed(names)), relation.place

    def _range_text(self, known: Symbol, name: str) -> str:
        replaced = self.env.replacements.get(known)
        if replaced is not None and replaced.constant is not None:
            return ""
        lower, upper = self.env.ranges[known]
        below = f"{lower} <= " if lower > -math.inf else ""
        above = f" <= {upper}" if upper < math.inf else ""
        return f"{below}{name}{above}" if below or above else ""

    def _check_marks(self) -> None:
        for marked, mark in self._marks.items():
            value = self.env.simplify(symbol(marked.name)).constant
            name, limits = self.sources[marked].name(), self.env.ranges[marked]
            if value is not None:
                where = self.env.replaced_at.get(marked, "")
                raise ConstraintViolationError(
                    f"mark_dynamic: {name} was marked dynamic, but the program works only for the size {value}, because"
                    f" of {where or 'what it does with it'}. Change that, or use maybe_mark_dynamic"
                )
            asked = Range(mark.min or 2, math.inf if mark.max is None else mark.max).within(Range())
            if (mark.min is not None or mark.max is not None) and limits != asked:
                raise ConstraintViolationError(
                    f"mark_dynamic: {name} was marked for sizes in {asked}, but the program is for sizes in {limits},"
                    f" because of {self.env.narrowed.get(marked, 'what it does with it')}"
                )


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
