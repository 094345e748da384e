"""What launching costs the host, and small training steps: launch by launch, and as CUDA graphs.

    python -m benchmarks.cuda_graphs           on a GPU
    python -m benchmarks.cuda_graphs --torch   the same with PyTorch, in a process of its own

Host times are of calls that nobody waits for, few enough that the GPU's queue isn't full; a step is timed over many of
them, the GPU included. Optimizers step 50 parameters of 64 x 64.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

Timed = Callable[[], object]


def host_time(torch: Any, run: Timed, calls: int = 20, rounds: int = 15) -> float:
    """Microseconds of the host for a call: the median over rounds, each of a few calls into an empty queue."""
    return median_time(torch, run, calls, rounds, lambda: None)


def whole_time(torch: Any, run: Timed, calls: int = 50, rounds: int = 9) -> float:
    """Microseconds for a call, what it does on the GPU included."""
    return median_time(torch, run, calls, rounds, torch.cuda.synchronize)


def median_time(torch: Any, run: Timed, calls: int, rounds: int, end: Timed) -> float:
    """Microseconds for a call: the median over rounds, each of which begins with an idle GPU and ends with `end()`."""
    for _ in range(10):
        run()
    found = []
    for _ in range(rounds):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(calls):
            run()
        end()
        found.append((time.perf_counter() - start) / calls)
    torch.cuda.synchronize()
    return 1e6 * statistics.median(found)


def twenty(torch: Any) -> Callable[[Any], Any]:
    """A function of twenty kernels: each reads rows that other blocks of the one before it have written."""

    def several(x: Any) -> Any:
        for _ in range(20):
            x = x.roll(1, 0).softmax(1)
        return x

    return several


def step_of(torch: Any, mode: str | None, whole: bool, optimizer: str = "AdamW") -> Timed:
    """A training step of a small network at batch 64: plain, its model compiled, or all of it."""
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)).cuda()
    adam = getattr(torch.optim, optimizer)(model.parameters(), lr=1e-3)
    x, y = torch.randn(64, 784, device="cuda"), torch.randint(10, (64,), device="cuda")
    run = model if whole or mode is None else torch.compile(model, mode=mode)

    def step() -> Any:
        adam.zero_grad()
        loss = nn.functional.cross_entropy(run(x), y)
        loss.backward()
        adam.step()
        return loss

    return torch.compile(step, mode=mode) if whole else step


def optimizer_step(torch: Any, name: str, **options: Any) -> Timed:
    """A step of an optimizer with 50 parameters."""
    parameters = [torch.randn(64, 64, device="cuda", requires_grad=True) for _ in range(50)]
    for p in parameters:
        p.grad = torch.randn(64, 64, device="cuda")
    made = getattr(torch.optim, name)(parameters, lr=1e-3, **options)
    return lambda: made.step()


def recorded(torch: Any) -> Timed:
    """Twenty kernels in a CUDAGraph."""
    x, several = torch.ones(64, 64, device="cuda"), twenty(torch)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        several(x)
    torch.cuda.synchronize()
    made = torch.cuda.CUDAGraph()
    with torch.cuda.graph(made):
        several(x)
    return made.replay


def rows(torch: Any) -> dict[str, Callable[[], float]]:
    """What is timed, by name; each row makes what it needs."""
    x = torch.ones(64, 64, device="cuda")

    def on_x(mode: str) -> float:
        compiled = torch.compile(twenty(torch), mode=mode)
        return host_time(torch, lambda: compiled(x))

    def stepped(mode: str | None, whole: bool) -> float:
        return whole_time(torch, step_of(torch, mode, whole))

    def optimized(name: str, **options: Any) -> float:
        return whole_time(torch, optimizer_step(torch, name, **options))

    return {
        "host: 20 kernels, compiled": partial(on_x, "default"),
        "host: 20 kernels, reduce-overhead": partial(on_x, "reduce-overhead"),
        "host: CUDAGraph.replay": lambda: host_time(torch, recorded(torch)),
        "step: plain": partial(stepped, None, False),
        "step: default": partial(stepped, "default", False),
        "step: reduce-overhead": partial(stepped, "reduce-overhead", False),
        "whole step: default": partial(stepped, "default", True),
        "whole step: reduce-overhead": partial(stepped, "reduce-overhead", True),
        "host: whole step, reduce-overhead": lambda: host_time(torch, step_of(torch, "reduce-overhead", True)),
        "optimizer: SGD, momentum": partial(optimized, "SGD", momentum=0.9),
        "optimizer: Adam": partial(optimized, "Adam"),
        "optimizer: AdamW": partial(optimized, "AdamW"),
        "optimizer: AdamW, fused": partial(optimized, "AdamW", fused=True),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--torch", action="store_true", help="time PyTorch")
    parser.add_argument("only", nargs="*", help="rows whose name has one of these in it")
    asked = parser.parse_args()
    torch = importlib.import_module("torch" if asked.torch else "minitorch_compile")
    print(torch.cuda.get_device_name(), torch.__name__, torch.__version__)
    chosen = {name: run for name, run in rows(torch).items() if not asked.only or any(o in name for o in asked.only)}
    for name, run in chosen.items():
        start = time.perf_counter()
        try:
            took = f"{run():10.1f} us"
        except (
            RuntimeError,
            TypeError,
            AttributeError,
            IndexError,
        ) as error:  # a row that a library can't run is a row of the table
            took = f"{type(error).__name__}: {error}"[:300]
        print(f"{name:<40} {took}   ({time.perf_counter() - start:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
