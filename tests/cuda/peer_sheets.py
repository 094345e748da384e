"""The call sheets of the battery on a GPU beside PyTorch on the same GPU, which has to be there:

    python -m tests.cuda.peer_sheets --every 9 --first 4 --jobs 12 --seconds 200

Each call is evaluated by either library in processes of its own, on the same numbers: with and without gradients and in
all dtypes, where the sheet asks for them. Sizes, strides, dtypes and classes of errors have to be the same, and values
within the bounds of `same`: sums in another order. Other differences have a reason in `explained.py`, or count. The
processes share out all GPUs that there are.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import pickle
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.battery.arguments import ALL_ELEMENTS, Arguments
from tests.battery.outcome import Part, evaluate
from tests.battery.sheet import Call
from tests.cuda.explained import explanation
from tests.cuda.shared_gpus import environment_of
from tests.cuda.sheets import ROUNDING, cases, dtypes, near

CUDA = "cuda"
LIBRARIES = ("torch", "minitorch_compile")
EXACT = ("float64", "complex128", "int64", "int32", "int16", "int8", "uint8", "bool")
AT_A_TIME = 50  # calls that a process takes: neighbours ask for the same kernels
GPU_IS_LOST = 3  # what a process ends with after an error that PyTorch's CUDA context doesn't survive


@dataclass(frozen=True)
class Came:
    """What came of a call, in a form that another process can read."""

    parts: tuple[Part, ...] = ()
    numbers: tuple[str, ...] = ()
    gradients: tuple[np.ndarray | None, ...] = ()
    errors: tuple[str, ...] = ()  # the class of an error, and those above it
    text: str = ""


Case = tuple[Call, str, bool, str]  # with its layout, whether gradients are wanted, and the dtype of its tensors


def is_turn_of(layout: str, place: int, call: Call) -> bool:
    """Whether a call is tried in this layout: in one of the two, if there are two."""
    return "layouts" not in call.vary or (layout == "transposed") == (place // 4 % 2 == 0)


def chosen(first: int, every: int) -> list[tuple[int, Case]]:
    """One in so many calls, with their numbers: dtype by dtype, so that neighbours have kernels in common. In float32
    each in all its layouts, in other dtypes in one of them."""
    tried = list(cases([]))
    found = (
        (call, layout, gradients, element)
        for element in ALL_ELEMENTS
        for place, (call, layout, gradients) in enumerate(tried)
        if element in dtypes(call, gradients) and (element == "float32" or is_turn_of(layout, place, call))
    )
    return list(itertools.islice(enumerate(found), first, None, every))


# --------------------------------------------------------------------------------------------------- one process


def came_of(torch: Any, device: str, case: Case) -> Came:
    """What comes of a call with its tensors on that device."""
    call, layout, gradients, element = case
    torch.manual_seed(0)
    try:
        with torch.device(device):
            arguments = Arguments(torch, layout, element, gradients, make=lambda x: x.to(device))
            outcome = evaluate(call.text, arguments)
        if device == CUDA:
            torch.cuda.synchronize()
    except Exception as error:  # PyTorch's kernels raise when somebody waits for them
        return Came(errors=("IndexError", "RuntimeError"), text=str(error)[:300])
    if outcome.error is not None:
        return Came(errors=tuple(c.__name__ for c in type(outcome.error).__mro__), text=str(outcome.error)[:300])
    return Came(outcome.parts, outcome.numbers, outcome.gradients)


def theirs_of(torch: Any, device: str, case: Case) -> Came:
    """What comes of a call in PyTorch. An index that its CPU refuses would be the end of its CUDA process: then the
    CPU's error counts."""
    if device == CUDA:
        on_cpu = came_of(torch, "cpu", case)
        if on_cpu.errors and re.search("out of (range|bounds)", on_cpu.text):
            return on_cpu
    return came_of(torch, device, case)


def claimed(folder: Path, library: str, job: int, count: int) -> Iterator[range]:
    """Stretches of so many calls that no other process works on, one after another; this job's own again, too."""
    for begin in range(0, count, AT_A_TIME):
        claim = folder / f"{library}.{begin}"
        try:
            with claim.open("x") as file:
                file.write(str(job))
        except FileExistsError:
            if claim.read_text() != str(job):
                continue
        yield range(begin, min(count, begin + AT_A_TIME))


def work(given: argparse.Namespace) -> int:
    """Evaluates calls, and appends what came of each to a file; goes on behind what is there already."""
    library, out, end = given.worker, given.out, time.monotonic() + given.seconds
    torch = importlib.import_module(library)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    warnings.simplefilter("ignore")
    evaluated = theirs_of if library == "torch" else came_of
    todo, done = chosen(given.first, given.every), {number for number, _ in read(out)}
    with out.open("ab") as file:
        for place in itertools.chain.from_iterable(claimed(out.parent, library, given.job, len(todo))):
            number, case = todo[place]
            if number in done:
                continue
            if time.monotonic() > end:
                break
            came = evaluated(torch, given.device, case)
            pickle.dump((number, came), file)
            file.flush()
            if "device-side assert" in came.text or "illegal memory access" in came.text:
                return GPU_IS_LOST
    runtime = None if library == "torch" else torch.cuda.runtime.in_use()
    if runtime is not None and runtime.kernels is not None:
        out.with_suffix(".host").write_text(json.dumps(runtime.kernels.reasons))
    return 0


def read(file: Path) -> list[tuple[int, Came]]:
    found = []
    if file.exists():
        with file.open("rb") as stream, suppress(EOFError):
            while True:
                found.append(pickle.load(stream))
    return found


# --------------------------------------------------------------------------------------------------- all of them


def run_all(library: str, given: argparse.Namespace, seconds: float, folder: Path) -> dict[int, Came]:
    """What a library makes of the calls, which the processes share out among themselves."""
    end = time.monotonic() + seconds
    running = {job: start(library, given, job, seconds, folder) for job in range(given.jobs)}
    while running:
        for job, process in list(running.items()):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2 / len(running))
                del running[job]
                if process.returncode == GPU_IS_LOST:
                    running[job] = start(library, given, job, end - time.monotonic(), folder)
                elif process.returncode:
                    print(f"{library}, process {job}: ended with {process.returncode}", flush=True)
    return dict(entry for job in range(given.jobs) for entry in read(folder / f"{library}-{job}"))


def start(library: str, given: argparse.Namespace, job: int, seconds: float, folder: Path) -> subprocess.Popen[bytes]:
    words = {"--worker": library, "--out": folder / f"{library}-{job}", "--job": job, "--seconds": seconds}
    words |= {"--first": given.first, "--every": given.every, "--device": given.device}
    command = [sys.executable, "-m", "tests.cuda.peer_sheets", *(str(word) for pair in words.items() for word in pair)]
    return subprocess.Popen(command, env=environment_of(job))


def difference(theirs: Came, ours: Came, call: Call, element: str = "float32") -> str | None:
    """The first thing in which PyTorch's outcome differs from ours, in words; `element` is the dtype of the call."""
    if theirs.errors or ours.errors:
        alike = bool(theirs.errors and ours.errors) and (
            theirs.errors[0] in ours.errors or ours.errors[0] in theirs.errors
        )
        said = [f"{came.errors[0]}: {came.text[:140]}" if came.errors else "a result" for came in (theirs, ours)]
        return None if alike else f"{said[0]}, here {said[1]}"
    if len(theirs.parts) != len(ours.parts):
        return f"{len(theirs.parts)} tensors, here {len(ours.parts)}"
    # What is computed in between is of the call's dtype, or of one that it asks for.
    unit, is_exact = ROUNDING.get(element, 0.0), element in EXACT and "float32" not in call.text
    for expected, came in zip(theirs.parts, ours.parts, strict=True):
        for what in ("dtype", "sizes", *(["strides"] if 0 not in expected.sizes else [])):
            if getattr(expected, what) != getattr(came, what):
                return f"{what} {getattr(expected, what)}, here {getattr(came, what)}"
        of_part = max(unit, ROUNDING.get(expected.dtype, 0.0))
        if not (call.random or same(expected.values, came.values, of_part, is_exact)):
            return f"values {short(expected.values)}, here {short(came.values)}"
    if call.random:
        return None
    if theirs.numbers != ours.numbers:
        return f"{theirs.numbers}, here {ours.numbers}"
    return gradient_difference(theirs, ours, unit, is_exact)


def gradient_difference(theirs: Came, ours: Came, unit: float, is_exact: bool) -> str | None:
    if not (theirs.gradients and ours.gradients):
        return None
    for position, (wanted, got) in enumerate(zip(theirs.gradients, ours.gradients, strict=True)):
        present = wanted if got is None else got
        if (wanted is None or got is None) and (present is None or not np.any(present)):
            continue  # PyTorch may give zeros where another formula gives no gradient at all
        if not same(wanted, got, unit, is_exact):
            return f"gradient {position}: {short(wanted)}, here {short(got)}"
    return None


def same(wanted: np.ndarray | None, got: np.ndarray | None, unit: float = 0.0, is_exact: bool = False) -> bool:
    """Within 1e-5 of each element, or 4e-6 of the largest; if `is_exact`, of float64 within 1e-10 of the largest; of a
    dtype whose neighbouring numbers are a `unit` apart, within four of each or two of the largest."""
    if wanted is not None and got is not None and wanted.dtype in (np.float64, np.complex128) and is_exact:
        finite = np.abs(wanted[np.isfinite(wanted)])
        largest = max(1.0, float(finite.max())) if finite.size else 1.0
        return wanted.shape == got.shape and bool(np.allclose(got, wanted, 1e-10, 1e-10 * largest, equal_nan=True))
    return near(wanted, got, unit)


def short(values: np.ndarray | None) -> str:
    return "None" if values is None else np.array2string(values.ravel()[:4], precision=6)


def compare(given: argparse.Namespace) -> dict[str, Any]:
    """The figures, and every difference with its reason, or without one."""
    with tempfile.TemporaryDirectory() as name:
        folder, began = Path(name), time.monotonic()
        theirs = run_all("torch", given, given.seconds / 2, folder)
        print(f"{len(theirs)} calls by PyTorch in {time.monotonic() - began:.0f} s", flush=True)
        ours = run_all("minitorch_compile", given, given.seconds - (time.monotonic() - began), folder)
        print(f"{len(ours)} calls here, {time.monotonic() - began:.0f} s in all", flush=True)
        host: dict[str, str] = {}
        for file in folder.glob("*.host"):
            host |= json.loads(file.read_text())
    counts, elements, told = Counter[str](), Counter[str](), []
    for number, (call, layout, gradients, element) in chosen(given.first, given.every):
        if number not in theirs or number not in ours:
            counts["not reached"] += 1
            continue
        counts["compared"] += 1
        counts["with gradients"] += gradients
        elements[element] += 1
        found = difference(theirs[number], ours[number], call, element)
        if found is not None:
            reason = explanation(call.text, f"{layout} {element} {'with gradients' if gradients else ''}", found)
            counts["explained" if reason else "unexplained"] += 1
            told.append({"call": f"{call.sheet}: {call.text} ({layout}, {element}, gradients={gradients})",
                         "difference": found, "reason": reason})  # fmt: skip
    by_element = {f"of {name}": count for name, count in elements.items()}
    numbers = {"first": given.first, "every": given.every, **counts, **by_element}
    return {**numbers, "differences": told, "in main memory": host}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The call sheets on a GPU beside PyTorch.")
    parser.add_argument("--every", type=int, default=9)
    parser.add_argument("--first", type=int, default=4, help="the number of the first call")
    parser.add_argument("--jobs", type=int, default=8, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--device", default=CUDA, choices=[CUDA, "cpu"], help="the same on the CPU, without a GPU")
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--job", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="a JSON file with the figures and all differences")
    return parser.parse_args()


def main() -> int:
    given = options()
    if given.worker:
        return work(given)
    figures = compare(given)
    for row in figures["differences"]:
        print(f"{row['call']}\n    {row['difference']}\n    {row['reason'] or 'UNEXPLAINED'}")
    print({name: figure for name, figure in figures.items() if name not in ("differences", "in main memory")})
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1))
    return bool(figures.get("unexplained"))


if __name__ == "__main__":
    from tests.cuda import peer_sheets  # so that what is pickled is of the module by its name

    sys.exit(peer_sheets.main())
