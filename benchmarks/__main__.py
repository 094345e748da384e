"""Times every program eagerly and compiled.

make bench
python -m benchmarks softmax mlp          # the programs whose names hold one of these
python -m benchmarks --library torch      # the same programs on PyTorch, where it is installed
"""

import argparse
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.programs import PROGRAMS, three_tensors_4x4
from benchmarks.timing import readable, seconds_of, seconds_per_call


@dataclass(frozen=True)
class Measurement:
    """Seconds a call, eagerly and compiled, and the seconds of the first compiled call."""

    name: str
    eager: float
    compiled: float
    first: float

    def __str__(self) -> str:
        times = "".join(f"{readable(seconds):>10}" for seconds in (self.eager, self.compiled))
        return f"{self.name:<24}{times}{self.eager / self.compiled:>8.2f}x{readable(self.first):>12}"


def measure(torch: Any, program: Callable[..., Callable[[], object]], budget: float) -> Measurement:
    """Times one program both ways, from the same seed."""
    torch.manual_seed(0)
    eager = program(torch, lambda f: f)
    eager()
    eager_seconds = seconds_per_call(eager, budget)
    torch.manual_seed(0)
    compiled = program(torch, torch.compile)
    first = seconds_of(compiled, 1)
    compiled()
    return Measurement(program.__name__, eager_seconds, seconds_per_call(compiled, budget), first)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times small programs eagerly and compiled.")
    parser.add_argument("names", nargs="*", help="only programs whose names hold one of these")
    parser.add_argument("--library", default="minitorch_compile", help="the module with PyTorch's names")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each measurement")
    options = parser.parse_args()
    torch = importlib.import_module(options.library)
    print(f"{'program':<24}{'eager':>10}{'compiled':>10}{'faster':>9}{'first call':>12}")
    overhead = None
    for program in PROGRAMS:
        if not options.names or any(name in program.__name__ for name in options.names):
            measured = measure(torch, program, options.seconds)
            print(measured, flush=True)
            if program is three_tensors_4x4:
                overhead = measured.compiled
    if overhead is not None:
        print(f"\nguards and call overhead: {readable(overhead)} a call (three tensors of 4x4, kernel included)")


if __name__ == "__main__":
    main()
