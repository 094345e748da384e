"""Runs the tests of the kernels for processors that this machine can play.

    tools/kernel_floors.py                   # all tests for AVX2 and SSE2, and all kernels assembled
    tools/kernel_floors.py haswell           # all tests for one processor
    tools/kernel_floors.py --one-batch       # of each family of tests a few: what `make test-all` runs

`make test` compiles for the processor at hand. Here the tests in which machine code is the question run once more, in a
process for each processor, with NUMBA_CPU_NAME: AVX2 (haswell) and SSE2 (x86-64). For processors that can't be played
here (AVX-512 on a machine without it, NEON), all kernels are generated, checked by LLVM and assembled; nothing is run.

>>> "skylake-avx512" in ASSEMBLED["x86_64-unknown-linux-gnu"]
True
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ONE_BATCH = "--one-batch"
PLAYED = ("haswell", "x86-64")  # by the processors of x86; on others only what is assembled is checked
ASSEMBLED = {"x86_64-unknown-linux-gnu": ["skylake-avx512"], "aarch64-unknown-linux-gnu": ["generic", "neoverse-v1"]}
TESTS = (
    "minitorch_compile/inductor/kernels",
    "tests/inductor/test_machine.py",
    "tests/inductor/test_half_floats.py",
    "tests/inductor/test_vecmath.py",
    "tests/inductor/test_targets.py",
    "tests/inductor/test_convolution.py",
    "tests/inductor/test_channels_last.py",
    "tests/inductor/test_winograd.py",
    "tests/inductor/test_attention.py",
    "tests/inductor/test_pooling.py",
    "tests/inductor/test_epilogues.py",
    "tests/inductor/test_threads.py",
    "tests/inductor/test_fast_path.py",
)


def play(cpu: str, *options: str) -> bool:
    """Whether the tests pass with kernels for that processor."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_CPU_")}
    command = [sys.executable, "-m", "pytest", "-q", "--no-cov", "-n", "2", "-p", "no:cacheprovider", *options, *TESTS]
    return subprocess.run(command, cwd=ROOT, env={**environment, "NUMBA_CPU_NAME": cpu}).returncode == 0


def assemble(triple: str, cpu: str) -> bool:
    """Whether LLVM accepts and assembles all kernels for that processor."""
    command = [sys.executable, "-m", "tests.inductor.foreign", triple, cpu, "float32", "float64"]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0


def main(arguments: list[str]) -> int:
    """Prints a line for each processor; 1 if one fails."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    options = [argument for argument in arguments if argument == ONE_BATCH]
    named = [argument for argument in arguments if argument != ONE_BATCH]
    outcomes = [timed(f"tests for {cpu}", play, cpu, *options) for cpu in named or (PLAYED if is_x86 else ())]
    if not arguments:
        pairs = [(triple, cpu) for triple, cpus in ASSEMBLED.items() for cpu in cpus]
        outcomes += [timed(f"all kernels, assembled for {cpu}", assemble, triple, cpu) for triple, cpu in pairs]
    return int(not all(outcomes))


def timed(title: str, check: Callable[..., bool], *arguments: str) -> bool:
    """Whether a check passes; says so, and how long it took."""
    start = time.monotonic()
    passed = check(*arguments)
    print(f"{title}: {'ok' if passed else 'FAILED'}, {time.monotonic() - start:.0f} s", flush=True)
    return passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
