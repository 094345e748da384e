"""Which of a machine's GPUs a process sees, when several processes take one each."""

from __future__ import annotations

import os
import subprocess
from functools import cache


@cache
def count() -> int:
    """How many GPUs the driver lists; 0 without one."""
    try:
        done = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True)
    except FileNotFoundError:
        return 0
    return sum(line.startswith("GPU ") for line in done.stdout.splitlines())


def environment_of(job: int) -> dict[str, str]:
    """This process's environment for the process of that number, with one GPU if there are several."""
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
    names = gpus if gpus != [""] else list(map(str, range(count())))
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # the processes are as many as the cores
    return {**os.environ, **threads, **({"CUDA_VISIBLE_DEVICES": names[job % len(names)]} if len(names) > 1 else {})}
