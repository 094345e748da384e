"""What several tests of the grader begin with."""

import sys

import pytest

from minitorch_compile.course.mini.package import forget_modules


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with an empty work/, as a fresh clone has it."""
    for folder in ("exercises", "notebooks", "work"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def _the_mini_that_others_imported():
    """Whatever a test makes of a learner's package: tests of `mini` find the one that they began with."""
    before = forget_modules()
    sys.modules.update(before)
    yield
    forget_modules()
    sys.modules.update(before)
