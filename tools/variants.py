"""Prediction sheets that differ from learner to learner, by a seed: questions whose answers the package computes.

    python tools/variants.py hand-out --roster roster.csv --seed autumn    build/sheets: a notebook for each learner
    python tools/variants.py grade --roster roster.csv --seed autumn       a line for each learner, and points.csv

A sheet asks what the lesson's own prediction exercises ask: strides, sizes and dtypes, compiled versions, gradients,
memory sectors. The seed and the learner's id decide the numbers, so that a sheet and its key can be made again at any
time, and no key is kept. Answers are read as literals: no code of a sheet is run.

>>> sheet = questions("autumn", "ada")
>>> sheet == questions("autumn", "ada"), sheet == questions("autumn", "alan"), len(sheet)
(True, False, 10)
>>> answer_to("torch.zeros(2, 3).t().stride()")
(1, 3)
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import minitorch_compile as torch  # noqa: E402
from minitorch_compile.course.checking.exercise import same  # noqa: E402
from minitorch_compile.course.checking.notebook_file import NotANotebook, code_cells  # noqa: E402
from minitorch_compile.course.grading.class_tables import write_table  # noqa: E402
from minitorch_compile.course.grading.roster import Learner, read_roster  # noqa: E402
from minitorch_compile.cuda_simulator import cuda, simulate  # noqa: E402

OF_EACH_KIND = 2
OPENING = """# Predictions

Each `...` is a question: write what the expression on its left gives, as Python writes it. Nothing here is run; think,
then write. `versions(f, calls)` is how many graphs `torch.compile(f)` has made after calls with tensors of these sizes;
`gradient(f, x)` the derivative of `f` at `x`, a whole number; `sectors(step, first)` how many sectors of 32 bytes one
warp loads where lane `i` reads the float32 number `first + step * i`."""


def main() -> int:
    parser = argparse.ArgumentParser(description="Prediction sheets by seed: hand them out, grade them.")
    parser.add_argument("command", choices=("hand-out", "grade"))
    parser.add_argument("--roster", type=Path, required=True, help="a CSV file with a column `id`")
    parser.add_argument("--seed", required=True, help="any word; another one makes other sheets")
    parser.add_argument("--folder", type=Path, default=Path("build/sheets"), help="where the sheets are: build/sheets")
    options = parser.parse_args()
    learners = read_roster(options.roster)
    if options.command == "hand-out":
        hand_out(learners, options.seed, options.folder)
    else:
        grade(learners, options.seed, options.folder)
    return 0


# ---------------------------------------------------------------------------------------------------- questions


def questions(seed: str, learner: str) -> list[str]:
    """The expressions that one learner is asked for."""
    found: list[str] = []
    for kind in (strides, sizes, versions_asked, gradients, sectors_asked):
        draw = random.Random(f"{seed}\0{learner}\0{kind.__name__}")
        wanted = len(found) + OF_EACH_KIND
        while len(found) < wanted:
            if (question := kind(draw)) not in found:
                found.append(question)
    return found


def strides(draw: random.Random) -> str:
    a, b, c = (draw.randint(2, 6) for _ in range(3))
    view = draw.choice([f"[{a - 1}:]", ".t()", "[:, ::2]", f"[1].expand({c}, {b})", f".reshape({b}, {a})", "[:, 1]"])
    return f"torch.zeros({a}, {b}){view}.stride()"


def sizes(draw: random.Random) -> str:
    a, b, c = (draw.randint(2, 6) for _ in range(3))
    if draw.random() < 0.5:
        return f"tuple((torch.zeros({a}, 1, {c}) * torch.zeros({b}, 1)).shape)"
    kinds = ["int32", "int64", "float16", "bfloat16", "float32", "float64", "bool"]
    left, right = draw.sample(kinds, 2)
    other = draw.choice([f"torch.ones({a}, dtype=torch.{right})", f"torch.ones((), dtype=torch.{right})", "2.5"])
    return f"str((torch.ones({a}, dtype=torch.{left}) + {other}).dtype)"


def versions_asked(draw: random.Random) -> str:
    calls = [draw.choice([2, 3, 4, 7]) for _ in range(draw.randint(2, 5))]
    return f"versions(lambda x: x.sin() + {draw.randint(1, 9)}, {calls})"


def gradients(draw: random.Random) -> str:
    a, b, at = draw.randint(2, 5), draw.randint(2, 9), draw.randint(1, 4)
    formula = draw.choice([f"{a} * x * x + {b} * x", f"x * x * x - {a} * x", f"({a} * x + {b}) * x.detach()"])
    return f"gradient(lambda x: {formula}, {at})"


def sectors_asked(draw: random.Random) -> str:
    return f"sectors({draw.choice([1, 2, 3, 4, 8, 16])}, {draw.choice([0, 0, 1, 4])})"


def versions(function: Callable[..., Any], calls: list[int]) -> int:
    """How many graphs are made."""
    made = []

    def backend(graph: Any, example_inputs: Any) -> Any:
        made.append(graph)
        return graph.forward

    torch.compiler.reset()
    compiled = torch.compile(function, backend=backend)
    for size in calls:
        compiled(torch.ones(size))
    return len(made)


def gradient(function: Callable[..., Any], at: int) -> int:
    """The derivative at a whole number."""
    x = torch.tensor(float(at), requires_grad=True)
    function(x).backward()
    return int(x.grad)


def sectors(step: int, first: int) -> int:
    def reads(x: Any, out: Any, step: Any, first: Any) -> None:
        lane = cuda.threadIdx.x
        out[lane] = x[first + step * lane]

    x, out = np.zeros(first + step * 32, np.float32), np.zeros(32, np.float32)
    counts = simulate(reads, counts=True)[1, 32](x, out, np.int64(step), np.int64(first)).counts
    assert counts is not None, "they were asked for"
    return int(counts.total.load_sectors)


KNOWN = {"torch": torch, "versions": versions, "gradient": gradient, "sectors": sectors}


def answer_to(question: str) -> Any:
    """What happens. The question is one that this file has made."""
    return eval(question, {**KNOWN, "__builtins__": {"tuple": tuple, "str": str}})


# ---------------------------------------------------------------------------------------------------- sheets


def path_of(folder: Path, learner: Learner) -> Path:
    return folder / f"{learner.folder}.ipynb"


def hand_out(learners: list[Learner], seed: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = [learner for learner in learners if not path_of(folder, learner).exists()]  # the others may be filled in
    for learner in made:
        lines = [f"    {question!r}: ...,\n" for question in questions(seed, learner.id)]
        code = "prediction = {\n" + "".join(lines) + "}"
        cells = [nbformat.v4.new_markdown_cell(OPENING), nbformat.v4.new_code_cell(code)]
        for number, cell in enumerate(cells):
            cell.id = f"sheet-{number}"
        nbformat.write(nbformat.v4.new_notebook(cells=cells), path_of(folder, learner))
    there = f"; {len(learners) - len(made)} were there already" if len(made) < len(learners) else ""
    print(f"{len(made)} sheets in {folder}{there}")


def grade(learners: list[Learner], seed: str, folder: Path) -> None:
    rows: list[list[Any]] = [["id", "name", "points", "of", "wrong"]]
    for learner in learners:
        points, wrong = graded(learner, seed, folder)
        rows.append([learner.id, learner.name, points, 5 * OF_EACH_KIND, "; ".join(wrong)])
        print(f"{learner.id}: {points} of {5 * OF_EACH_KIND}  {'; '.join(wrong)}".rstrip())
    write_table(rows, folder / "points.csv")


def graded(learner: Learner, seed: str, folder: Path) -> tuple[int, list[str]]:
    """Points, and what was answered otherwise."""
    try:
        given = predictions(code_cells(path_of(folder, learner)))
    except NotANotebook as problem:
        return 0, [str(problem)]
    asked = questions(seed, learner.id)
    wrong = [question for question in asked if not same(answer_to(question), given.get(question, ...))]
    return len(asked) - len(wrong), wrong


def predictions(cells: list[str]) -> dict[str, Any]:
    """The last dictionary that is bound to `prediction`, read as literals: what is none is no answer."""
    found: dict[str, Any] = {}
    for cell in cells:
        try:
            statements = ast.parse(cell).body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for statement in statements:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Dict):
                if any(isinstance(target, ast.Name) and target.id == "prediction" for target in statement.targets):
                    found = dict(filter(None, map(literal, statement.value.keys, statement.value.values)))
    return found


def literal(key: ast.expr | None, value: ast.expr) -> tuple[str, Any] | None:
    try:
        question = ast.literal_eval(key) if key is not None else None
        return (question, ast.literal_eval(value)) if isinstance(question, str) else None
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


if __name__ == "__main__":
    sys.exit(main())
