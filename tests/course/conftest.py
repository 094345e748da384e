"""What several tests of the grader begin with."""

import pytest


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder with an empty work/, as a fresh clone has it."""
    for folder in ("exercises", "notebooks", "work"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
