"""The pages of the site: those of the checkout, where they lie, so that their links lead where they lead here.

build/site/source/README.md, docs/ops.md, notebooks/00_tour.ipynb, ..., reference/torch.nn.md, index.md
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tools.links import SCHEME, links  # noqa: E402

FOLDERS = ("docs", "benchmarks", "tests", "minitorch_compile", "authoring")
CHAPTERS = {
    "Start here": ["README", "docs/elsewhere", "docs/spine", "ARCHITECTURE", "docs/glossary"],
    "Reference": ["docs/ops", "docs/prims", "docs/graph_breaks", "docs/compatibility"],
    "Teaching": ["docs/teaching/README", "docs/teaching/syllabus", "docs/teaching/lesson_plans", "docs/grading"],
    "Measured": ["benchmarks/README", "benchmarks/cuda_device/README"],
    "Working on it": ["CONTRIBUTING", "tests/README", "authoring/README"],
}


def lessons() -> list[Path]:
    return sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


def pages() -> list[Path]:
    """What becomes a page."""
    inside = (path for name in FOLDERS for path in (ROOT / name).rglob("*.md"))
    return [*sorted(ROOT.glob("*.md")), *sorted(inside), *lessons()]


def linked_files(page: Path) -> Iterator[Path]:
    """Files of the checkout that a page leads to, or shows."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    for link in links(text):
        name = unquote(link.partition("#")[0])
        target = (page.parent / name).resolve()
        if name and not SCHEME.match(link) and target.is_file() and target.is_relative_to(ROOT):
            yield target


def write_pages(folder: Path, reference: Iterable[str]) -> int:
    """Copies all pages, and what they lead to; writes the first page. How many pages there are."""
    found = pages()
    for path in {*found, *(target for page in found for target in linked_files(page))}:
        place = folder / path.relative_to(ROOT)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    (folder / "index.md").write_text(first_page(found, reference), encoding="utf-8")
    return len(found) + 1


def first_page(found: list[Path], reference: Iterable[str]) -> str:
    """Where every page hangs: each in one chapter."""
    named = {chapter: list(names) for chapter, names in CHAPTERS.items()}
    chapters = {
        "Start here": named["Start here"],
        "Lessons": [name_of(path) for path in lessons()],
        "Reference": [*reference, *named["Reference"]],
        "The house, room by room": [name_of(p) for p in found if p.is_relative_to(ROOT / "minitorch_compile")],
        "Decisions": [name_of(p) for p in found if p.parent.name == "decisions"],
        "Measured": named["Measured"],
        "Working on it": named["Working on it"],
    }
    placed = {name for names in chapters.values() for name in names}
    left = [name_of(path) for path in found if name_of(path) not in placed]
    chapters["Working on it"] += left
    parts = [
        "# minitorch_compile",
        "The PyTorch 2 compile stack, rebuilt in readable Python: the course and the package.",
    ]
    parts += [tree(chapter, names) for chapter, names in chapters.items()]
    return "\n\n".join([*parts, "{ref}`genindex`"]) + "\n"


def tree(chapter: str, names: Iterable[str]) -> str:
    """A list of pages, as Sphinx wants it."""
    entries = "\n".join(f"/{name}" for name in names)
    return f"```{{toctree}}\n:caption: {chapter}\n:maxdepth: 1\n\n{entries}\n```"


def name_of(path: Path) -> str:
    """What Sphinx calls a page."""
    return path.relative_to(ROOT).with_suffix("").as_posix()
