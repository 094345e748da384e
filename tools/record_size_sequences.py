"""Writes tests/dynamo/size_sequences/counts.json: how often PyTorch compiles each program of the table.

    /path/to/a/python/with/torch tools/record_size_sequences.py

A count is the number of graphs that the backend got after each call.
"""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tests" / "dynamo" / "size_sequences" / "counts.json"


def main() -> None:
    """Runs every program with a counting backend."""
    import torch
    from torch._dynamo.testing import CompileCounter

    sys.path.insert(0, str(ROOT))
    from tests.dynamo.size_sequences.floats import PROGRAMS, SETTINGS

    counts: dict[str, list[int]] = {}
    for name, program in PROGRAMS.items():
        torch._dynamo.reset()
        counter = CompileCounter()
        function, calls = program(torch)
        compiled = torch.compile(function, backend=counter, **SETTINGS[name])
        counts[name] = []
        for arguments in calls:
            compiled(*arguments)
            counts[name].append(counter.frame_count)
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(found)}" for name, found in counts.items())
    FILE.write_text(f'{{\n  "versions": {json.dumps(versions)},\n  "counts": {{\n{lines}\n  }}\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
