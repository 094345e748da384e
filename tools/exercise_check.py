"""Solves an exercise as a learner does, in JupyterLab with a real browser: first wrongly, then rightly.

Clicks into the cell, types an answer, runs it and the check with Shift+Enter, and reads what the check says. Both
answers are typed into a copy of the sheet in build/clicked/, so nobody's work is touched. Pictures come to
build/browser/. `make browser` runs this after the lesson.

    .venv/bin/python tools/exercise_check.py
"""

import json
import shutil
import time
from pathlib import Path

from browser_check import NOTEBOOK, PICTURES, jupyter_lab
from chromium import Chromium, end

ROOT = Path(__file__).resolve().parent.parent
COURSE = ROOT / "build" / "clicked"
SHEET, NUMBER, POINTS = "01_tensors_strides_views.ipynb", "01.1", 4
WRONG = "def contiguous_strides(sizes):\n    return tuple(1 for size in sizes)"
CONTROL, SHIFT = 2, 8


def prepare() -> str:
    """A course folder with the sheet; the answer that the solution gives."""
    shutil.rmtree(COURSE, ignore_errors=True)
    for folder in ("exercises", "notebooks", "work"):
        (COURSE / folder).mkdir(parents=True)
    shutil.copyfile(ROOT / "exercises" / SHEET, COURSE / "work" / SHEET)
    cells = json.loads((ROOT / "solutions" / SHEET).read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells]
    return texts[texts.index(f'check("{NUMBER}")') - 1]


def cell(number: int) -> str:
    return f"{NOTEBOOK}.content.widgets[{number}]"


def run(page: Chromium, number: int) -> None:
    """Clicks into a cell, presses Shift+Enter and waits until it has run."""
    before = page.evaluate(f"{cell(number)}.model.executionCount || 0")
    page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'center')")
    time.sleep(0.5)  # Lab draws the cell that came into view
    page.click(f"{cell(number)}.node.querySelector('.cm-content')")
    page.press("Enter", 13, SHIFT)
    ran = f"{cell(number)}.model.executionCount > {before} && {cell(number)}.model.executionState == 'idle'"
    page.wait_until(ran, 120, f"end of cell {number}")


def answer(page: Chromium, number: int, text: str) -> str:
    """Types an answer over what a cell has, runs it and the check below; returns what the check says."""
    page.evaluate(f"{NOTEBOOK}.content.scrollToItem({number}, 'center')")
    time.sleep(0.5)
    page.click(f"{cell(number)}.node.querySelector('.cm-content')")
    page.press("a", 65, CONTROL)
    page.type(text)
    run(page, number)
    run(page, number + 1)
    outputs = f"{cell(number + 1)}.model.outputs.toJSON()"
    return str(page.evaluate(f"{outputs}.map(o => [].concat(o.text || '').join('')).join('')"))


def check() -> list[str]:
    """What is wrong with what the checks said."""
    right = prepare()
    PICTURES.mkdir(parents=True, exist_ok=True)
    problems = []
    with jupyter_lab() as address, Chromium() as page:
        page.open(address.format(lesson=f"build/clicked/work/{SHEET}"))
        page.wait_until(f"{NOTEBOOK}.context.isReady", 60, "opened notebook")
        page.wait_until(f"{NOTEBOOK}.sessionContext.session.kernel.status == 'idle'", 60, "idle kernel")
        sources = page.evaluate(f"{NOTEBOOK}.content.widgets.map(each => each.model.sharedModel.getSource())")
        run(page, 1)
        for name, text, points in (("wrong", WRONG, 0), ("right", right, POINTS)):
            said = answer(page, sources.index(f'check("{NUMBER}")') - 1, text)
            (PICTURES / f"answer-{name}.png").write_bytes(page.screenshot())
            print(f"{name}: {said.strip()}\n")
            if f"{points} of {POINTS} points" not in said:
                problems.append(f"the {name} answer was not given {points} of {POINTS} points: {said}")
        problems += [f"the page asked an outside host: {host}" for host in page.hosts - {"127.0.0.1", "localhost"}]
    return problems


if __name__ == "__main__":
    end(check)
