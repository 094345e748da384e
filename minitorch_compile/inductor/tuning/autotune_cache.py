"""What was found out by timing, on disk: which of several ways to compute something is the fastest here.

An entry is named by the hash of all that the answer depends on: what is computed (its structure, sizes and dtypes), how
many threads there are, and the machine with the versions of everything (`object_store.environment`). It lies beside the
machine code (`cache_folder`), is a line with the hash of the rest and then JSON, and is believed only if it names one
of the ways that there are.

>>> key = key_of("doctest: a way to the station", threads=1)
>>> remember(key, {"bus": 31e-6, "tram": 25e-6})
>>> recall(key, ["bus", "tram"])
{'bus': 3.1e-05, 'tram': 2.5e-05}
>>> recall(key, ["bus", "tram", "on foot"]) is None                     # there is a way that was not tried then
True
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from minitorch_compile.inductor.ir.loops import LoopGraph
from minitorch_compile.inductor.ir.printer import print_operation
from minitorch_compile.inductor.runtime.cache_folder import cache_folder, read_own, write_whole
from minitorch_compile.inductor.runtime.object_store import environment

MARK = "minitorch_compile times 1 "


def key_of(what: str, threads: int) -> str:
    """The name of an entry."""
    return hashlib.sha256(f"{environment()}\n{threads} threads\n{what}".encode()).hexdigest()[:32]


def structure_of(graph: LoopGraph) -> str:
    """What a graph computes, as text, the same for graphs that differ only in the names of their buffers."""
    inputs = [*graph.inputs, *graph.constants]
    operations = graph.operations
    lines = [repr(buffer) for buffer in inputs]
    for operation in operations:
        lines += [*map(repr, operation.outputs), print_operation(operation)]
    lines += [repr(view) for view in graph.outputs]
    buffers = [*inputs, *(buffer for operation in operations for buffer in operation.outputs)]
    numbers = {buffer.name: f"b{number}" for number, buffer in enumerate(dict.fromkeys(buffers))}
    return re.sub(r"\b[A-Za-z_]\w*\b", lambda found: numbers.get(found[0], found[0]), "\n".join(lines))


def remember(key: str, seconds: Mapping[str, float]) -> None:
    """Keeps how long each way took."""
    write_whole(_path(key), pack(seconds))


def recall(key: str, ways: Sequence[str]) -> dict[str, float] | None:
    """How long each of these ways took; None if that isn't known for all of them."""
    return unpack(read_own(_path(key)) or b"", ways)


def pack(seconds: Mapping[str, float]) -> bytes:
    text = json.dumps(dict(seconds))
    return f"{MARK}{_digest(text)}\n{text}".encode()


def unpack(entry: bytes, ways: Sequence[str]) -> dict[str, float] | None:
    """The times; None for an entry that isn't whole, or is not about these ways."""
    head, _, text = entry.decode(errors="replace").partition("\n")
    if head != MARK + _digest(text):
        return None
    try:
        seconds = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(seconds, dict) or set(seconds) != set(ways):
        return None
    return {way: seconds[way] for way in ways} if all(type(s) is float for s in seconds.values()) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _path(key: str) -> Path:
    return cache_folder() / key[:2] / f"mtc_{key}.times"
