"""The call sheets of the battery on a GPU beside the CPU: `python -m tests.cuda.sheets [--every 7] [sheet ...]`.

Each call is evaluated twice, on the same numbers, with gradients where the sheet asks for them. Sizes, strides and
dtypes have to be the same, and values as near as float32 sums in another order are. On a machine with a GPU it is that
one, else the simulated one.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from tests.battery.arguments import ALL_ELEMENTS, Arguments
from tests.battery.outcome import Outcome, Part, evaluate
from tests.battery.sheet import FOLDER, Call, calls_of

# How far apart neighbouring numbers are, beside themselves.
ROUNDING = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "torch.float16": 2.0**-10, "torch.bfloat16": 2.0**-7}

CPU_ALONE = ("torch.histogram(",)  # what PyTorch refuses on a GPU, and so is refused here
# What says itself where a tensor is.
ABOUT_DEVICES = ("get_device", ".device", "is_cuda", "is_cpu", ".type()")


FLOATS = ("float32", "float64", "float16", "bfloat16")
DRAWN = re.compile(r"\b(f|pos|unit|distinct|special|square|definite)\(")  # the words of a sheet that have the dtype


def dtypes(call: Call, gradients: bool) -> tuple[str, ...]:
    """Those in which a call is tried: all where its sheet asks for them, else the floating ones."""
    if not DRAWN.search(call.text):
        return ("float32",)
    if "elements" in call.vary:
        return (*FLOATS, "complex64", "complex128") if gradients else ALL_ELEMENTS
    return FLOATS


def cases(sheets: list[str], every: int = 1) -> Iterator[tuple[Call, str, bool]]:
    """Each call with its layouts, and with and without gradients; one in so many of them."""
    number = 0
    for path in sorted(FOLDER.glob("*.txt")):
        for call in calls_of(path) if not sheets or path.stem in sheets else ():
            for layout in ("contiguous", "transposed") if "layouts" in call.vary else ("contiguous",):
                for gradients in (False, True) if "gradients" in call.vary else (False,):
                    number += 1
                    if number % every == 0:
                        yield call, layout, gradients


def in_turns(sheets: list[str], every: int, element: str | None = None) -> Iterator[tuple[Call, str, bool, str]]:
    """One in so many cases: in that dtype where its sheet asks for it, or each in the next of its dtypes."""
    for number, (call, layout, gradients) in enumerate(cases(sheets, every)):
        among = dtypes(call, gradients)
        if element is None:
            yield call, layout, gradients, among[number % len(among)]
        elif element in among:
            yield call, layout, gradients, element


def difference(call: Call, layout: str, gradients: bool, element: str = "float32") -> str | None:
    """What is not the same on the GPU, in words. `element` is the dtype of the sheet's numbers."""
    if any(word in call.text for word in CPU_ALONE):
        return None
    here = evaluated(call, layout, gradients, None, element)
    there = evaluated(call, layout, gradients, "cuda", element)
    if type(here.error) is not type(there.error):
        return f"{here.error!r} here, {there.error!r} there"
    if [layout_of(part) for part in here.parts] != [layout_of(part) for part in there.parts]:
        return f"{list(map(layout_of, here.parts))} here, {list(map(layout_of, there.parts))} there"
    if here.numbers != there.numbers and not any(word in call.text for word in ABOUT_DEVICES):
        return f"{here.numbers} here, {there.numbers} there"
    unit = ROUNDING.get(element, 0.0)
    pairs = [(a.values, b.values, max(unit, ROUNDING.get(a.dtype, 0.0))) for a, b in zip(here.parts, there.parts)]
    pairs += [(a, b, unit) for a, b in zip(here.gradients, there.gradients, strict=True)]
    return None if call.random or all(near(*pair) for pair in pairs) else f"values: {pairs}"


def evaluated(call: Call, layout: str, gradients: bool, where: str | None, element: str = "float32") -> Outcome:
    torch.manual_seed(0)
    with nullcontext() if where is None else torch.device(where):
        make = None if where is None else lambda x: x.to(where)
        return evaluate(call.text, Arguments(torch, layout, element, gradients, make))


def layout_of(part: Part) -> tuple[Any, ...]:
    return part.dtype, part.sizes, part.strides


def near(a: np.ndarray | None, b: np.ndarray | None, unit: float = 0.0) -> bool:
    """Within 1e-5 of each element, or 4e-6 of the largest: what cancels out keeps the rounding of its parts. Of a
    coarser dtype, within some of its units."""
    if a is None or b is None:
        return a is b
    if a.shape != b.shape:
        return False
    finite = np.abs(a[np.isfinite(a)]) if a.dtype.kind in "fc" else a
    largest = max(1.0, float(finite.max())) if finite.size else 1.0
    return bool(np.allclose(a, b, rtol=1e-5 + 4 * unit, atol=(4e-6 + 2 * unit) * largest, equal_nan=True))


def main() -> int:
    parser = argparse.ArgumentParser(description="The call sheets on a GPU beside the CPU.")
    parser.add_argument("sheets", nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--element", help="the dtype of the sheets' numbers; without it all dtypes take turns")
    parser.add_argument("--like", default="", help="calls whose text this regular expression is found in")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with nullcontext() if torch.cuda.is_available() else using(FakeDriver()):
        print("on", torch.cuda.get_device_name())
        tried = wrong = 0
        for call, layout, gradients, element in in_turns(options.sheets, options.every, options.element):
            if not re.search(options.like, call.text):
                continue
            tried += 1
            found = difference(call, layout, gradients, element)
            if found is not None:
                wrong += 1
                what = f"{call.text} ({layout}, {element}, gradients={gradients})"
                print(f"{call.sheet}: {what}\n    {found[:300]}", flush=True)
        runtime = torch.cuda.runtime.find()
        assert runtime is not None
        kernels = runtime.kernels
        print(f"{tried} calls, {wrong} differ; {len(kernels.compiled)} kernels; in main memory:")
        for name, reason in sorted(kernels.reasons.items()):
            print(f"    {name}: {reason}")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
