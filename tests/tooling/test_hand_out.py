"""`make lab` gives the learner copies of the exercises and never touches what the learner wrote."""

from pathlib import Path

import pytest
from hand_out import hand_out, protect


@pytest.fixture
def exercises(tmp_path: Path) -> Path:
    folder = tmp_path / "exercises"
    folder.mkdir()
    (folder / "01_strides.ipynb").write_text("stub 1")
    (folder / "02_ops.ipynb").write_text("stub 2")
    return folder


def test_every_exercise_is_copied_once(exercises: Path, tmp_path: Path) -> None:
    assert hand_out(exercises, tmp_path / "work") == ["work/01_strides.ipynb: new", "work/02_ops.ipynb: new"]
    assert (tmp_path / "work" / "02_ops.ipynb").read_text() == "stub 2"
    assert hand_out(exercises, tmp_path / "work") == []


def test_a_changed_copy_is_never_overwritten(exercises: Path, tmp_path: Path) -> None:
    hand_out(exercises, tmp_path / "work")
    mine = tmp_path / "work" / "01_strides.ipynb"
    mine.write_text("solved")
    (exercises / "01_strides.ipynb").write_text("stub 1, second edition")
    (line,) = hand_out(exercises, tmp_path / "work")
    assert mine.read_text() == "solved"
    assert "yours is kept" in line


def test_an_untouched_copy_follows_the_exercise(exercises: Path, tmp_path: Path) -> None:
    hand_out(exercises, tmp_path / "work")
    (exercises / "01_strides.ipynb").write_text("stub 1, second edition")
    assert hand_out(exercises, tmp_path / "work") == ["work/01_strides.ipynb: updated"]
    assert (tmp_path / "work" / "01_strides.ipynb").read_text() == "stub 1, second edition"


def test_a_file_that_was_there_before_the_record_is_kept(exercises: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "01_strides.ipynb").write_text("mine, from elsewhere")
    hand_out(exercises, tmp_path / "work")
    assert (tmp_path / "work" / "01_strides.ipynb").read_text() == "mine, from elsewhere"


def test_a_deleted_copy_comes_back(exercises: Path, tmp_path: Path) -> None:
    hand_out(exercises, tmp_path / "work")
    (tmp_path / "work" / "01_strides.ipynb").unlink()
    assert hand_out(exercises, tmp_path / "work") == ["work/01_strides.ipynb: new"]


def test_a_read_only_exercise_gives_a_writable_copy(exercises: Path, tmp_path: Path) -> None:
    protect(exercises)
    hand_out(exercises, tmp_path / "work")
    assert (exercises / "01_strides.ipynb").stat().st_mode & 0o222 == 0
    assert (tmp_path / "work" / "01_strides.ipynb").stat().st_mode & 0o200


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff", b"null", b"[1]", b"[" * 200_000])
def test_a_damaged_record_is_made_anew_and_no_work_is_lost(exercises: Path, tmp_path: Path, damage: bytes) -> None:
    hand_out(exercises, tmp_path / "work")
    mine = tmp_path / "work" / "01_strides.ipynb"
    mine.write_text("solved")
    (tmp_path / "work" / ".handed_out.json").write_bytes(damage)
    (line,) = hand_out(exercises, tmp_path / "work")
    assert line.startswith("work/01_strides.ipynb: yours is kept") and mine.read_text() == "solved"
