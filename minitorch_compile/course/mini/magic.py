"""`%%mini guards 05.3`: a notebook cell that is saved as that step of the learner's own package."""

from __future__ import annotations

import sys

from ..files.course_folder import work_folder_or_none
from ..files.regular_file import Unreadable
from .learner import Written, save, title, written_steps
from .reference import step, steps_of
from .step_text import is_stub, problem


def register() -> None:
    """Within IPython: make the magic known, and let `import mini` find work/mini."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None:
        return
    shell.register_magic_function(mini, magic_kind="cell", magic_name="mini")
    work = work_folder_or_none()
    if work is not None and str(work) not in sys.path:
        sys.path.insert(0, str(work))


def mini(line: str, cell: str) -> None:
    """Save the cell, and say so in a line; what can't be a step is told, and nothing is saved."""
    words = line.split()
    if len(words) != 2:
        print(f"%%mini takes a file and a step, as in `%%mini guards 05.3`, got: {line!r}")
        return
    file, number = words
    try:
        print(_saved(file, number, cell))
    except (LookupError, Unreadable) as error:
        print(f"{number} is not saved: {error.args[0]}")
    except OSError as error:
        print(f"{number} is not saved: work/mini can't be written ({error.strerror or error})")


def _saved(file: str, number: str, text: str) -> str:
    known = steps_of(file)
    if number not in known:
        raise LookupError(f"mini/{file}.py has no step {number}; it has {', '.join(known) or 'none'}")
    work = work_folder_or_none()
    if work is None:
        return f"{number} is not saved: this is not inside the course. The check reads the cell all the same"
    if is_stub(text):
        keeps = f": work/mini/{file}.py keeps what it has" if number in written_steps(work, file) else ""
        return f"{title(number)} is still to write in this cell{keeps}"
    if said := problem(text, step(number).depth):
        raise LookupError(said)
    save(work, {number: Written(text.rstrip())})
    missing = [each for each in known if each not in written_steps(work, file)]
    rest = f"still to write there: {', '.join(missing)}" if missing else "that file has all its steps"
    return f"{title(number)} is saved in work/mini/{file}.py; {rest}"
