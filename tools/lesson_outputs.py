"""Run a lesson, and compare its outputs with the committed ones.

Two machines don't print the same bytes: the last digit of a sum depends on the vector width, a picture's coordinates on
the version of Graphviz, a time on everything. So texts are compared with a tolerance for numbers, pictures by their
text form, and cells tagged `varies` not at all.

>>> alike("loss 0.4321 after 5 epochs", "loss 0.4322 after 5 epochs")
True
>>> alike("loss 0.43 after 5 epochs", "loss 0.43 after 6 epochs")
False
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

TOLERANCE = 0.01
NUMBER = re.compile(r"(-?\d+\.\d+(?:e[+-]?\d+)?)")
ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
KERNEL_FILE = re.compile(r"/[^\s\"']*/ipykernel_\d+/\d+\.py")
CELL_SECONDS = 300


def run(notebook: NotebookNode, root: Path, folder: str = "notebooks") -> None:
    """Execute in place, from the lessons' folder, and make the outputs free of this machine's paths and of times."""
    os.environ["MTC_PROGRESS"] = "0"  # how long something took, and whether that was long, is the machine's business
    NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        config=Config({"KernelManager": {"transport_encryption": "auto"}}),  # else the kernel prints a warning
        record_timing=False,
        resources={"metadata": {"path": str(root / folder)}},
    ).execute()
    notebook.metadata.pop("widgets", None)
    notebook.metadata.language_info = NotebookNode(name="python")
    for cell in code_cells(notebook):
        cell.outputs = [without_machine_paths(output, root) for output in merged_streams(cell.outputs)]


def merged_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Neighbouring pieces of the same stream as one: where the kernel cut them depends on timing."""
    merged: list[NotebookNode] = []
    for output in outputs:
        if output.output_type == "stream" and merged and merged[-1].get("name") == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def without_machine_paths(output: NotebookNode, root: Path) -> NotebookNode:
    """The output with this machine's folders and addresses replaced by words."""

    def clean(value: object) -> object:
        if isinstance(value, str):
            value = KERNEL_FILE.sub("this notebook", value).replace(f"{root}/", "").replace(f"{Path.home()}/", "~/")
            return ADDRESS.sub("0x...", value)
        if isinstance(value, list):
            return [clean(item) for item in value]
        return NotebookNode({k: clean(v) for k, v in value.items()}) if isinstance(value, dict) else value

    return clean(output)


def keep_varying_outputs(committed: NotebookNode | None, fresh: NotebookNode) -> None:
    """Give a cell tagged `varies` its committed outputs again, if its source is still the same."""
    known = {cell.id: cell.outputs for cell in code_cells(committed)} if committed is not None else {}
    for cell in code_cells(fresh):
        if varies(cell) and cell.id in known:
            cell.outputs = known[cell.id]


def differences(committed: NotebookNode, fresh: NotebookNode) -> list[str]:
    """What a reader would see differently, a sentence a cell."""
    found = []
    for number, (old, new) in enumerate(zip(code_cells(committed), code_cells(fresh), strict=True), 1):
        if not varies(new) and not alike(seen_text(old), seen_text(new)):
            found.append(f"code cell {number} now shows\n{seen_text(new)}\nand not\n{seen_text(old)}")
    return found


def code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def varies(cell: NotebookNode) -> bool:
    return "varies" in cell.metadata.get("tags", [])


def seen_text(cell: NotebookNode) -> str:
    """A cell's outputs as text: streams, text forms of displays, tracebacks."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts.append(output.text)
        elif output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        else:
            texts.append(output.data.get("text/plain", ""))
    return "\n".join(texts)


def alike(old: str, new: str) -> bool:
    """Equal but for small differences between decimal numbers."""
    olds, news = NUMBER.split(old), NUMBER.split(new)
    if len(olds) != len(news) or olds[::2] != news[::2]:
        return False
    pairs = zip(map(float, olds[1::2]), map(float, news[1::2]), strict=True)
    return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in pairs)
