"""Build the course's notebooks from authoring/.

`tools/build_course.py [--check [--execute] | --exercises | --refresh] [NN ...]`

    authoring/lessons/NN_name.py     ->  notebooks/NN_name.ipynb   executed, with pictures
    authoring/exercises/NN_name.py   ->  exercises/NN_name.ipynb   stubs and check cells
                                     ->  solutions/NN_name.ipynb   the same, solved
    authoring/mini/*.py              ->  solutions/mini/NN/*.py    the files of `mini` that lesson NN adds
    the lessons' titles and times    ->  README.md                 the list of lessons

A rebuild gives the same bytes. What a machine decides (times, addresses) is confined to lesson cells tagged `varies`: a
rebuild keeps the committed outputs of such a cell as long as its source is the same, and `--check --execute` doesn't
compare them.

Cells of an exercise source are tagged: none (in both notebooks), `stub` (exercise only), `solution` (solution only),
`wrong` (neither: a planted wrong answer; `says="..."` is part of what it must be told, `before="3.13"` if later Pythons
make it right). Lines between BEGIN SOLUTION
and END SOLUTION become a `raise` in the stub. A cell with `step="05.3"` is a step of `mini`: `step_cells.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import textwrap
from pathlib import Path

# A grammar of web addresses, which notebooks need not: making its parser takes longer than all other imports here.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

import jupytext  # noqa: E402
import nbformat  # noqa: E402
from nbformat import NotebookNode  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from step_cells import given_after, given_before, opening_cell, reference_cell, wrong_cell  # noqa: E402
from step_uses import box  # noqa: E402

from minitorch_compile.course.checking.lessons import find_exercise  # noqa: E402
from minitorch_compile.course.lesson_minutes import lesson_time  # noqa: E402
from minitorch_compile.course.mini.reference import all_steps, reference  # noqa: E402
from minitorch_compile.course.mini.sections import whole  # noqa: E402

SOLUTION = re.compile(r"^( *)### BEGIN SOLUTION\n.*?^ *### END SOLUTION\n?", re.MULTILINE | re.DOTALL)
SOLUTION_MARK = re.compile(r"^ *### (?:BEGIN|END) SOLUTION\n?", re.MULTILINE)
EXERCISE_HEADING = re.compile(r"^## (\d\d\.\d+) .*$", re.MULTILINE)
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the course's notebooks from authoring/.")
    parser.add_argument("lessons", nargs="*", help="numbers such as 01; default: all")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a notebook is out of date")
    parser.add_argument("--execute", action="store_true", help="with --check: run the lessons, too, and compare")
    parser.add_argument("--exercises", action="store_true", help="leave the lessons, which are run, as they are")
    parser.add_argument("--refresh", action="store_true", help="take new outputs also for cells tagged varies")
    options = parser.parse_args(arguments)
    stale = []
    for source in selected(ROOT / "authoring" / "exercises", options.lessons):
        for folder, make in (("exercises", exercise_notebook), ("solutions", solution_notebook)):
            stale += settle(ROOT / folder / f"{source.stem}.ipynb", text_of(make(source)), options.check)
        stale += settle_mini(source.name[:2], options.check)
    for source in [] if options.exercises else selected(ROOT / "authoring" / "lessons", options.lessons):
        stale += settle_lesson(source, ROOT / "notebooks" / f"{source.stem}.ipynb", options)
    readme = ROOT / "README.md"
    stale += settle(readme, with_lesson_list(readme.read_text(encoding="utf-8")), options.check)
    for reason in stale:
        print(reason, file=sys.stderr)
    if options.check and stale:
        print("Build them with: make course", file=sys.stderr)
    return int(options.check and bool(stale))


def with_lesson_list(page: str) -> str:
    """README's text, its paragraph "Lessons: ..." made of the lessons' titles and of the time that they take."""
    entries = []
    for source in selected(ROOT / "authoring" / "lessons", []):
        time = lesson_time(source)
        entries.append(f"[{source.name[:2]}](notebooks/{source.stem}.ipynb) {time.title} ({time})")
    about = "In brackets is how long it takes, about: to read, and for the exercises."
    paragraph = "Lessons: " + " · ".join(entries) + f". {about}"
    filled = textwrap.fill(paragraph, 140, break_long_words=False, break_on_hyphens=False)
    return re.sub(r"^Lessons: .*?(?=\n\n)", lambda _: filled, page, count=1, flags=re.MULTILINE | re.DOTALL)


def selected(folder: Path, numbers: list[str]) -> list[Path]:
    sources = sorted(folder.glob("[0-9][0-9]_*.py"))
    unknown = set(numbers) - {source.name[:2] for source in sources}
    if unknown and folder.name == "lessons":
        raise SystemExit(f"no lesson {', '.join(sorted(unknown))} in {folder.relative_to(ROOT)}")
    return [source for source in sources if not numbers or source.name[:2] in numbers]


def settle(path: Path, text: str, check: bool) -> list[str]:
    """Write the notebook, or with `check` only say whether it is out of date."""
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return []
    if check:
        return [f"{path.relative_to(ROOT)} is out of date"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # `make lab` made it read-only
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path.relative_to(ROOT)}")
    return []


# --- exercises and solutions
# -----------------------------------------------------------------------------------------------


def exercise_notebook(source: Path) -> NotebookNode:
    """What the learner opens: stubs, no solutions."""
    cells = [cell for cell in source_cells(source) if not tags(cell) & {"solution", "wrong"}]
    for cell in cells:
        step = cell.metadata.get("step")
        cell.source = EXERCISE_HEADING.sub(with_budget, opening_cell(step, cell.source) if step else stub(cell.source))
    return notebook(source.stem, with_given_parts(cells))


def solution_notebook(source: Path) -> NotebookNode:
    """The exercise with the solutions in place."""
    cells = [cell for cell in source_cells(source) if not tags(cell) & {"stub", "wrong"}]
    for cell in cells:
        step = cell.metadata.get("step")
        solution = reference_cell(step) if step else SOLUTION_MARK.sub("", cell.source).rstrip()
        cell.source = EXERCISE_HEADING.sub(with_budget, solution)
    return notebook(source.stem, with_given_parts(cells))


def with_given_parts(cells: list[NotebookNode]) -> list[NotebookNode]:
    """The cells; before each step what the file has there besides and what the step uses, to be read."""
    shown = []
    for cell in cells:
        step = cell.metadata.get("step")
        before, after = (f"{given_before(step)}\n\n{box(step)}".strip(), given_after(step)) if step else ("", "")
        around = [[nbformat.v4.new_markdown_cell(text)] if text else [] for text in (before, after)]
        shown += [*around[0], cell, *around[1]]
    return shown


def wrong_answers(source: Path) -> list[tuple[str, str, str]]:
    """(exercise number, the cell, what it must be told) of each planted answer that is wrong under this Python."""
    found, number = [], ""
    for cell in source_cells(source):
        heading = EXERCISE_HEADING.search(cell.source) if cell.cell_type == "markdown" else None
        number = heading.group(1) if heading else number
        if "wrong" in tags(cell) and not came_right(cell.metadata.get("before")):
            step = cell.metadata.get("step")
            found.append((number, wrong_cell(step, cell.source) if step else cell.source, cell.metadata["says"]))
    return found


def came_right(version: str | None) -> bool:
    """Whether an answer that is wrong before that Python is right under this one.

    >>> came_right("3.2"), came_right("3.99"), came_right(None)
    (True, False, False)
    """
    return version is not None and sys.version_info >= tuple(map(int, version.split(".")))


def stub(source: str) -> str:
    """The cell with its solution taken out."""
    return SOLUTION.sub(lambda match: f'{match.group(1)}raise NotImplementedError("your code here")\n', source).rstrip()


def with_budget(heading: re.Match[str]) -> str:
    exercise = find_exercise(heading.group(1))
    points = f"{exercise.points} points" if exercise.points != 1 else "1 point"
    return f'{heading.group(0)}\n\n*{exercise.minutes} minutes · {points} · stuck? `hint("{exercise.number}")`*'


# --- what a lesson adds to mini
# ------------------------------------------------------------------------------------------------------------------


def settle_mini(lesson: str, check: bool) -> list[str]:
    """solutions/mini/NN: the files whose first step is one of the lesson's, whole."""
    folder = ROOT / "solutions" / "mini" / lesson
    numbers = {file: number for number, file in reversed(all_steps().items())}
    files = {f"{file}.py" for file, number in numbers.items() if number.partition(".")[0] == lesson}
    stale = []
    for path in sorted(folder.glob("*.py")):
        if path.name not in files:
            stale.append(f"{path.relative_to(ROOT)} is a file of another lesson now")
            if not check:
                path.unlink()
    for name in sorted(files):
        stale += settle(folder / name, whole(reference()[name.removesuffix(".py")]), check)
    return stale


# --- lessons
# ---------------------------------------------------------------------------------------------------------------


def settle_lesson(source: Path, path: Path, options: argparse.Namespace) -> list[str]:
    """Build a lesson, or with `--check` compare: the sources always, the outputs with `--execute`."""
    from lesson_outputs import differences, keep_varying_outputs, run
    from stored_pictures import store_pictures

    fresh = notebook(source.stem, source_cells(source))
    committed = nbformat.read(path, as_version=4) if path.exists() else None
    name = path.relative_to(ROOT)
    if options.check and (committed is None or sources(fresh) != sources(committed)):
        return [f"{name} is out of date"]
    if options.check and not options.execute:
        return []
    run(fresh, ROOT)
    if options.check:
        return [f"{name}: {difference}" for difference in differences(committed, fresh)]
    if not options.refresh:
        keep_varying_outputs(committed, fresh)
    store_pictures(fresh, committed)
    return settle(path, text_of(fresh), check=False)


def sources(node: NotebookNode) -> list[tuple[str, str]]:
    return [(cell.id, cell.source) for cell in node.cells]


# --- notebooks as text
# ------------------------------------------------------------------------------------------------------


def source_cells(source: Path) -> list[NotebookNode]:
    return jupytext.read(source, fmt="py:percent").cells


def tags(cell: NotebookNode) -> set[str]:
    return set(cell.metadata.get("tags", []))


def notebook(name: str, cells: list[NotebookNode]) -> NotebookNode:
    """A notebook with ids that depend on the cells' contents only, so that adding a cell changes no other."""
    node = nbformat.v4.new_notebook(metadata=METADATA)
    seen: dict[str, int] = {}
    for cell in cells:
        digest = hashlib.sha256(f"{name}\0{cell.cell_type}\0{cell.source}".encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        cell.id = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"
        cell.metadata = NotebookNode({key: value for key, value in cell.metadata.items() if key == "tags"})
    node.cells = cells
    return node


def text_of(node: NotebookNode) -> str:
    nbformat.validate(node)
    return nbformat.writes(node) + "\n"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tools"))
    sys.exit(main())
