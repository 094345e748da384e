"""Damage that knows no format: bytes are changed, cut, moved and repeated, and numbers made extreme.

>>> damaged(b"abcdef", Random(4)) != b"abcdef"
True
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import Any

EXTREMES = (
    0,
    1,
    2,
    7,
    8,
    63,
    64,
    127,
    128,
    255,
    2**15,
    2**16 - 1,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**62,
    2**63 - 1,
    2**64 - 1,
)
TEXTS = (
    "-1",
    "1e400",
    "NaN",
    "1.5",
    "true",
    "null",
    '""',
    "[]",
    "{}",
    "0x1",
    str(2**63),
    str(2**64),
    "9" * 5000,
    "[" * 2000,
)
STRANGE: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2**31, 2**63 - 1, 2**63, 2**64, 10**30, 1.5, float("nan"), float("inf")),
    *("", "x", "\ud800", "F32", "BOOL", "__metadata__", "a" * 1000, [], {}, [[]], [1, 2], [None], {"tensor": "x"}),
)


def change(data: bytearray, random: Random) -> None:
    for _ in range(random.choice((1, 1, 2, 8))):
        data[random.randrange(len(data))] = random.choice((random.randrange(256), 0, 255))


def flip(data: bytearray, random: Random) -> None:
    data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def cut(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data)) :]


def leave_out(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data))
    del data[at : at + random.choice((1, 1, 4, 8, 100))]


def insert(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.choice((1, 1, 4, 8, 100)))


def repeat(data: bytearray, random: Random) -> None:
    at = random.randrange(len(data))
    data[at:at] = data[at : at + random.choice((1, 8, 64, 500))] * random.choice((1, 2, 50))


def move(data: bytearray, random: Random) -> None:
    start, length = random.randrange(len(data)), random.choice((1, 4, 30))
    piece = data[start : start + length]
    at = random.randrange(len(data))
    data[at : at + len(piece)] = piece


def number(data: bytearray, random: Random) -> None:
    width = random.choice((1, 2, 4, 8))
    value = random.choice(EXTREMES) + random.choice((0, 0, 0, -1, 1))
    at = random.randrange(len(data))
    data[at : at + width] = (value % (1 << 8 * width)).to_bytes(width, random.choice(("little", "little", "big")))


def written_number(data: bytearray, random: Random) -> None:
    found = list(re.finditer(rb"\d+", data[:20000]))
    if found:
        place = random.choice(found)
        data[slice(*place.span())] = random.choice((*TEXTS, *map(str, EXTREMES))).encode()


MUTATIONS: tuple[Callable[[bytearray, Random], None], ...] = (
    *(change, flip, cut, leave_out, insert, repeat, move, number, number, written_number),
)


def damaged(data: bytes, random: Random) -> bytes:
    """The bytes, damaged in one to three ways."""
    result = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3))):
        if result:
            random.choice(MUTATIONS)(result, random)
    return bytes(result)


def places_of(tree: Any) -> list[tuple[Any, Any]]:
    """Every place in a tree of lists and dictionaries, as (container, key)."""
    places, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            waiting.append(node[key])
    return places


def damaged_tree(tree: Any, random: Random) -> Any:
    """The tree, of which something was replaced, removed, doubled, or put somewhere else."""
    places = places_of(tree)
    if not places:
        return random.choice(STRANGE)
    for _ in range(random.choice((1, 1, 2))):
        container, key = random.choice(places)
        other, other_key = random.choice(places)
        try:
            match random.randrange(6):
                case 0 | 1:
                    container[key] = random.choice(STRANGE)
                case 2:
                    del container[key]
                case 3:
                    container[key] = other[other_key] if not isinstance(other[other_key], (list, dict)) else [1]
                case 4 if isinstance(container, list):
                    container.insert(key, container[key])
                case 5 if isinstance(container, dict):
                    container[random.choice(("tensor", "again", "as", "view", "x", "shape"))] = container.pop(key)
        except (KeyError, IndexError):
            continue  # it was removed before
    return tree
