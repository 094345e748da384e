"""`own_mini()`: from here on `import mini` finds a whole package, the learner's where it has passed.

Nothing is written: who has not come so far still has every step to write, and `progress` knows no more than before.
"""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from pathlib import Path

from ..files.course_folder import work_folder_or_none
from .code_lines import lines_in_step
from .compose import composed
from .learner import passed_steps
from .package import imported
from .reference import all_steps, step

_imported = ExitStack()
_texts: list[dict[str, str]] = []  # what is imported: all files, and the learner's steps
atexit.register(_imported.close)


def own_mini(work: Path | None = None) -> dict[str, str]:
    """Say how much of the package is the learner's, and give the text of each file, by its name without `.py`.

    Called again, as when a cell is run again, it imports anew only what has changed: a program whose classes are of one
    package doesn't run on another.
    """
    work = work or work_folder_or_none()
    own = passed_steps(work) if work is not None else {}
    files = composed(own)
    if _texts != [files, own]:
        _imported.close()
        _imported.enter_context(imported(files, own))
        _imported.callback(_texts.clear)
        _texts[:] = files, own
    lines = sum(map(lines_in_step, own.values()))
    print(f"mini: {len(own)} of {len(all_steps())} steps are yours, {lines:,} lines; {_rest_of(own)}")
    return files


def _rest_of(own: dict[str, str]) -> str:
    rest = [number for number in all_steps() if number not in own]
    lines = sum(lines_in_step(step(number).text) for number in rest)
    return f"the other {lines:,} are borrowed" if rest else "nothing is borrowed"
