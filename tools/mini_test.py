"""`make mini-test`: how far the learner's own package has come, and the tests of the files that are whole.

A file with a missing step is listed, and its tests are left out: they don't fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from minitorch_compile.course.mini.mini_map import file_states, table  # noqa: E402
from minitorch_compile.course.mini.reference import steps_of  # noqa: E402
from minitorch_compile.course.mini.stages import files_in, ready  # noqa: E402


def main(root: Path = ROOT) -> int:
    work = root / "work"
    states = file_states(work)
    files = [file for file in ready(files_in(work / "mini")) if steps_of(file)]
    print(table(states))
    print(f"not tested yet: {', '.join(state.file for state in states if state.file not in files) or 'nothing'}")
    if not files:
        print('No file has all its steps so far. borrow("01") in a notebook takes the reference\'s of a lesson.')
        return 0
    print(f"tested: {', '.join(files)}", flush=True)
    options = ("-q", "--tb=short", "-p", "no:cacheprovider", "-o", "addopts=")  # doctests are the reference's business
    command = [sys.executable, "-m", "pytest", *options, "tests/mini"]
    environment = {**os.environ, "MINI": str(work / "mini")}
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
