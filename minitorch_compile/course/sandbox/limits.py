"""How much memory, processor time and disk a process may take."""

from __future__ import annotations

import os
import time
from pathlib import Path

FILE_BYTES = 64 * 2**20
SPARE_SECONDS = 100  # more processor time than any exercise takes


def limit_resources(megabytes: int, seconds: float) -> None:
    """Allow this much memory beyond what the imports mapped, and no endless output. Windows has no such limits.

    The parent stops what takes longer than `seconds`; the limit of processor time is for when the parent itself was
    killed: an endless loop would go on for ever.
    """
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    processor_seconds = int(time.process_time() + (seconds + SPARE_SECONDS) * (os.cpu_count() or 1))
    resource.setrlimit(resource.RLIMIT_CPU, (processor_seconds, processor_seconds))
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        mapped = int(statistics.read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        limit = mapped + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
