"""Writes course/mini/torch_lines.json: how many lines of Python PyTorch has for each stage of the stack.

    python tools/count_torch_lines.py /path/to/site-packages/torch

The folder is read as text; this Python needn't have PyTorch. What is counted: `course/mini/stack_lines.py`.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from minitorch_compile.course.mini.stack_lines import STAGES, TORCH_LINES, lines_below


def main(folder: Path) -> None:
    version = re.search(r"^__version__ = '([^'+]+)", (folder / "version.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert version is not None, f"{folder} is no PyTorch: its version.py names no version"
    lines = {stage.name: lines_below(folder, stage.torch, stage.but) for stage in STAGES}
    TORCH_LINES.write_text(json.dumps({"version": version[1], "lines": lines}, indent=1) + "\n", encoding="utf-8")
    print(TORCH_LINES.read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
