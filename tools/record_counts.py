"""Records how many graphs, of how many operations, PyTorch makes of the functions in tests/dynamo/counted.

Run it with a Python that has torch. The counts go to tests/dynamo/recorded_counts.json, with which
tests/dynamo/test_counts.py compares this package's.

    python tools/record_counts.py            # all
    python tools/record_counts.py containers # only this file
"""

import json
import platform
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.dynamo.counting import RECORDED, counted, load, program_files


def to_text(recorded: dict[str, Any]) -> str:
    """JSON with one line for each function."""
    lines = []
    for file, cases in recorded.items():
        inside = ",\n".join(f'  "{name}": {json.dumps(value)}' for name, value in cases.items())
        lines.append(f'"{file}": {{\n{inside}\n}}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(names: list[str]) -> None:
    import torch

    recorded = json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}
    for file in program_files():
        if not names or file.stem in names:
            recorded[file.stem] = {case.name: counted(case, torch) for case in load(file)}
            print(f"{file.stem:20} {len(recorded[file.stem])} functions")
    known = {file.stem: recorded[file.stem] for file in program_files()}
    versions = {"torch": torch.__version__, "python": platform.python_version()}
    RECORDED.write_text(to_text({"_versions": versions, **known}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
