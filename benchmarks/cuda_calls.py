"""What an operation on a small tensor costs the host, its launch included, eagerly and compiled.

    python -m benchmarks.cuda_calls           on a GPU
    python -m benchmarks.cuda_calls --torch   the same with PyTorch, in a process of its own

Each row is microseconds for a call; nobody waits for the GPU, which is quicker than the host here.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

from benchmarks.timing import seconds_per_call


def rows(torch: Any, compiles: bool) -> dict[str, Callable[[], object]]:
    """What is timed, by name."""
    x, y = torch.ones(4, 4, device="cuda"), torch.ones(4, 4, device="cuda")

    def several(x: Any) -> Any:
        return (torch.softmax(x * 2, 1) + 1).tanh().sum(1)

    timed: dict[str, Callable[[], object]] = {
        "x + y": lambda: x + y,
        "exp": lambda: x.exp(),
        "softmax": lambda: torch.softmax(x, 1),
        "five operations": lambda: several(x),
    }
    if compiles:
        compiled = torch.compile(several)
        timed["the five, compiled"] = lambda: compiled(x)
    return timed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="time PyTorch")
    peer = parser.parse_args().torch
    torch = importlib.import_module("torch" if peer else "minitorch_compile")
    print(torch.cuda.get_device_name(), torch.__name__, torch.__version__)
    for name, run in rows(torch, compiles=not peer).items():
        print(f"{name:<20} {1e6 * seconds_per_call(run, 0.3):8.2f} us")
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
