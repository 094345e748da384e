"""Eager speed: what an operation costs above NumPy, and two programs beside PyTorch where it is installed.

    python -m benchmarks.eager

The first table is the price of a call: microseconds above the bare NumPy function on 4x4 float32 arrays, without and
with recording for the backward pass. The second has times of a convolution and of a GPT training step; with PyTorch in
the same environment, each library has a process, the two take turns, and the ratio is of medians.
"""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import minitorch_compile
from benchmarks.gpt import training_step
from benchmarks.timing import readable, seconds_of, seconds_per_call

Program = Callable[[], object]


def overheads() -> list[tuple[str, float, float]]:
    """For each operation: its name, and seconds above NumPy without and with grad."""
    torch = minitorch_compile
    x, y, w = torch.randn(4, 4), torch.randn(4, 4), torch.randn(4, 4, requires_grad=True)
    a, b = x.numpy(), y.numpy()
    rows: list[tuple[str, Program, Program, Program]] = [
        ("add", lambda: np.add(a, b), lambda: x + y, lambda: w + y),
        ("mul", lambda: np.multiply(a, b), lambda: x * y, lambda: w * y),
        ("mul by a number", lambda: np.multiply(a, 2.0), lambda: x * 2.0, lambda: w * 2.0),
        ("exp", lambda: np.exp(a), lambda: x.exp(), lambda: w.exp()),
        ("relu", lambda: np.maximum(a, 0), lambda: x.relu(), lambda: w.relu()),
    ]
    result = []
    for name, bare, plain, recorded in rows:
        floor, without, with_grad = (seconds_per_call(f, 0.3) for f in (bare, plain, recorded))
        result.append((name, without - floor, with_grad - floor))
    return result


def convolution(torch: Any) -> Program:
    """conv2d forward and backward: 16x64x32x32, 64 filters of 3x3."""
    torch.manual_seed(0)
    x = torch.randn(16, 64, 32, 32, requires_grad=True)
    weight = torch.randn(64, 64, 3, 3, requires_grad=True)

    def step() -> None:
        torch.nn.functional.conv2d(x, weight, padding=1).sum().backward()
        x.grad = weight.grad = None

    return step


PROGRAMS: list[tuple[str, Callable[[Any], Program]]] = [
    ("conv2d 16x64x32x32, forward and backward", convolution),
    ("training step of a 4-layer GPT, 8x128 tokens", training_step),
]


class Worker:
    """A process with one library and one program, which runs a step whenever it is asked to.

    Two libraries in one process would slow each other down: the threads of each wait for work by spinning.
    """

    def __init__(self, library: str, program: int) -> None:
        command = [sys.executable, "-m", "benchmarks.eager", "--serve", library, str(program)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
        self.step()
        self.step()

    def step(self) -> float:
        """The seconds that a step takes, measured over there."""
        assert self.process.stdin is not None and self.process.stdout is not None
        time.sleep(0.05)  # until the threads of the other process have stopped waiting
        self.process.stdin.write("step\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


def serve(library: str, program: int) -> None:
    """What a worker does."""
    step = PROGRAMS[program][1](importlib.import_module(library))
    for _ in sys.stdin:
        print(seconds_of(step, 1), flush=True)


def medians(libraries: list[str], program: int, rounds: int = 15) -> list[float]:
    """Median seconds of a program on each library; the processes take turns."""
    workers = [Worker(library, program) for library in libraries]
    times = [[worker.step() for worker in workers] for _ in range(rounds)]
    for worker in workers:
        worker.close()
    return [statistics.median(column) for column in zip(*times, strict=True)]


def installed() -> list[str]:
    """This package, and PyTorch where it is installed."""
    return ["minitorch_compile", *(["torch"] if importlib.util.find_spec("torch") is not None else [])]


def main() -> None:
    print(f"{'above NumPy, 4x4':<48}{'without grad':>14}{'with grad':>14}")
    for name, without, with_grad in overheads():
        print(f"{name:<48}{readable(without):>14}{readable(with_grad):>14}")
    libraries = installed()
    print(f"\n{'eager':<48}{'time':>14}" + ("" if len(libraries) < 2 else f"{'PyTorch':>14}{'times its time':>16}"))
    for number, (name, _) in enumerate(PROGRAMS):
        ours, *theirs = medians(libraries, number)
        peer = f"{readable(theirs[0]):>14}{ours / theirs[0]:>15.2f}x" if theirs else ""
        print(f"{name:<48}{readable(ours):>14}{peer}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()
