"""The bytes that the memory report promises are those that a call takes from the system."""

from pathlib import Path

import numpy as np
import pytest

import minitorch_compile as torch
from minitorch_compile.compiler import inspect

PEAK_IS_RESET = Path("/proc/self/clear_refs")


def resident(field):
    (line,) = (text for text in Path("/proc/self/status").read_text().splitlines() if text.startswith(f"{field}:"))
    return int(line.split()[1]) * 1024


def bytes_taken(call):
    """How far the resident set rises above what it was, at most, while `call` runs."""
    before = resident("VmRSS")
    PEAK_IS_RESET.write_text("5")
    call()
    return resident("VmHWM") - before


@pytest.mark.skipif(not PEAK_IS_RESET.exists(), reason="the peak of resident memory can be measured on Linux only")
def test_the_peak_of_a_call_is_what_the_report_says():
    """Sizes above 32 MiB, which malloc takes from the system and gives back."""

    def program(x, y):
        return torch.cumsum(torch.cumsum(x * 2, 0).t() + y, 0) * torch.cumsum(x, 1).t()

    x, y = (torch.tensor(np.ones((3000, 3000), np.float32)) for _ in range(2))
    memory = inspect(program, x, y).memory
    compiled = torch.compile(program)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        compiled(x, y)
        taken = max(bytes_taken(lambda: compiled(x, y)) for _ in range(2))
    finally:
        torch.set_num_threads(threads)
    promised = memory.peak(threads=1) - memory.arguments
    assert promised > 70_000_000
    assert promised - memory.arena - 4_000_000 < taken < promised + 4_000_000  # the arena may be kept from call to call
