"""Runs every call of the call sheets on PyTorch and on this package, and prints where they differ.

    python -m benchmarks.compare_torch                 all sheets (needs torch in the same environment; minutes)
    python -m benchmarks.compare_torch pooling conv    sheets or lines that hold one of these words
    python -m benchmarks.compare_torch --explained     also the differences that have a reason in EXPLAINED
    python -m benchmarks.compare_torch --numbers       each number of a line as a 0-d tensor, in place of the variations

Each call is tried on ordinary tensors, and, as its sheet asks, in other memory layouts, with other element types, and
with gradients. Compared are values, sizes, strides, dtypes, gradients of all arguments, and the classes of errors.
"""

from __future__ import annotations

import argparse
import importlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import minitorch_compile
from benchmarks.explained import reason_for
from tests.battery.arguments import ELEMENTS, LAYOUTS, Arguments
from tests.battery.outcome import Outcome, Part, evaluate
from tests.battery.sheet import Call, calls, with_number_tensors

TOLERANCE = {"float16": (2e-3, 2e-3), "float32": (1e-4, 1e-5), "complex64": (1e-4, 1e-5)}
EXACT = (1e-7, 1e-9)


@dataclass(frozen=True)
class Variation:
    """One way to try a call."""

    layout: str = "contiguous"
    element: str = "float32"
    gradients: bool = False

    def __str__(self) -> str:
        words = [self.layout if self.layout != "contiguous" else "", self.element if self.element != "float32" else ""]
        return " ".join([word for word in [*words, "with gradients" if self.gradients else ""] if word]) or "plain"


def variations(call: Call) -> Iterator[Variation]:
    yield Variation()
    if "gradients" in call.vary:
        yield Variation(gradients=True)
    if "layouts" in call.vary:
        yield from (Variation(layout) for layout in LAYOUTS[1:])
    if "elements" in call.vary:
        yield from (Variation(element=element) for element in ELEMENTS[1:])


def varied(call: Call) -> Iterator[tuple[Call, Variation]]:
    yield from ((call, variation) for variation in variations(call))


def numbers_as_tensors(call: Call) -> Iterator[tuple[Call, Variation]]:
    yield from ((replace(call, text=text), Variation()) for text in with_number_tensors(call.text))


def outcomes(call: Call, variation: Variation) -> tuple[Outcome, Outcome]:
    """What came of the call on PyTorch and here."""

    def on(library: Any) -> Outcome:
        return evaluate(call.text, Arguments(library, variation.layout, variation.element, variation.gradients))

    return on(importlib.import_module("torch")), on(minitorch_compile)


def difference(theirs: Outcome, ours: Outcome, random: bool) -> str | None:
    """The first thing in which two outcomes differ, in words; None if nothing does."""
    if theirs.error is not None or ours.error is not None:
        return _error_difference(theirs.error, ours.error)
    if len(theirs.parts) != len(ours.parts):
        return f"{len(theirs.parts)} tensors, here {len(ours.parts)}"
    for expected, came in zip(theirs.parts, ours.parts, strict=True):
        if found := _part_difference(expected, came, random):
            return found
    if theirs.numbers != ours.numbers and not random:
        return f"{theirs.numbers}, here {ours.numbers}"
    if len(theirs.gradients) != len(ours.gradients):
        return f"{len(theirs.gradients)} gradients, here {len(ours.gradients)}"
    for position, (wanted, got) in enumerate(zip(theirs.gradients, ours.gradients, strict=True)):
        if not _close(wanted, got):
            return f"gradient {position}: {_short(wanted)}, here {_short(got)}"
    return None


def _error_difference(theirs: BaseException | None, ours: BaseException | None) -> str | None:
    if theirs is None:
        return f"here {type(ours).__name__}: {str(ours)[:150]}"
    if ours is None:
        return f"{type(theirs).__name__} ({str(theirs).splitlines()[0][:100]}), here a result"
    # NotImplementedError is PyTorch's word for a missing kernel, and a RuntimeError by class.
    same = isinstance(theirs, type(ours)) or isinstance(ours, type(theirs))
    return None if same else f"{type(theirs).__name__}, here {type(ours).__name__}: {str(ours)[:150]}"


def _part_difference(expected: Part, came: Part, random: bool) -> str | None:
    for what in ("dtype", "sizes", *(["strides"] if 0 not in expected.sizes else [])):
        if getattr(expected, what) != getattr(came, what):
            return f"{what} {getattr(expected, what)}, here {getattr(came, what)}"
    if random or _close(expected.values, came.values):
        return None
    return f"values {_short(expected.values)}, here {_short(came.values)}"


def _close(expected: np.ndarray | None, came: np.ndarray | None) -> bool:
    if expected is None or came is None:
        # PyTorch may give a gradient of zeros where another formula gives none at all.
        present = expected if came is None else came
        return present is None or not np.any(present)
    relative, absolute = TOLERANCE.get(str(expected.dtype), EXACT)
    return expected.shape == came.shape and np.allclose(came, expected, relative, absolute, equal_nan=True)


def _short(values: np.ndarray | None) -> str:
    return "None" if values is None else np.array2string(values.ravel()[:4], precision=5)


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares every op with PyTorch's.")
    parser.add_argument("words", nargs="*", help="only sheets or calls that hold one of these words")
    parser.add_argument("--explained", action="store_true", help="print the differences that have a reason, too")
    parser.add_argument("--limit", type=int, default=3, help="print at most so many differences of one line of a sheet")
    parser.add_argument("--numbers", action="store_true", help="try 0-d tensors in place of numbers instead")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for call in calls():
        if options.words and not any(word in call.sheet or word in call.text for word in options.words):
            continue
        printed = 0
        for tried, variation in numbers_as_tensors(call) if options.numbers else varied(call):
            counts["tried"] += 1
            found = difference(*outcomes(tried, variation), call.random)
            if found is None:
                continue
            reason = reason_for(tried.text, str(variation), found)
            counts["explained" if reason else "mismatches"] += 1
            if (reason is None or options.explained) and printed < options.limit:
                printed += 1
                print(f"{call.sheet}: {tried.text} [{variation}]\n    {found}" + (f"\n    {reason}" if reason else ""))
    print(
        f"{counts['tried']} calls, {counts['mismatches']} mismatches, {counts['explained']} differences with a reason"
    )


if __name__ == "__main__":
    main()
