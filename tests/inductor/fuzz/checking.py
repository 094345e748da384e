"""From a seed to a report: grow the program, compare, make what fails smaller."""

from __future__ import annotations

from tests.inductor.fuzz.growing import grow
from tests.inductor.fuzz.judging import difference
from tests.inductor.fuzz.programs import Program
from tests.inductor.fuzz.shrinking import shrink


def report(seed: int, backend: str, smallest: bool = True) -> str | None:
    """What is wrong with the program of a seed, as text with a script; None if nothing."""
    program = grow(seed)
    if not program.outputs:
        return None
    found = _difference(program, backend)
    if found is None:
        return None
    if smallest:
        program = shrink(program, lambda smaller: _difference(smaller, backend) is not None)
        found = _difference(program, backend)
    return f"# seed {seed} on {backend}: {found}\n{program.script(backend)}"


def _difference(program: Program, backend: str) -> str | None:
    try:
        return difference(program, backend)
    except Exception as error:  # a crash of the compiler is a finding like any other
        return f"{type(error).__name__}: {error}"


def report_of(task: tuple[int, str, bool]) -> str | None:
    return report(*task)
