"""In which order guards are asked: what fails most often first, and no path before what makes it safe to read.

>>> from minitorch_compile.dynamo.guards.guards import Guard
>>> from minitorch_compile.dynamo.guards.source import AttrSource, ConstantSource, InstanceDictSource, LocalSource
>>> box, cls = LocalSource("box"), ConstantSource("Box")
>>> size = Guard(AttrSource(box, "size"), "EQ", "{0} == 1")
>>> lacks = Guard(InstanceDictSource(cls), "LACKS", "'size' not in {0}")
>>> print(*in_checking_order([size, lacks]), sep="\\n")
LACKS            'size' not in Box.__dict__
EQ               box.size == 1
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from minitorch_compile.dynamo.guards.source import (
    CellSource,
    ConstantSource,
    InstanceDictSource,
    LocalSource,
    Source,
)

if TYPE_CHECKING:
    from minitorch_compile.dynamo.guards.guards import Guard


def in_checking_order(guards: Iterable[Guard]) -> list[Guard]:
    """Most often failing first: arguments, tensors among them first; then closures and globals; comparisons of two
    paths last. Guards on classes come before those on other objects, whose attributes are where the class says.

    Guards with the same root keep their order, since a path is safe to read only after the guards on its bases.
    """
    groups: dict[Source, list[Guard]] = {}
    pairs: list[Guard] = []
    for guard in guards:
        if guard.other is not None:
            pairs.append(guard)
        else:
            groups.setdefault(guard.source.root, []).append(guard)
    ordered = sorted(groups.items(), key=lambda item: _rank(item[0], item[1]))
    return [guard for _, group in ordered for guard in group] + pairs


def _rank(root: Source, group: list[Guard]) -> int:
    if isinstance(root, LocalSource):
        return 0 if group[0].kind == "TENSOR_MATCH" else 2
    if isinstance(root, CellSource):
        return 3
    return 1 if any(_is_of_class(guard.source) for guard in group) else 4


def _is_of_class(source: Source | None) -> bool:
    """Whether it is in the dictionary of a class or module."""
    while source is not None and not isinstance(source, InstanceDictSource):
        source = source.base
    return source is not None and isinstance(source.base, ConstantSource)
