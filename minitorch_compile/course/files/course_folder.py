"""Where the course lies on disk: the folder with `exercises/`, in which the learner's copies are kept under `work/`."""

from __future__ import annotations

from pathlib import Path


def course_folder(start: Path | None = None) -> Path:
    """The nearest folder from `start` (default: the current one) upwards that has exercises, or FileNotFoundError."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "exercises").is_dir() and (folder / "notebooks").is_dir():
            return folder
    raise FileNotFoundError(f"{here} is not inside the course: no folder above it has exercises/ and notebooks/")


def work_folder(start: Path | None = None) -> Path:
    return course_folder(start) / "work"


def work_folder_or_none() -> Path | None:
    """None outside the course's folders, where nothing of the learner's is kept."""
    try:
        return work_folder()
    except FileNotFoundError:
        return None
