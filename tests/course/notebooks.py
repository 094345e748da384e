"""What the tests of the course share: the author's tools, and judging without starting a process for each answer."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from minitorch_compile.course.checking.check_process import result_of, unjudged
from minitorch_compile.course.checking.check_worker import events
from minitorch_compile.course.checking.exercise import Exercise, NotWritten
from minitorch_compile.course.checking.result import Result

ROOT = Path(__file__).resolve().parents[2]
AUTHORING = ROOT / "authoring" / "exercises"


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


def judged_here(exercise: Exercise, cells: Sequence[str]) -> Result:
    """As `check` judges it, but in this process: for answers known to end."""
    try:
        (submission,) = exercise.submissions(cells)
    except NotWritten as problem:
        return unjudged(exercise, str(problem))
    return result_of(exercise, list(events(exercise, submission.job)), "end")
