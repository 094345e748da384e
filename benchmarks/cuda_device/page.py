"""The page of what was seen on a GPU: tables in Markdown, from the figures of `seen.json`.

>>> print(table(["call", "us"], [["x + y", 7.25]]))
| call | us |
| --- | --- |
| x + y | 7.2 |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

OURS, SCORES = "minitorch_compile", "torch, attention by scores"
HEAD = """# Seen on a GPU

Written by `python -m benchmarks.cuda_device`, which says how each part is run. Each part names its day and its commit.
"""


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(written, line)) + " |" for line in lines)


def written(cell: Any) -> str:
    """Two digits of a number that has a fraction; signs that a table has a use for are escaped."""
    text = (
        f"{cell:.1f}"
        if isinstance(cell, float) and cell >= 1
        else f"{cell:.2g}"
        if isinstance(cell, float)
        else str(cell)
    )
    return text.replace("|", "\\|").replace("\n", " ")


def page(seen: dict[str, Any]) -> str:
    parts = [HEAD]
    for name, write in SECTIONS.items():
        if name in seen:
            part = seen[name]
            when = ", ".join((name, part["at"], *([f"commit {part['commit']}"] if part.get("commit") else [])))
            note = f"\n\n{part['note']}" if "note" in part else ""
            parts.append(f"{write(part['is']).rstrip()}{note}\n\n({when})\n")
    return "\n".join(parts)


def machine(found: dict[str, str]) -> str:
    return "## The machine\n\n" + table(["", ""], found.items())


def overhead(found: dict[str, dict[str, float]]) -> str:
    rows = [[name, row.get(OURS, ""), row.get("torch", "")] for name, row in found.items()]
    return "## What a call costs the host, launch included\n\n" + table(["call", "us", "PyTorch, us"], rows)


def compilations(found: list[dict[str, dict[str, int]]]) -> str:
    first, second = found
    names = [key for key in next(iter(first.values())) if key != "compiled"]
    rows = [
        [program, *(row[name] for name in names), row["compiled"], second[program]["compiled"]]
        for program, row in first.items()
    ]
    head = ["program", *(f"kernels {name}" for name in names), "compiled", "compiled by a second process"]
    told = (
        "An operation element by element never asks for a kernel when its size changes. A reduction does at most once"
        " for a kind of sizes, where it has 65,536 points or more, or rows of 16,384: there another way to add up is"
        " the faster one."
    )
    return f"## A new size and a second process compile nothing\n\n{table(head, rows)}\n\n{told}"


def functions(found: dict[str, Any]) -> str:
    copies = [[name, *counts] for name, counts in found["copies"].items()]
    return (
        "## Attention, quantiles, function transforms, and what compiled calls copy\n\n"
        + table(["call", "largest difference from PyTorch's, beside the largest element"], found["apart"].items())
        + "\n\n"
        + table(["constants of a compiled call", "copies from main memory", "second call", "third"], copies)
    )


def devices(found: dict[str, Any]) -> str:
    drawn, refused = found["drawn"], found["refused"]
    exact = sum(apart == 0 for apart in drawn.values())
    others = {name: apart for name, apart in drawn.items() if apart}
    differ = [[name, *said] for name, said in refused.items() if said[0] != said[1]]
    parts = [
        "## Two devices",
        f"Of one seed {exact} of {len(drawn)} draws are the CPU's to the last bit"
        + (f"; apart, beside the largest: {', '.join(f'{n} {x:.1g}' for n, x in others.items())}." if others else "."),
        f"Of {len(refused)} calls with tensors on both devices {len(refused) - len(differ)} end as PyTorch's do.",
    ]
    return "\n\n".join([*parts, *([table(["call", "here", "PyTorch"], differ)] if differ else [])])


def memory(found: dict[str, Any]) -> str:
    rows = []
    for part, said in found.items():
        rows += (
            [[part, name, figure] for name, figure in said.items()] if isinstance(said, dict) else [[part, "", said]]
        )
    return (
        "## Memory\n\nOut of memory leaves the process usable: after each refusal it computes and learns.\n\n"
        + table(["part", "", ""], rows)
    )


def allocator(found: dict[str, str]) -> str:
    return "## The allocator\n\n" + table(["driver", "random operations"], found.items())


def distance(ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    apart = [abs(a / b - 1) for a, b in zip(ours["losses"], theirs["losses"], strict=True)]
    return f"at most {max(apart):.2%}, on average {float(np.mean(apart)):.2%}"


def gpt_curve(found: dict[str, Any]) -> str:
    ours, theirs = found[OURS], found["torch"]
    apart = [abs(a / b - 1) for a, b in zip(ours["losses"], theirs["losses"], strict=True)]
    steps = [step for step in (0, 1, 2, 5, 10, 20, 30, 40, len(apart) - 1) if step < len(apart)]
    rows = [
        [step, f"{ours['losses'][step]:.4f}", f"{theirs['losses'][step]:.4f}", f"{apart[step]:.2%}"] for step in steps
    ]
    figures = [
        [name, sum(row["seconds"]), float(np.median(row["seconds"][3:])), f"{row['bytes'] / 2**30:.1f} GiB"]
        for name, row in (("here", ours), ("PyTorch", theirs))
    ]
    said = f"{len(apart)} steps, same weights and batches: the curves are {distance(ours, theirs)} apart."
    if SCORES in found:
        said += (
            f"\nPyTorch's own curve with attention by a score matrix, which rounds elsewhere, is"
            f" {distance(found[SCORES], theirs)} apart from it."
        )
    return (
        f"## A GPT of 12 layers in bfloat16 autocast\n\n{said}\n\n"
        + table(["step", "loss", "PyTorch's", "apart"], rows)
        + "\n\n"
        + table(["", "seconds in all", "seconds a step", "most memory"], figures)
    )


DTYPES = """\
Each call in all dtypes that its sheet asks for, with and without gradients; in float32 in all layouts, in the others in
one of them."""
BOUNDS = """\
Compared are sizes, strides, dtypes, classes of errors, and values and gradients: within 1e-5 of each or 4e-6 of the
largest; of float64 and complex128 within 1e-10 of the largest; of float16 and bfloat16 within four units in the last
place of each, or two of the largest."""


def sheets(found: dict[str, Any]) -> str:
    told = ("differences", "in main memory", "reasons")
    unexplained = [row for row in found["differences"] if not row["reason"]]
    rows = [[f"unexplained: {row['call']}: {row['difference'][:120]}", 1] for row in unexplained]
    figures = [[name, value] for name, value in found.items() if name not in told]
    return (
        "## The call sheets beside PyTorch on the same GPU\n\n"
        f"{DTYPES if 'of bfloat16' in found else 'Each call in one dtype, in turns.'}\n{BOUNDS}\n\n"
        + table(["calls", "count"], figures)
        + "\n\n"
        + table(["differences", "calls"], [*found["reasons"].items(), *rows])
        + "\n\nComputed in main memory, each after a warning: "
        + (", ".join(f"`{name}`" for name in sorted(found["in main memory"])) or "nothing")
        + "."
    )


def models(found: dict[str, Any]) -> str:
    right = found["tried"] - len(found["differ"])
    text = f"## The programs of tests/models\n\n{right} of {found['tried']} give the recorded numbers within 1e-3."
    return text + ("\n\n" + table(["program", ""], found["differ"].items()) if found["differ"] else "")


SECTIONS = {
    part.__name__: part
    for part in (machine, overhead, compilations, functions, devices, memory, allocator, gpt_curve, sheets, models)
}
