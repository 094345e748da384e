"""`mini_map()`: which files and steps of the learner's package are written, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..files.course_folder import work_folder
from ..files.regular_file import Unreadable
from .code_lines import lines_in_step
from .learner import passed_steps, written_steps
from .reference import LINES, reference, steps_of

STATES = ("passed", "written", "borrowed", "missing")


@dataclass(frozen=True)
class FileState:
    """`steps`: the state of each step; `lines`: of code, the learner's and borrowed ones; `problem`: of the file."""

    file: str
    steps: dict[str, str]
    mine: int = 0
    borrowed: int = 0
    problem: str = ""

    @property
    def whole(self) -> bool:
        return not self.problem and "missing" not in self.steps.values()

    def __str__(self) -> str:
        states = [
            f"{state} {' '.join(number for number, found in self.steps.items() if found == state)}"
            for state in STATES
            if state in self.steps.values()
        ]
        return f"  {self.file + '.py':<16} {self.mine:>4} {self.borrowed:>4}   {self.problem or '; '.join(states)}"


def mini_map() -> None:
    """Print, for each file of `mini`, which steps are yours, which are borrowed, which are missing."""
    print(table(file_states(work_folder())))


def file_states(work: Path) -> list[FileState]:
    """In the order in which the course writes the files; those that are given as a whole are left out."""
    passed = passed_steps(work)
    return [_state(work, file, passed) for file in reference() if steps_of(file)]


def _state(work: Path, file: str, passed: dict[str, str]) -> FileState:
    try:
        written = written_steps(work, file)
    except Unreadable as problem:
        return FileState(file, dict.fromkeys(steps_of(file), "missing"), problem=str(problem))
    steps = dict.fromkeys(steps_of(file), "missing")
    for number, each in written.items():
        steps[number] = "borrowed" if each.borrowed else "passed" if number in passed else "written"
    borrowed = sum(lines_in_step(each.text) for each in written.values() if each.borrowed)
    return FileState(file, steps, sum(lines_in_step(each.text) for each in written.values()) - borrowed, borrowed)


def table(states: list[FileState]) -> str:
    mine, borrowed = sum(state.mine for state in states), sum(state.borrowed for state in states)
    head = f"mini: {mine:,} lines of code are yours, {borrowed:,} are borrowed, of at most {LINES:,}"
    return "\n".join([head, f"  {'file':<16} {'own':>4} {'lent':>4}   steps", *map(str, states)])
