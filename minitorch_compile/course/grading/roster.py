"""Who is in a class: a CSV file with a column `id`, or else the folders of the submissions.

`name`, `email` and `folder` (where the submission lies, if it isn't called like the id) are known, too; any other
column is kept for the exports.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as place:
...     path = Path(place, "roster.csv")
...     _ = path.write_text("id,name,Section\\nada,Ada Lovelace,A\\nalan,Alan Turing,B\\n")
...     ada, alan = read_roster(path)
>>> ada.name, ada.folder, alan.others
('Ada Lovelace', 'ada', {'Section': 'B'})
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..files.regular_file import read_text

MOST_BYTES = 2**24
KNOWN = ("id", "name", "email", "folder")


@dataclass(frozen=True)
class Learner:
    """One row. `folder` is a name in the folder of all submissions."""

    id: str
    name: str = ""
    email: str = ""
    folder: str = ""
    others: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str]:
        """First and last name: what stands before the last space, or, in "Lovelace, Ada", after the comma."""
        if "," in self.name:
            last, _, first = self.name.partition(",")
        else:
            first, _, last = self.name.rpartition(" ")
        return first.strip(), last.strip()


def read_roster(path: Path) -> list[Learner]:
    """The learners of a file, in its order. ValueError names the line that can't be used."""
    reader = csv.DictReader(io.StringIO(read_text(path, MOST_BYTES)))
    columns = {(name or "").strip().lower(): name for name in reader.fieldnames or ()}
    if "id" not in columns:
        raise ValueError(
            f"{path.name}: expected a column `id` in its first line, got {', '.join(columns) or 'nothing'}"
        )
    learners: dict[str, Learner] = {}
    for row in reader:
        learner = _learner(row, columns)
        problem = _problem(learner, learners)
        if problem:
            raise ValueError(f"{path.name}, line {reader.line_num}: {problem}")
        learners[learner.id] = learner
    return list(learners.values())


def learners_in(folder: Path) -> list[Learner]:
    """One for each folder in the folder of the submissions."""
    names = sorted(entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    return [Learner(name, folder=name) for name in names]


def _learner(row: Mapping[str, str | None], columns: Mapping[str, str]) -> Learner:
    known = {name: (row.get(columns[name]) or "").strip() for name in KNOWN if name in columns}
    others = {name: (row[name] or "").strip() for key, name in columns.items() if key not in KNOWN}
    return Learner(**{**known, "folder": known.get("folder") or known["id"]}, others=others)


def _problem(learner: Learner, others: Mapping[str, Learner]) -> str:
    if not learner.id:
        return "the id is empty"
    if learner.id in others:
        return f"{learner.id!r} is there twice"
    if Path(learner.folder).name != learner.folder or learner.folder in (".", ".."):
        return f"{learner.folder!r} is not the name of a folder"
    if any(learner.folder == other.folder for other in others.values()):
        return f"the folder {learner.folder!r} is another one's, too"
    return ""
