"""Whether a random program does the same compiled as plain, and what differs first if it does not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.dynamo.fuzz.programs import changing_program, random_program
from tests.dynamo.fuzz.running import NoProgram, run

OVERWRITTEN = "has been modified by an inplace operation"


@dataclass(frozen=True)
class Difference:
    """`what` differs in call number `call`: the smallest parts of the canonical forms that do."""

    call: int
    what: str
    plain: Any
    compiled: Any

    def __str__(self) -> str:
        return (
            f"call {self.call}, {self.what}:\n    plain     {self.plain!r:.1500}\n    compiled  {self.compiled!r:.1500}"
        )

    @property
    def kind(self) -> str:
        """Differences of the same kind may have the same cause: shrinking keeps the kind."""
        internal = isinstance(self.compiled, tuple) and self.compiled and self.compiled[0] == "InternalTracerError"
        return "internal" if internal or self.compiled == "InternalTracerError" else self.what.partition(" of ")[0]


def program_of(seed: int) -> str:
    """A random program. Half of them raise an exception; of two, the one that does not is taken, to see more."""
    return _quiet_one(random_program, seed)


def changing_program_of(seed: int) -> str:
    """The same, of programs between whose calls something changes."""
    return _quiet_one(changing_program, seed)


def _quiet_one(grow: Callable[[int], str], seed: int) -> str:
    first, second = grow(2 * seed), grow(2 * seed + 1)
    try:
        return second if "raised" in run(first, seed, None)[0].seen else first
    except NoProgram:
        return second


def difference(source: str, seed: int, backend: str) -> Difference | None:
    """None if the program does the same, or there is no program to compare."""
    try:
        plain = run(source, seed, None)
    except NoProgram:
        return None
    try:
        compiled = run(source, seed, backend)
    except NoProgram:
        return Difference(0, "time", "ends", "takes too long")
    for number, (expected, found) in enumerate(zip(plain, compiled)):
        names = [*expected.seen, *(name for name in found.seen if name not in expected.seen)]
        for name in names:
            theirs, ours = expected.seen.get(name), found.seen.get(name)
            if backend == "aot_eager" and name == "backward" and OVERWRITTEN in f"{theirs} {ours}":
                # a functional program overwrites nothing, or is one node that refuses; and it may keep an argument,
                # from which a value is computed again, where the plain one keeps the value: both as in PyTorch
                return None
            if theirs != ours:
                return Difference(number, name, *_smallest(theirs, ours))
    return None


def _smallest(a: Any, b: Any) -> tuple[Any, Any]:
    """The first innermost parts that differ, with a little of what is around them."""
    while isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)) and len(a) == len(b):
        inner = [(x, y) for x, y in zip(a, b) if x != y]
        if not inner or not isinstance(inner[0][0], (tuple, list)):
            break
        a, b = inner[0]
    return a, b
