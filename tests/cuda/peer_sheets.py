"""The call sheets of the battery on a GPU beside PyTorch on the same GPU, which has to be there:

    python -m tests.cuda.peer_sheets --every 9 --first 4 --jobs 12 --seconds 200

Each call is evaluated by either library in processes of its own, on the same numbers: with gradients, or of one of the
dtypes, where the sheet asks for them. Sizes, strides, dtypes and classes of errors have to be the same, and values
within the bounds of `same`: sums in another order. Other differences have a reason in `EXPLAINED`, or count.
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.explained import reason_for
from tests.battery.arguments import ELEMENTS, Arguments
from tests.battery.outcome import Part, evaluate
from tests.battery.sheet import Call
from tests.cuda.sheets import ROUNDING, cases, near

LIBRARIES = ("torch", "minitorch_compile")
GPU_IS_LOST = 3  # what a process ends with after an error that PyTorch's CUDA context doesn't survive

# What differs for a reason: a pattern for the call, one for the difference, the reason.
EXPLAINED: list[tuple[str, str, str]] = [
    (
        "logsigmoid|fft|linalg|svd|ormqr|scaled_dot_product_attention|multi_head_attention",
        "^strides",
        "the layout is that of PyTorch's CPU kernel, which its CUDA kernel or library doesn't share",
    ),
    (r"(scatter_?|put_?|index_copy_?)\(", "^values", "indices occur twice, and which of the values stays is not said"),
    (
        "",
        "not implemented for|not supported on CUDA|is not currently supported|Could not run",
        "PyTorch's CUDA has no such kernel",
    ),
    ("", "derivative for .* is not implemented", "this PyTorch has no derivative of it"),
    ("", "view size is not compatible", "a copy is made where PyTorch's implementation can't"),
    ("softsign|abs", "here NotImplementedError: abs", "PyTorch's CUDA has abs of bools, its CPU, as here, has not"),
    (
        r"embedding\(.*max_norm",
        "^values",
        "PyTorch's CUDA kernel reads a row as if it lay together: its CPU's values are ours",
    ),
    ("polygamma", "^values", "PyTorch's CUDA kernel sums a series to 1e-9 of float64"),
    (
        "rnn|lstm|gru",
        "cudnn RNN backward can only be called in training mode",
        "no mode is in the way of a gradient here",
    ),
    ("linalg", "^_LinAlgError.*here LinAlgError", "each package has its own LinAlgError, a RuntimeError"),
    (
        "rrelu|logcumsumexp",
        "here NotImplementedError",
        "of integers without an element: there is nothing to compute",
    ),
    ("ldexp", "^strides", "PyTorch's powers of two lie in an order that depends on the dtype, ours in one"),
    ("histc", "here NotImplementedError", "PyTorch's CUDA counts integers, its CPU, as here, doesn't"),
    ("histc", "HalfTensor is not supported", "PyTorch's CUDA has no such kernel"),
    ("hardswish", "^values", "PyTorch's CUDA kernel multiplies by a sixth of float32, also in float64: 3e-8"),
    (r"\.to\(.cpu., .*True", "^values", "the call doesn't wait for its copy, and the sheet doesn't either"),
    ("_copy", "does not support automatic differentiation", "PyTorch has no derivative under this name"),
    ("sort|topk|median|mode", "^values", "which of equal elements comes first (0.0 and -0.0 are equal) is not said"),
]


@dataclass(frozen=True)
class Came:
    """What came of a call, in a form that another process can read."""

    parts: tuple[Part, ...] = ()
    numbers: tuple[str, ...] = ()
    gradients: tuple[np.ndarray | None, ...] = ()
    errors: tuple[str, ...] = ()  # the class of an error, and those above it
    text: str = ""


Case = tuple[Call, str, bool, str]  # with its layout, whether gradients are wanted, and the dtype of its tensors


def chosen(first: int, every: int) -> list[tuple[int, Case]]:
    """One in so many calls, with their numbers. Where a sheet asks for dtypes, they take turns."""
    found = []
    for number, (call, layout, gradients) in itertools.islice(enumerate(cases([])), first, None, every):
        varies = "elements" in call.vary and not gradients
        found.append((number, (call, layout, gradients, ELEMENTS[number % len(ELEMENTS)] if varies else "float32")))
    return found


def on_gpu(torch: Any, call: Call, layout: str, gradients: bool, element: str) -> Came:
    """What comes of a call with its tensors on the GPU."""
    torch.manual_seed(0)
    with torch.device("cuda"):
        arguments = Arguments(torch, layout, element, gradients, make=lambda x: x.to("cuda"))
        outcome = evaluate(call.text, arguments)
    if outcome.error is not None:
        return Came(errors=tuple(c.__name__ for c in type(outcome.error).__mro__), text=str(outcome.error)[:300])
    return Came(outcome.parts, outcome.numbers, outcome.gradients)


# --------------------------------------------------------------------------------------------------- one process


def work(library: str, first: int, every: int, seconds: float, out: Path) -> int:
    """Evaluates calls, and appends what came of each to a file; goes on behind what is there already."""
    torch = importlib.import_module(library)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    warnings.simplefilter("ignore")
    done, end = len(read(out)), time.monotonic() + seconds
    with out.open("ab") as file:
        for number, case in chosen(first, every)[done:]:
            if time.monotonic() > end:
                break
            try:
                came = on_gpu(torch, *case)
                torch.cuda.synchronize()
            except Exception as error:  # PyTorch's kernels raise when somebody waits for them
                came = Came(errors=("IndexError", "RuntimeError"), text=str(error)[:300])
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


def run_all(library: str, first: int, every: int, jobs: int, seconds: float, folder: Path) -> dict[int, Came]:
    """What a library makes of the calls, each process taking every so many of them."""
    end = time.monotonic() + seconds
    files = [folder / f"{library}-{job}" for job in range(jobs)]
    running = {job: start(library, first + job * every, every * jobs, seconds, files[job]) for job in range(jobs)}
    while running:
        for job, process in list(running.items()):
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
                del running[job]
                if process.returncode == GPU_IS_LOST:
                    left = end - time.monotonic()
                    running[job] = start(library, first + job * every, every * jobs, left, files[job])
                elif process.returncode:
                    print(f"{library}, process {job}: ended with {process.returncode}", flush=True)
    return dict(entry for file in files for entry in read(file))


def start(library: str, first: int, every: int, seconds: float, out: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.cuda.peer_sheets", "--worker", library, "--out", str(out)]
    numbers = {"--first": first, "--every": every, "--seconds": seconds}
    return subprocess.Popen(command + [str(word) for pair in numbers.items() for word in pair])


def difference(theirs: Came, ours: Came, random: bool) -> str | None:
    """The first thing in which PyTorch's outcome differs from ours, in words."""
    if theirs.errors or ours.errors:
        alike = bool(theirs.errors and ours.errors) and (
            theirs.errors[0] in ours.errors or ours.errors[0] in theirs.errors
        )
        said = [f"{came.errors[0]}: {came.text[:140]}" if came.errors else "a result" for came in (theirs, ours)]
        return None if alike else f"{said[0]}, here {said[1]}"
    if len(theirs.parts) != len(ours.parts):
        return f"{len(theirs.parts)} tensors, here {len(ours.parts)}"
    for expected, came in zip(theirs.parts, ours.parts, strict=True):
        for what in ("dtype", "sizes", *(["strides"] if 0 not in expected.sizes else [])):
            if getattr(expected, what) != getattr(came, what):
                return f"{what} {getattr(expected, what)}, here {getattr(came, what)}"
        if not (random or same(expected.values, came.values)):
            return f"values {short(expected.values)}, here {short(came.values)}"
    if theirs.numbers != ours.numbers and not random:
        return f"{theirs.numbers}, here {ours.numbers}"
    if random or not (theirs.gradients and ours.gradients):
        return None
    for position, (wanted, got) in enumerate(zip(theirs.gradients, ours.gradients, strict=True)):
        present = wanted if got is None else got
        if (wanted is None or got is None) and (present is None or not np.any(present)):
            continue  # PyTorch may give zeros where another formula gives no gradient at all
        if not same(wanted, got):
            return f"gradient {position}: {short(wanted)}, here {short(got)}"
    return None


def same(wanted: np.ndarray | None, got: np.ndarray | None) -> bool:
    """Within 1e-5 of each element, or 4e-6 of the largest; of float64 within 1e-10 of the largest, of float16 some of
    its units."""
    if wanted is not None and got is not None and wanted.dtype in (np.float64, np.complex128):
        finite = np.abs(wanted[np.isfinite(wanted)])
        largest = max(1.0, float(finite.max())) if finite.size else 1.0
        return wanted.shape == got.shape and bool(np.allclose(got, wanted, 1e-10, 1e-10 * largest, equal_nan=True))
    return near(wanted, got, ROUNDING["float16"] if wanted is not None and wanted.dtype == np.float16 else 0.0)


def short(values: np.ndarray | None) -> str:
    return "None" if values is None else np.array2string(values.ravel()[:4], precision=6)


def explanation(call: Call, layout: str, gradients: bool, element: str, found: str) -> str | None:
    for of_call, of_difference, reason in EXPLAINED:
        if re.search(of_call, call.text) and re.search(of_difference, found):
            return reason
    variation = f"{layout} {element} {'with gradients' if gradients else ''}"
    return reason_for(call.text, variation, found)


def compare(first: int, every: int, jobs: int, seconds: float) -> dict[str, Any]:
    """The figures, and every difference with its reason, or without one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        theirs = run_all("torch", first, every, jobs, seconds / 2, folder)
        print(f"{len(theirs)} calls by PyTorch in {time.monotonic() - began:.0f} s", flush=True)
        ours = run_all("minitorch_compile", first, every, jobs, seconds - (time.monotonic() - began), folder)
        host: dict[str, str] = {}
        for file in folder.glob("*.host"):
            host |= json.loads(file.read_text())
    counts, told = Counter[str](), []
    for number, (call, layout, gradients, element) in chosen(first, every):
        if number not in theirs or number not in ours:
            counts["not reached"] += 1
            continue
        counts["compared"] += 1
        counts["with gradients"] += gradients
        counts["of other dtypes"] += element != "float32"
        found = difference(theirs[number], ours[number], call.random)
        if found is not None:
            reason = explanation(call, layout, gradients, element, found)
            counts["explained" if reason else "unexplained"] += 1
            told.append({"call": f"{call.sheet}: {call.text} ({layout}, {element}, gradients={gradients})",
                         "difference": found, "reason": reason})  # fmt: skip
    return {"first": first, "every": every, **counts, "differences": told, "in main memory": host}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The call sheets on a GPU beside PyTorch.")
    parser.add_argument("--every", type=int, default=9)
    parser.add_argument("--first", type=int, default=4, help="the number of the first call")
    parser.add_argument("--jobs", type=int, default=8, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help="a JSON file with the figures and all differences")
    return parser.parse_args()


def main() -> int:
    given = options()
    if given.worker:
        return work(given.worker, given.first, given.every, given.seconds, given.out)
    figures = compare(given.first, given.every, given.jobs, given.seconds)
    for row in figures["differences"]:
        print(f"{row['call']}\n    {row['difference']}\n    {row['reason'] or 'UNEXPLAINED'}")
    print({name: figure for name, figure in figures.items() if name not in ("differences", "in main memory")})
    if given.out:
        given.out.write_text(json.dumps(figures, indent=1))
    return bool(figures.get("unexplained"))


if __name__ == "__main__":
    from tests.cuda import peer_sheets  # so that what is pickled is of the module by its name

    sys.exit(peer_sheets.main())
