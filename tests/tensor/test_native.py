"""Machine code on disk is named by what it was compiled for, in whatever order that was."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import minitorch_compile

FUNCTION = """
from minitorch_compile.tensor.cpu.native import native


@native
def double(x):
    return x + x
"""
USE = """
import sys
import numpy as np
from doubling import double

for dtype in sys.argv[1:]:
    assert double(np.ones(3, dtype)).dtype == dtype
"""


def files_after(folder: Path, *dtypes: str) -> set[str]:
    """What is on disk after a process has compiled for these dtypes, in this order."""
    shutil.rmtree(folder / "__pycache__", ignore_errors=True)
    environment = {**os.environ, "PYTHONPATH": str(Path(minitorch_compile.__file__).parents[1])}
    subprocess.run([sys.executable, "use.py", *dtypes], cwd=folder, env=environment, check=True)
    return {path.name for path in (folder / "__pycache__").glob("*.nbc")}


def test_a_files_name_follows_from_the_types(tmp_path):
    (tmp_path / "doubling.py").write_text(FUNCTION)
    (tmp_path / "use.py").write_text(USE)
    both = files_after(tmp_path, "float32", "float64")
    assert len(both) == 2
    assert files_after(tmp_path, "float64") < both
