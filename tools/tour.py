"""Runs lesson 00 without a browser, writes it with its pictures to build/tour.html, and prints its table.

    make tour
    .venv/bin/python tools/tour.py notebooks/01_strides.ipynb     # the same for another lesson: build/01_strides.html

The table is the text output of the cells that carry the tag `table`.
"""

import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbconvert import HTMLExporter
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
LESSON = ROOT / "notebooks" / "00_tour.ipynb"
SECONDS_FOR_A_CELL = 180


class Progress(NotebookClient):
    """A client that says which section it runs, since the training cells take a while."""

    async def async_execute_cell(self, cell: NotebookNode, cell_index: int, **options: object) -> NotebookNode:
        if heading := re.search(r"^#+ (.*)", cell.source, re.MULTILINE) if cell.cell_type == "markdown" else None:
            print(f"  {heading.group(1)}", flush=True)
        return await super().async_execute_cell(cell, cell_index, **options)


def execute(notebook: NotebookNode, folder: Path) -> str | None:
    """Runs all cells in a fresh kernel, in place; returns what went wrong, or None."""
    options = Config({"KernelManager": {"transport_encryption": "auto"}})  # else the kernel prints a warning
    resources = {"metadata": {"path": str(folder)}}
    client = Progress(notebook, timeout=SECONDS_FOR_A_CELL, resources=resources, config=options)
    try:
        client.execute()
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
        return str(error)
    return None


def write_page(notebook: NotebookNode, page: Path, title: str) -> None:
    """One HTML file that needs nothing beside it: pictures inline, no script or font from outside."""
    exporter = HTMLExporter(template_name="lab", embed_images=True, mathjax_url="", require_js_url="", jquery_url="")
    body, _ = exporter.from_notebook_node(notebook, {"metadata": {"name": title}})
    page.parent.mkdir(exist_ok=True)
    page.write_text(body, encoding="utf-8")


def tables(notebook: NotebookNode) -> list[str]:
    """The text of every output of the cells tagged `table`."""
    cells = [cell for cell in notebook.cells if "table" in cell.metadata.get("tags", [])]
    return [text for cell in cells for text in map(output_text, cell.outputs) if text]


def output_text(output: NotebookNode) -> str:
    """What one output says in plain text."""
    text = output.text if output.output_type == "stream" else output.get("data", {}).get("text/plain", "")
    return text.rstrip()


def main() -> None:
    lesson = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else LESSON
    if not lesson.exists():
        sys.exit(f"make tour: no lesson at {lesson}")
    page = ROOT / "build" / ("tour.html" if lesson == LESSON else f"{lesson.stem}.html")
    notebook = nbformat.read(lesson, as_version=4)
    start = time.perf_counter()
    print(f"running {lesson.name}:", flush=True)
    failure = execute(notebook, lesson.parent)
    write_page(notebook, page, lesson.stem)
    if failure:
        sys.exit(
            f"\n{failure}\nmake tour: the lesson stopped at this cell; {page.relative_to(ROOT)} shows how far it came."
        )
    print("", *tables(notebook), "", sep="\n")
    print(f"{page.relative_to(ROOT)}: all cells in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
