"""A GPU's memory at its limits, and copies from pinned memory.

    python -m benchmarks.cuda_device.memory --out memory.json

What must hold is asserted; what comes back are figures.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import minitorch_compile as torch

CUDA = "cuda"
GIB = 1 << 30


def works() -> bool:
    """Whether the process still computes and learns on the GPU."""
    model = torch.nn.Linear(64, 64).to(CUDA)
    model(torch.ones(8, 64, device=CUDA)).sum().backward()
    return bool(
        (torch.ones(1000, device=CUDA) + 1).sum().item() == 2000 and model.weight.grad.sum().item() == 64 * 8 * 64
    )


def refused(allocate: Callable[[], Any]) -> str:
    """The first line of the error."""
    try:
        allocate()
    except torch.cuda.OutOfMemoryError as error:
        return str(error).split(". ")[0]
    raise AssertionError("there was memory")


def at_the_limit() -> dict[str, Any]:
    """More than there is, once in one piece and once in many; then less again."""
    total = torch.cuda.mem_get_info()[1]
    said = refused(lambda: torch.empty(2 * total, dtype=torch.uint8, device=CUDA))
    assert works()
    held: list[Any] = []
    refused(lambda: [held.append(torch.empty(4 * GIB, dtype=torch.uint8, device=CUDA)) for _ in range(total // GIB)])
    filled = len(held)
    held.pop()  # the process goes on in what is left
    assert works()
    held.clear()
    large = torch.zeros(filled * 2 * GIB, dtype=torch.uint8, device=CUDA)  # what was split up serves as a whole
    assert large[-1].item() == 0 and works()
    return {"said": said, "blocks of 4 GiB before it was full": filled}


def fraction() -> str:
    """A limit of the process's own."""
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction(0.1)
    said = refused(lambda: torch.empty(total // 5, dtype=torch.uint8, device=CUDA))
    assert works()
    torch.cuda.set_per_process_memory_fraction(1.0)
    torch.empty(total // 5, dtype=torch.uint8, device=CUDA)
    return said


def without_cache() -> dict[str, Any]:
    """In a process of its own: freed memory is the driver's at once."""
    environment = dict(os.environ, MTC_NO_CUDA_MEMORY_CACHING="1")
    command = [sys.executable, "-m", "benchmarks.cuda_device.memory", "--uncached"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"without the cache: {done.stderr[-800:]}")
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def uncached() -> dict[str, Any]:
    torch.zeros(1024, dtype=torch.uint8, device=CUDA)  # its kernel takes memory, too, when it is loaded
    assert works()
    before = torch.cuda.mem_get_info()[0]
    x = torch.zeros(GIB, dtype=torch.uint8, device=CUDA)
    taken = before - torch.cuda.mem_get_info()[0]
    del x
    torch.cuda.synchronize()
    left = before - torch.cuda.mem_get_info()[0]
    assert taken >= GIB and left < GIB // 50 and works(), (taken, left)
    return {"bytes taken by a tensor of a GiB": taken, "left when it is freed": left}


def copies() -> dict[str, float]:
    """GiB a second, and which part of a copy the program waits for."""
    plain = torch.ones(GIB // 4, dtype=torch.float32)
    began = time.perf_counter()
    pinned = plain.pin_memory()
    pinning = time.perf_counter() - began
    figures = {"seconds to pin a GiB": pinning}
    there = pinned.to(CUDA)
    ways: dict[str, Callable[[], Any]] = {
        "plain to GPU": lambda: plain.to(CUDA, non_blocking=True),
        "pinned to GPU": lambda: pinned.to(CUDA, non_blocking=True),
        "GPU to pinned": lambda: there.to("cpu", non_blocking=True),
        "GPU to plain": lambda: there.to("cpu"),
    }
    for name, copy in ways.items():
        for _ in range(2):  # the first one asks for memory
            torch.cuda.synchronize()
            began = time.perf_counter()
            came = copy()
            returned = time.perf_counter() - began
            torch.cuda.synchronize()
            seconds = time.perf_counter() - began
            assert came[0].item() == 1 and came[-1].item() == 1
            del came
        figures[f"{name}, GiB/s"] = 1 / seconds
        figures[f"{name}, waits"] = returned / seconds
    assert figures["pinned to GPU, waits"] < 0.2 and figures["GPU to pinned, waits"] < 0.2, figures
    return figures


PARTS: dict[str, Callable[[], Any]] = {
    "copies": copies, "at the limit": at_the_limit, "fraction": fraction, "without cache": without_cache,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="A GPU's memory at its limits.")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--uncached", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.uncached:
        print(json.dumps(uncached()))
        return
    found = {}
    for name, part in PARTS.items():
        found[name] = part()
        print(f"{name}: {found[name]}", flush=True)
    if given.out:
        given.out.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
