"""Times every program eagerly and compiled.

make bench
python -m benchmarks softmax mlp          # the programs whose names hold one of these
python -m benchmarks --library torch      # the same programs on PyTorch, where it is installed
"""

import argparse
import gc
import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.programs import PROGRAMS
from benchmarks.timing import readable, seconds_of, seconds_per_call


def measure(torch: Any, program: Callable[..., Callable[[], object]], budget: float) -> list[str]:
    """One row of the table: eager, compiled, how many times faster, the first compiled call."""
    torch.manual_seed(0)
    eager = program(torch, lambda f: f)
    eager()
    eager_seconds = seconds_per_call(eager, budget)
    torch.manual_seed(0)
    compiled = program(torch, torch.compile)
    first = seconds_of(compiled, 1)
    compiled()
    compiled_seconds = seconds_per_call(compiled, budget)
    gc.collect()
    ratio = f"{eager_seconds / compiled_seconds:.2f}x"
    return [program.__name__, readable(eager_seconds), readable(compiled_seconds), ratio, readable(first)]


def main() -> None:
    parser = argparse.ArgumentParser(description="Times small programs eagerly and compiled.")
    parser.add_argument("names", nargs="*", help="only programs whose names hold one of these")
    parser.add_argument("--library", default="minitorch_compile", help="the module with PyTorch's names")
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each measurement")
    options = parser.parse_args()
    torch = importlib.import_module(options.library)
    print(f"{'program':<24}{'eager':>10}{'compiled':>10}{'faster':>9}{'first call':>12}")
    for program in PROGRAMS:
        if not options.names or any(name in program.__name__ for name in options.names):
            name, eager, compiled, ratio, first = measure(torch, program, options.seconds)
            print(f"{name:<24}{eager:>10}{compiled:>10}{ratio:>9}{first:>12}", flush=True)


if __name__ == "__main__":
    main()
