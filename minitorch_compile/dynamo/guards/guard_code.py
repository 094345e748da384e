"""From guards to the lines at the top of a generated function: read each source once, check, or give up with MISS.

>>> from minitorch_compile.dynamo.guards.guards import Guard, GuardSet
>>> from minitorch_compile.dynamo.guards.namespace import Namespace
>>> from minitorch_compile.dynamo.guards.source import AttrSource, LocalSource
>>> guards = GuardSet()
>>> x = LocalSource("x")
>>> guards.add(Guard(x, "TYPE", "type({0}) is Tensor"), Guard(AttrSource(x, "tag"), "EQ", "{0} == 1"))
>>> reader = SourceReader(Namespace({"x"}))
>>> write_checks(guards, reader)
>>> print(*reader.lines, sep="\\n")
if not (type(x) is Tensor):
    return MISS
t_0 = x.tag
if not (t_0 == 1):
    return MISS

What was read for a guard is in a variable already when the rest of the function needs it, as with a module's
parameters.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from minitorch_compile.dynamo.guards.checking_order import in_checking_order
from minitorch_compile.dynamo.guards.guards import Guard, GuardSet
from minitorch_compile.dynamo.guards.memory_guard import Memory, MemoryGuard, conditions_between
from minitorch_compile.dynamo.guards.namespace import Namespace
from minitorch_compile.dynamo.guards.source import CellSource, ConstantSource, LocalSource, Source
from minitorch_compile.dynamo.guards.structure import Structure
from minitorch_compile.dynamo.guards.structure_code import (
    GuardedConstants,
    GuardedStructure,
    check_function,
    reading_lines,
    structures_in,
    tuple_of,
)

FEWEST_TOGETHER = 4


class SourceReader:
    """Assigns sources to local variables, bases first, each once; collects the lines that do it."""

    def __init__(self, names: Namespace, known: dict[Source, str] | None = None) -> None:
        self.names = names
        self._parts: list[list[str] | StructureReader] = [[]]
        self._variables: dict[Source, str] = dict(known or {})
        self._structures: dict[Source, StructureReader] = {}  # what is read in there
        self._checks: list[str] = []
        self._assigned: list[str] = []

    @property
    def functions(self) -> list[str]:
        """The functions that ask the guards of structures."""
        return [line for part in self._parts if not isinstance(part, list) for line in part.function]

    @property
    def assigned(self) -> list[str]:
        """The local variables that hold what was read: it stays alive until they go."""
        inside = [name for part in self._parts if not isinstance(part, list) for name in part.assigned]
        return [*self._assigned, *inside]

    @property
    def lines(self) -> list[str]:
        """What was written so far, checks included once they are flushed."""
        return [line for part in self._parts for line in (part if isinstance(part, list) else part.lines)]

    def variable(self, source: Source) -> str:
        """The local variable that holds what the source reads."""
        structure = self._structures.get(source)
        if structure is not None:
            return structure.keep(source)
        known = self._variables.get(source)
        if known is None:
            known = self._variables[source] = self._read(source)
        return known

    def variable_of(self, source: Source) -> str:
        """The local variable that holds the value already; empty if there is none."""
        return "" if source in self._structures else self._variables.get(source, "")

    def _read(self, source: Source) -> str:
        text = source.read("" if source.base is None else self.variable(source.base))
        if isinstance(source, (LocalSource, ConstantSource, CellSource)):
            return text
        self.flush()
        name = self.names.fresh("t")
        self._assigned.append(name)
        self._write([f"{name} = {text}"])
        return name

    def _write(self, lines: list[str]) -> None:
        last = self._parts[-1]
        if isinstance(last, list):
            last += lines
        else:
            self._parts.append(lines)

    def arguments(self, sources: Iterable[Source]) -> list[str]:
        """What to write between the parentheses of a call with these values. Many values of one structure in a row, as
        a graph takes its parameters, are passed on together."""
        texts: list[str] = []
        for structure, run in groupby(sources, self._structures.get):
            row = list(run)
            together = None if structure is None or len(row) < FEWEST_TOGETHER else structure.keep_together(row)
            texts += [self.variable(source) for source in row] if together is None else [together]
        return texts

    def readable(self, source: Source) -> None:
        """Makes sure that the source is read somewhere, since reading it may fail."""
        if source not in self._structures:
            self.variable(source)

    def check(self, guard: Guard) -> None:
        """Adds one condition; it is written out before the next read."""
        subject = self.variable(guard.source)
        other = self.variable(guard.other) if guard.other else ""
        self._checks.append(guard.check.format(subject, other))

    def check_memory(self, guard: MemoryGuard) -> None:
        """Adds the conditions; tensors of one structure are compared in there."""
        groups: dict[StructureReader | None, tuple[list[Source], list[Source]]] = {}
        for position, sources in enumerate((guard.written, guard.read)):
            for source in sources:
                groups.setdefault(self._structures.get(source), ([], []))[position].append(source)
        written, read = groups.pop(None, ([], []))
        outside = Memory.of([self.variable(s) for s in written], [self.variable(s) for s in read])
        inside = [structure.memory(*sources) for structure, sources in groups.items() if structure is not None]
        self._checks += [*outside.conditions(len(written)), *conditions_between([outside, *inside])]

    def check_text(self, condition: str) -> None:
        """Adds a condition on variables that were read before."""
        self._checks.append(condition)

    def structure(self, guarded: GuardedStructure) -> None:
        """Adds all that is guarded below an object, to be asked when it has changed."""
        if isinstance(guarded, GuardedConstants):
            held = tuple(self.names.values[constant.constant] for constant in guarded.constants)
            root = self.names.install(held, "surroundings")
        else:
            root = self.variable(guarded.root)
        self.flush()
        part = StructureReader(guarded, root, self.names)
        self._parts.append(part)
        self._structures.update(dict.fromkeys(part.sources, part))

    def flush(self) -> None:
        """Writes the conditions collected so far as one `if`."""
        if self._checks:
            self._write([*_condition(self._checks), "    return MISS"])
            self._checks = []


class StructureReader:
    """The lines for one structure; which values are needed behind them is known when all else has been written."""

    def __init__(self, guarded: GuardedStructure, root: str, names: Namespace) -> None:
        self._root = root
        self._structure = Structure(guarded.plan.steps)
        self._name = names.install(self._structure, guarded.hint)
        self._check = names.unused(f"below_{root}")
        self._values = names.fresh("kept")
        self._kept: dict[Source, str] = {}  # with their variables in the function below, in the order of the tuple
        self._named: list[Source] = []  # those which need a variable in the caller, too
        self._computed: dict[str, str] = {}  # variables that are made of others, and the texts
        self._conditions: list[str] = []  # on those
        self._reader = SourceReader(names, {guarded.root: root})
        for guard in guarded.guards:
            self._reader.check(guard)
        self._reader.flush()
        self.sources = [source for source in guarded.positions if guarded.lasts(source)]
        for source in self.sources:
            self._reader.variable(source)

    def keep(self, source: Source) -> str:
        """The variable, also when the guards are not asked."""
        self._add(source)
        if source not in self._named:
            self._named.append(source)
        return self._kept[source]

    def keep_together(self, sources: list[Source]) -> str | None:
        """A starred expression for all of them; None if some are kept elsewhere."""
        start = len(self._kept)
        if any(source in self._kept for source in sources):
            return None
        for source in sources:
            self._add(source)
        return f"*{self._values}[{start}:{len(self._kept)}]"

    def _add(self, source: Source) -> None:
        self._kept.setdefault(source, self._reader.variable(source))

    def memory(self, written: list[Source], read: list[Source]) -> Memory:
        """Of tensors in here: checks that they share no memory, and keeps the sets of it."""
        variables = self._reader.variable
        sets = Memory.of([variables(source) for source in written], [variables(source) for source in read])
        names = [self._reader.names.fresh("memory") if text else "" for text in (sets.written, sets.read)]
        self._computed |= {name: text for name, text in zip(names, (sets.written, sets.read)) if text}
        self._structure.computed = len(self._computed)
        self._conditions += Memory(*names).conditions(len(written))
        return Memory(*names)

    @property
    def assigned(self) -> list[str]:
        """The variables in the caller."""
        return [self._values, *(self._kept[source] for source in self._named), *self._computed]

    @property
    def lines(self) -> list[str]:
        lines = reading_lines(self._values, self._name, self._root, self._check)
        order = [*self._kept.values(), *self._computed]
        named = self.assigned[1:]
        if named == order:
            return [*lines, *tuple_of(order, "", f" = {self._values}")] if order else lines
        return [*lines, *(f"{name} = {self._values}[{order.index(name)}]" for name in named)]

    @property
    def function(self) -> list[str]:
        """The function that asks the guards, and gives the same values."""
        checks = [*self._reader.lines, *(f"{name} = {text}" for name, text in self._computed.items())]
        if self._conditions:
            checks += [*_condition(self._conditions), "    return MISS"]
        return check_function(self._check, self._root, checks, [*self._kept.values(), *self._computed])


def _condition(checks: list[str]) -> list[str]:
    joined = f"if not ({' and '.join(checks)}):"
    if len(joined) <= 110:
        return [joined]
    first, *rest = checks
    return ["if not (", f"    {first}", *(f"    and {check}" for check in rest), "):"]


def write_checks(guards: GuardSet, reader: SourceReader) -> None:
    """All guards, and all paths that must be readable, as lines of the reader."""
    ordered = in_checking_order(guards)
    structures = structures_in(ordered)
    inside = {id(guard): structure for structure in structures for guard in structure.guards}
    for source in guards.reads:
        any(structure.covers(source) for structure in structures)
    for guard in ordered:
        if guard.kind == "FUNCTION_MATCH":  # which function it is, its class says; its code may change all the same
            any(isinstance(structure, GuardedConstants) and structure.covers(guard.source) for structure in structures)
    for guard in ordered:
        structure = inside.get(id(guard))
        if isinstance(guard, MemoryGuard):
            reader.check_memory(guard)
        elif structure is None:
            reader.check(guard)
        elif guard is structure.guards[0]:
            reader.structure(structure)
    reader.flush()
    for source in guards.reads:
        reader.readable(source)
