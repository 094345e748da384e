"""What data made by a file may be: keys that take no time to hash, and containers of a depth that Python can walk.

>>> check_key(("a", 1))
('a', 1)
>>> nested = []
>>> for _ in range(200):
...     nested = [nested]
>>> check_depth(nested)
Traceback (most recent call last):
minitorch_compile.serialization.unreadable_file.UnreadableFileError: load: the file holds containers nested deeper ...
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from minitorch_compile.serialization.unreadable_file import refuse

DEEPEST = 100  # containers in containers; what walks them, as repr and == do, takes a few frames of Python's for each
CONTAINERS = (list, tuple, dict, set, frozenset, deque)
SHORT = 16  # items that are looked through again, rather than noting that they were
LARGEST_KEY = 1000  # parts of a key
LONGEST_NUMBER = 1 << 16  # bits of a number in a key: its hash is computed anew each time


def check_key(key: Any) -> Any:
    """The key of a dictionary, or the item of a set. Tuples are hashed part by part, and a small file can hold one of
    2**100 parts: each tuple may be in the next one twice."""
    if type(key) is str:
        return key
    parts, count = [key], 0
    while parts:
        part = parts.pop()
        count += 1
        if count > LARGEST_KEY:
            raise refuse(f"the file holds a key of more than {LARGEST_KEY} parts")
        if isinstance(part, int) and part.bit_length() > LONGEST_NUMBER:
            raise refuse(f"the file holds a key that is a number of {part.bit_length():,} bits")
        if isinstance(part, (tuple, frozenset)):
            parts.extend(part)
        elif type(part).__hash__ is None:
            raise refuse(f"the file holds a key of type {type(part).__name__}, which can't be one")
    return key


def check_depth(value: Any) -> Any:
    """The value, if its containers are nested no deeper than DEEPEST."""
    seen: set[int] = set()
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        above, level = level, []
        for container in above:
            if not isinstance(container, CONTAINERS) or id(container) in seen:
                continue
            inner = [item for item in _items(container) if isinstance(item, CONTAINERS) and item]
            if inner or len(container) > SHORT:
                seen.add(id(container))
            level.extend(inner)
        if not level:
            return value
    raise refuse(f"the file holds containers nested deeper than {DEEPEST}")


def _items(container: Any) -> Iterable[Any]:
    return (part for pair in container.items() for part in pair) if isinstance(container, dict) else container
