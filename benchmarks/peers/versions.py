"""What a run's figures depend on: processor, sources, and the version of every part of both libraries.

>>> sorted(of_machine())
['commit', 'cores', 'date', 'processor', 'system']
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

PARTS = ("numpy", "numba", "llvmlite", "scipy", "numba-cuda", "triton")


def of_machine() -> dict[str, str]:
    """Of the machine and of these sources."""
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "processor": processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": platform.platform(),
        "commit": first_line("git", "describe", "--always", "--dirty"),
    }


def of_parts() -> dict[str, str]:
    """Of what this process's library is made of."""
    found = {"python": platform.python_version()}
    for name in PARTS:
        with suppress(importlib.metadata.PackageNotFoundError):  # a part that this library doesn't have
            found[name] = importlib.metadata.version(name)
    found["c++"] = first_line("c++", "--version")
    return found


def processor() -> str:
    """The processor's name, as the system says it.

    >>> processor() != ""
    True
    """
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def first_line(*command: str) -> str:
    """The first line that a command prints, "" where there is no such command."""
    if not shutil.which(command[0]):
        return ""
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return (said.splitlines() or [""])[0]
