"""Which guards are about the structure below an object, and the code that asks them only when it has changed.

>>> from minitorch_compile.dynamo.eval_frame import optimize, region_of
>>> from minitorch_compile.dynamo.testing import eager
>>> from minitorch_compile.nn import Linear
>>> from minitorch_compile.tensor import ones
>>> compiled = optimize(Linear(2, 2), eager)
>>> _ = compiled(ones(2))
>>> source = region_of(compiled).caches[0].entries[0].source
>>> print(*(line.strip() for line in source.splitlines() if "below" in line or "kept" in line), sep="\\n")
def below_surroundings(surroundings):
def below_self(self):
kept_0 = classes.recall(surroundings)
if kept_0 is None:
kept_0 = classes.read(surroundings, below_surroundings)
if kept_0 is MISS:
kept_1 = structure.recall(self)
if kept_1 is None:
kept_1 = structure.read(self, below_self)
if kept_1 is MISS:
(t_13, t_14,) = kept_1
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from minitorch_compile.dynamo.guards.guards import About, Guard
from minitorch_compile.dynamo.guards.source import (
    ConstantSource,
    InstanceAttrSource,
    InstanceDictSource,
    ItemSource,
    Source,
)
from minitorch_compile.dynamo.guards.structure import ATTRIBUTES, StructurePlan
from minitorch_compile.tensor import Size

FEWEST_GUARDS = 12  # to ask fewer is as quick as to remember them
FEWEST_GUARDS_ON_CLASSES = 2  # what a class lacks takes longer to ask


class GuardedStructure:
    """A root, what is read below it through attributes and items of exact dicts and tuples, and the guards on that."""

    fewest = FEWEST_GUARDS
    hint = "structure"

    def __init__(self, root: Source) -> None:
        self.root = root
        self.guards: list[Guard] = []
        self.plan = StructurePlan()
        self.positions: dict[Source, int] = {root: 0}
        self._classes: dict[Source, type] = {}

    def takes(self, guard: Guard) -> bool:
        """Adds the guard, if it can't fail while nothing in the structure changes."""
        if guard.about is About.ANYTHING or not self.covers(guard.source):
            return False
        if guard.other is not None and not self.covers(guard.other):
            return False
        if guard.about is About.ITEMS and not self._has_fixed_items(guard.source):
            return False
        self.guards.append(guard)
        if guard.cls is not None:
            self._classes[guard.source] = guard.cls
        return True

    def covers(self, source: Source) -> bool:
        """Whether it is part of the structure what this source reads; then it is noted from now on."""
        if source in self.positions:
            return True
        if source.base is None or not self._is_followed(source) or not self.covers(source.base):
            return False
        key = ATTRIBUTES if isinstance(source, InstanceDictSource) else _key(source)
        self.positions[source] = self.plan.add(self.positions[source.base], key)
        return True

    def lasts(self, source: Source) -> bool:
        """Whether words of memory prove that what was read there is still alive."""
        return source != self.root

    def _is_followed(self, source: Source) -> bool:
        if isinstance(source, ItemSource):
            return type(source.key) in (str, int) and self._has_fixed_items(source.origin)
        return isinstance(source, (InstanceDictSource, InstanceAttrSource))

    def _has_fixed_items(self, source: Source) -> bool:
        """Words of memory fix the items of a dict; those of a tuple never change."""
        return isinstance(source, InstanceDictSource) or self._classes.get(source) in (dict, tuple, Size)


class GuardedConstants(GuardedStructure):
    """The classes and modules that generated code holds, seen as one structure: a tuple of them."""

    fewest = FEWEST_GUARDS_ON_CLASSES
    hint = "classes"

    def __init__(self) -> None:
        super().__init__(ConstantSource("a tuple of them"))
        self.constants: list[ConstantSource] = []

    def lasts(self, source: Source) -> bool:
        """A class shows its dictionary through a proxy, made anew each time."""
        is_proxy = isinstance(source, InstanceDictSource) and isinstance(source.base, ConstantSource)
        return super().lasts(source) and not isinstance(source, ConstantSource) and not is_proxy

    def covers(self, source: Source) -> bool:
        if isinstance(source, ConstantSource) and source not in self.positions:
            self.positions[source] = self.plan.add(0, len(self.constants))
            self.constants.append(source)
        return super().covers(source)


def _key(source: Source) -> str | int:
    key = source.attribute if isinstance(source, InstanceAttrSource) else getattr(source, "key")  # noqa: B009
    assert isinstance(key, (str, int))
    return key


def structures_in(guards: Iterable[Guard]) -> list[GuardedStructure]:
    """The objects with much to remember below them; each guard is in one of them at most."""
    rooted = [(_root_object(guard.source), guard) for guard in guards]
    constants = GuardedConstants()
    roots = dict.fromkeys(root for root, _ in rooted if root is not None)
    structures = {r: constants if isinstance(r, ConstantSource) else GuardedStructure(r) for r in roots}
    for root, guard in rooted:
        structure = structures.get(root or guard.source)
        if structure is not None:
            structure.takes(guard)
    return [s for s in dict.fromkeys(structures.values()) if len(s.guards) >= s.fewest]


def _root_object(source: Source) -> Source | None:
    """The first object on the path of which attributes are read."""
    found = None
    while (base := source.base) is not None:
        if isinstance(source, InstanceDictSource):
            found = base
        source = base
    return found


def reading_lines(values: str, structure: str, root: str, check: str) -> list[str]:
    """The lines that ask the structure for the values that are needed.

    >>> print(*reading_lines("kept_0", "structure", "model", "below_model"), sep="\\n")
    kept_0 = structure.recall(model)
    if kept_0 is None:
        kept_0 = structure.read(model, below_model)
        if kept_0 is MISS:
            return MISS
    """
    return [
        f"{values} = {structure}.recall({root})",
        f"if {values} is None:",
        f"    {values} = {structure}.read({root}, {check})",
        f"    if {values} is MISS:",
        "        return MISS",
    ]


def check_function(check: str, root: str, checks: list[str], kept: list[str]) -> list[str]:
    """The function that asks the guards.

    >>> print(*check_function("below_model", "model", ["t_0 = model.__dict__"], ["t_0"]), sep="\\n")
    def below_model(model):
        t_0 = model.__dict__
        return (t_0,)
    """
    body = [*checks, *tuple_of(kept, "return ", "")]
    return [f"def {check}({root}):", *(f"    {line}" for line in body)]


def tuple_of(names: list[str], before: str, after: str) -> list[str]:
    """(t_0, t_1,), on several lines if there are many."""
    lines = textwrap.wrap(" ".join(f"{name}," for name in names), 100)
    if len(lines) <= 1:
        return [f"{before}({''.join(lines)}){after}"]
    return [f"{before}(", *(f"    {line}" for line in lines), f"){after}"]
