"""Which boxes stand in which frame, so that a picture of thousands of nodes begins with a few.

Frames are the user's modules. A level that still has more than 60 members is cut into stretches of the same source
line, and these, if need be, into equal parts.

>>> from minitorch_compile.compiler.viewer.report import Item, Stage
>>> items = [Item(f"n{i}", "add", module=(f"layer{i // 40}", "a" if i % 40 < 20 else "b")) for i in range(80)]
>>> for frame in frames_of(Stage("graph", "", "graph", items)).inner:
...     print(frame.label, len(frame.everything), frame.is_open, [inner.label for inner in frame.inner])
layer0 40 True ['a', 'b']
layer1 40 True ['a', 'b']

Of the frames of a large picture, those are open at the beginning that leave few boxes to be seen.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from minitorch_compile.compiler.viewer.report import Item, Stage

MOST = 60  # members of a frame
MOST_SEEN = 24  # boxes of a large picture that are seen at the beginning
MANY_INPUTS = 12  # that no frame has
FEW_PARTS = 12  # into which a level without any structure is cut
INPUTS = ("input", "parameter")
ALL_INPUTS = "inputs"


@dataclass(eq=False)
class Frame:
    """A frame: the numbers of items in the stage, and further frames, in their order."""

    label: str
    members: list[int | Frame] = field(default_factory=list)
    is_open: bool = False

    @property
    def inner(self) -> list[Frame]:
        return [member for member in self.members if isinstance(member, Frame)]

    @property
    def everything(self) -> list[int]:
        """The items in it, in inner frames as well."""
        found: list[int] = []
        for member in self.members:
            found += member.everything if isinstance(member, Frame) else [member]
        return found


def frames_of(stage: Stage) -> Frame:
    """The outermost frame, which stands for the whole picture."""
    paths = _paths(stage)
    few = len(stage.items) <= MOST  # a small picture has the innermost frames only
    root = _by_module("", list(enumerate(path[-1:] if few else path for path in paths)), 0)
    root = _with_parts(root, stage.items)
    _open(root)
    return root


def _paths(stage: Stage) -> list[tuple[str, ...]]:
    """The frames of each item. An input stands where it is read, if that is in one frame."""
    paths = [item.module for item in stage.items]
    readers: dict[str, list[tuple[str, ...]]] = {}
    for item in stage.items:
        for name in item.reads:
            readers.setdefault(name, []).append(item.module)
    for number, item in enumerate(stage.items):
        if item.kind in INPUTS and not item.module and item.name in readers:
            paths[number] = _common(readers[item.name])
    alone = [n for n, item in enumerate(stage.items) if item.kind in INPUTS and not paths[n]]
    if len(alone) > MANY_INPUTS and len(stage.items) > MOST:
        for number in alone:
            paths[number] = (ALL_INPUTS,)
    return paths


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What all paths begin with."""
    length = 0
    while all(len(path) > length and path[length] == paths[0][length] for path in paths):
        length += 1
    return paths[0][:length]


def _by_module(label: str, items: Sequence[tuple[int, tuple[str, ...]]], depth: int) -> Frame:
    """A frame with the items, those that have a longer path in frames inside it."""
    frame = Frame(label)
    inside: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
    for number, path in items:
        if len(path) <= depth:
            frame.members.append(number)
        else:
            if path[depth] not in inside:
                frame.members.append(Frame(path[depth]))
            inside.setdefault(path[depth], []).append((number, path))
    frame.members = [
        _filled(member, inside, depth) if isinstance(member, Frame) else member for member in frame.members
    ]
    return frame


def _filled(frame: Frame, inside: dict[str, list[tuple[int, tuple[str, ...]]]], depth: int) -> int | Frame:
    """The frame with its items. A frame around one frame becomes one with both names; one item needs no frame."""
    filled = _by_module(frame.label, inside[frame.label], depth + 1)
    if len(filled.members) > 1:
        return filled
    (only,) = filled.members
    if isinstance(only, Frame):
        only.label = f"{filled.label}.{only.label}"
    return only


def _with_parts(frame: Frame, items: Sequence[Item]) -> Frame:
    """The frame, cut into parts wherever a level has too many members."""
    frame.members = [_with_parts(m, items) if isinstance(m, Frame) else m for m in frame.members]
    if len(frame.members) <= MOST:
        return frame
    groups: list[list[int | Frame]] = []
    for member in frame.members:
        last = groups[-1][-1] if groups else None
        if isinstance(member, int) and isinstance(last, int) and items[member].place == items[last].place:
            groups[-1].append(member)
        else:
            groups.append([member])
    if len(groups) == 1 or max(map(len, groups)) == 1:
        size = -(-len(frame.members) // FEW_PARTS)
        groups = [frame.members[i : i + size] for i in range(0, len(frame.members), size)]
    parts = [group[0] if len(group) == 1 else Frame(_name(group, items), group) for group in groups]
    return _with_parts(Frame(frame.label, list(parts)), items)


def _name(group: Sequence[int | Frame], items: Sequence[Item]) -> str:
    """The user's line that the members have in common, or the first and the last of them."""
    names = [member.label if isinstance(member, Frame) else items[member].name for member in group]
    places = {items[member].place.partition(": ")[2] for member in group if isinstance(member, int)}
    (place,) = places if len(places) == 1 else ("",)
    text = place or f"{names[0]} … {names[-1]}"
    return text if len(text) <= 36 else f"{text[:35]}…"


def _open(root: Frame) -> None:
    """Opens frames from the outside in, as long as few boxes are seen: all, if there are no more than MOST."""
    root.is_open = True
    most = MOST if len(root.everything) <= MOST else MOST_SEEN
    seen, waiting = len(root.members), deque(root.inner)
    while waiting:
        frame = waiting.popleft()
        if seen + len(frame.members) - 1 <= most and frame.label != ALL_INPUTS:
            frame.is_open = True
            seen += len(frame.members) - 1
            waiting.extend(frame.inner)
