"""From a seed to a report: grow the program, compare, make what fails smaller."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import minitorch_compile as torch
from minitorch_compile.cuda.runtime import using
from minitorch_compile.cuda_runtime.fake_driver import FakeDriver
from tests.inductor.fuzz.device_growing import grow_for_device
from tests.inductor.fuzz.growing import grow
from tests.inductor.fuzz.judging import difference
from tests.inductor.fuzz.programs import Program
from tests.inductor.fuzz.shrinking import shrink


def report(seed: int, backend: str, smallest: bool = True, device: str = "cpu", mode: str = "default") -> str | None:
    """What is wrong with the program of a seed, as text with a script; None if nothing. `device`: where it is compiled
    for; a GPU is the simulated one where there is none. `mode`: of `torch.compile`."""
    if device == "cpu":
        return _report(replace(grow(seed), mode=mode), backend, smallest)
    exact = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)  # as exact as the CPU
    with exact, nullcontext() if torch.cuda.is_available() else using(FakeDriver()):
        return _report(replace(grow_for_device(seed), mode=mode), backend, smallest)


def _report(program: Program, backend: str, smallest: bool) -> str | None:
    if not program.outputs:
        return None
    found = _difference(program, backend)
    if found is None:
        return None
    if smallest:
        program = shrink(program, lambda smaller: _difference(smaller, backend) is not None)
        found = _difference(program, backend)
    return f"# seed {program.seed} on {backend}, {program.device}: {found}\n{program.script(backend)}"


def _difference(program: Program, backend: str) -> str | None:
    try:
        return difference(program, backend)
    except Exception as error:  # a crash of the compiler is a finding like any other
        return f"{type(error).__name__}: {error}"


def report_of(task: tuple[int, str, bool, str, str]) -> str | None:
    return report(*task)
