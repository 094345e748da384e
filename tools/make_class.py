"""A class that never was, to try the grader on: submissions of the whole course, all different, made from a seed.

    python tools/make_class.py /tmp/class                 300 learners, and roster.csv beside their folders
    make class CLASS=/tmp/class/submissions ROSTER=/tmp/class/roster.csv OUT=/tmp/class/graded

Of ten learners two have finished, four are somewhere on the way, three have finished with wrong answers among the right
ones (those that the exercises' sources plant), and of one's files some are damaged. The id says which.

>>> [kind_of(number) for number in range(10)].count("half")
4
>>> DAMAGES["cut off"](b"0123456789"), DAMAGES["empty"](b"0123456789")
(b'01234', b'')
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import build_course  # noqa: E402

KINDS = ("finished", "half", "wrong", "half", "finished", "wrong", "half", "damaged", "wrong", "half")
WRONG_SHARE = 0.15  # of the exercises of one who has wrong answers
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "cut off": lambda data: data[: len(data) // 2],
    "text": lambda data: b"my answers are in the mail",
    "binary": lambda data: bytes(range(256)) * 40,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "no cells": lambda data: b"{}",
    "null": lambda data: b"null",
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a class of submissions to try the grader on.")
    parser.add_argument("folder", type=Path, help="where submissions/ and roster.csv are made")
    parser.add_argument("--learners", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = planted()
    names = [f"{kind_of(number)}-{number:03}" for number in range(options.learners)]
    for name in names:
        hand_in(options.folder / "submissions" / name, name, random.Random(f"{options.seed} {name}"), wrong)
    with (options.folder / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "name"], *([name, name.title()] for name in names)])
    print(f"{len(names)} submissions in {options.folder / 'submissions'}")


def kind_of(number: int) -> str:
    return KINDS[number % len(KINDS)]


def planted() -> dict[str, list[tuple[str, str]]]:
    """By the lesson's name: the wrong answers, each with its exercise's number."""
    sources = sorted((ROOT / "authoring" / "exercises").glob("[0-9][0-9]_*.py"))
    return {path.stem: [(number, cell) for number, cell, _ in build_course.wrong_answers(path)] for path in sources}


def hand_in(folder: Path, name: str, draw: random.Random, wrong: dict[str, list[tuple[str, str]]]) -> None:
    """One learner's notebooks. Who is half way has the lessons up to some point, and no answer beyond it."""
    folder.mkdir(parents=True, exist_ok=True)
    kind = name.partition("-")[0]
    done = draw.randrange(1, len(wrong)) if kind == "half" else len(wrong)
    for place, (lesson, answers) in enumerate(wrong.items()):
        source = ROOT / ("solutions" if place < done else "exercises") / f"{lesson}.ipynb"
        notebook = json.loads(source.read_text(encoding="utf-8"))
        sign(notebook, name)
        if kind == "wrong":
            notebook["cells"] += [code_cell(text) for text in some_wrong(answers, draw)]
        data = json.dumps(notebook, ensure_ascii=False).encode()
        if kind == "damaged" and draw.random() < 0.5:
            data = DAMAGES[draw.choice(sorted(DAMAGES))](data)
        (folder / f"{lesson}.ipynb").write_bytes(data)


def sign(notebook: dict[str, Any], name: str) -> None:
    """No two learners hand in the same text: each code cell that isn't a magic's ends in its learner's name."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and not text.lstrip().startswith("%%"):
            cell["source"] = f"{text}\n# {name}"


def some_wrong(answers: list[tuple[str, str]], draw: random.Random) -> list[str]:
    """At most one for each exercise; a later cell takes the place of the right answer before it."""
    by_number: dict[str, list[str]] = {}
    for number, text in answers:
        by_number.setdefault(number, []).append(text)
    return [draw.choice(texts) for texts in by_number.values() if draw.random() < WRONG_SHARE]


def code_cell(text: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": text}


if __name__ == "__main__":
    main()
