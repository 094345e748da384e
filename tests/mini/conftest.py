"""`import mini` finds the reference solution, or the folder that MINI names: work/mini, as `make mini-test` says.

Of a folder with a part of the files only the tests are collected that ask for no others.
"""

import os
import sys
from pathlib import Path

import pytest

from minitorch_compile.course.mini.stages import files_in, ready, runnable

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("MINI") or HERE.parents[1] / "authoring" / "mini").resolve()
FILES = ready(files_in(FOLDER))
COLLECTED = runnable(HERE, FILES)

if FOLDER.name != "mini":
    raise pytest.UsageError(f"MINI must name a folder called mini, got {FOLDER}")
sys.path.insert(0, str(FOLDER.parent))


if os.environ.get("MINI"):  # of a learner's own package the tests want the right errors, not the reference's words
    raises = pytest.raises

    def raises_of_any_wording(expected, *function, match=None, **options):
        return raises(expected, *function, **options)

    pytest.raises = raises_of_any_wording  # type: ignore[assignment]


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    return True if collection_path.name.startswith("test_") and collection_path not in COLLECTED else None
