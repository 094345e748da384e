"""From guards to the lines at the top of a generated function: read each source once, check, or give up with MISS.

>>> from minitorch_compile.dynamo.guards import Guard, GuardSet
>>> from minitorch_compile.dynamo.namespace import Namespace
>>> from minitorch_compile.dynamo.source import AttrSource, LocalSource
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

from minitorch_compile.dynamo.guards import Guard, GuardSet
from minitorch_compile.dynamo.namespace import Namespace
from minitorch_compile.dynamo.source import CellSource, ConstantSource, LocalSource, Source


class SourceReader:
    """Assigns sources to local variables, bases first, each once; collects the lines that do it."""

    def __init__(self, names: Namespace) -> None:
        self.names = names
        self.lines: list[str] = []
        self._variables: dict[Source, str] = {}
        self._checks: list[str] = []

    def variable(self, source: Source) -> str:
        """The local variable that holds what the source reads."""
        known = self._variables.get(source)
        if known is None:
            known = self._variables[source] = self._read(source)
        return known

    def _read(self, source: Source) -> str:
        text = source.read("" if source.base is None else self.variable(source.base))
        if isinstance(source, (LocalSource, ConstantSource, CellSource)):
            return text
        self.flush()
        name = self.names.fresh("t")
        self.lines.append(f"{name} = {text}")
        return name

    def check(self, guard: Guard) -> None:
        """Adds one condition; it is written out before the next read."""
        subject = self.variable(guard.source)
        other = self.variable(guard.other) if guard.other else ""
        self._checks.append(guard.check.format(subject, other))

    def flush(self) -> None:
        """Writes the conditions collected so far as one `if`."""
        if self._checks:
            self.lines += [*_condition(self._checks), "    return MISS"]
            self._checks = []


def _condition(checks: list[str]) -> list[str]:
    joined = f"if not ({' and '.join(checks)}):"
    if len(joined) <= 110:
        return [joined]
    first, *rest = checks
    return ["if not (", f"    {first}", *(f"    and {check}" for check in rest), "):"]


def write_checks(guards: GuardSet, reader: SourceReader) -> None:
    """All guards, and all paths that must be readable, as lines of the reader."""
    for guard in in_checking_order(guards):
        reader.check(guard)
    reader.flush()
    for source in guards.reads:
        reader.variable(source)


def in_checking_order(guards: Iterable[Guard]) -> list[Guard]:
    """Most often failing first: arguments, tensors among them first; then closures and globals; comparisons of two
    paths last.

    Guards with the same root keep their order, since a path is safe to read only after the guards on its bases.
    """
    groups: dict[Source, list[Guard]] = {}
    pairs: list[Guard] = []
    for guard in guards:
        if guard.other is not None:
            pairs.append(guard)
        else:
            groups.setdefault(guard.source.root, []).append(guard)
    ordered = sorted(groups.items(), key=lambda item: _rank(item[0], item[1][0]))
    return [guard for _, group in ordered for guard in group] + pairs


def _rank(root: Source, first: Guard) -> int:
    if isinstance(root, LocalSource):
        return 0 if first.kind == "TENSOR_MATCH" else 1
    return 2 if isinstance(root, CellSource) else 3
