"""Copies the exercises into work/, where they are the learner's: a file that the learner changed is never touched.

work/.handed_out.json remembers what was handed out. A copy that still equals it is replaced when the exercise
is updated; a copy that differs is kept, and the learner is told that a newer version exists.
"""

import hashlib
import json
import shutil
from pathlib import Path

RECORD = ".handed_out.json"


def hand_out(exercises: Path, work: Path) -> list[str]:
    """Brings work/ up to date; returns one line for each file that came, changed, or was kept in an older version.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "exercises").mkdir()
    >>> _ = (folder / "exercises" / "01_strides.ipynb").write_text("a stub")
    >>> hand_out(folder / "exercises", folder / "work")
    ['work/01_strides.ipynb: new']
    >>> _ = (folder / "work" / "01_strides.ipynb").write_text("a stub, solved")
    >>> hand_out(folder / "exercises", folder / "work")
    []
    """
    work.mkdir(exist_ok=True)
    handed_out = read_record(work)
    lines = []
    for exercise in sorted(exercises.glob("*.ipynb")):
        copy = work / exercise.name
        fate = decide(exercise, copy, handed_out.get(exercise.name))
        if fate in ("new", "updated"):
            shutil.copyfile(exercise, copy)
            handed_out[exercise.name] = digest(exercise)
        if fate != "unchanged":
            lines.append(f"{work.name}/{exercise.name}: {fate}")
    (work / RECORD).write_text(json.dumps(handed_out, indent=1) + "\n", encoding="utf-8")
    return lines


def decide(exercise: Path, copy: Path, handed_out: str | None) -> str:
    """What becomes of one copy, in words for the learner; `handed_out` is the digest of what was given last."""
    if not copy.exists():
        return "new"
    if digest(exercise) in (handed_out, digest(copy)):
        return "unchanged"
    if digest(copy) == handed_out:
        return "updated"
    return "yours is kept; the exercise has a newer version, which comes when you rename or delete yours"


def protect(folder: Path) -> None:
    """Makes generated notebooks read-only: Lab runs them, and no save becomes a conflict at the next update."""
    for notebook in folder.glob("*.ipynb"):
        notebook.chmod(notebook.stat().st_mode & ~0o222)


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    for line in hand_out(root / "exercises", root / "work") or ["work/ is up to date"]:
        print(line)
    print("check an answer with `make grade`, or in any editor that runs notebooks; what is next: `make progress`")


def read_record(work: Path) -> dict[str, str]:
    """What was handed out; nothing if that can't be read: then a copy that differs counts as the learner's."""
    try:
        record = json.loads((work / RECORD).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        print(f"note: {work.name}/{RECORD} can't be used ({error}); it is made anew")
        return {}
    return record if isinstance(record, dict) else {}


if __name__ == "__main__":
    main()
