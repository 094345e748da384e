"""What README.md and the other pages show is true: their code runs, their paths and targets exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "minitorch_compile"
NOT_IN_THE_CHECKOUT = ("build/", "work/")
MANY_FILES = 8  # a folder with more of them is a floor, whose page says where to begin
LISTS_ONLY_SOME = ("distributions", "optim")  # their other files are one thing each, named after it
FLOOR_PAGES = sorted(PACKAGE.rglob("README.md"))
PAGES = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")),
    *(ROOT / folder / "README.md" for folder in ("benchmarks", "tests")),
    *FLOOR_PAGES,
    *sorted((ROOT / "docs" / "decisions").glob("*.md")),
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
each_floor_page = pytest.mark.parametrize("page", FLOOR_PAGES, ids=lambda page: str(page.parent.relative_to(ROOT)))


def test_the_code_in_the_readme_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["model"][0].weight.grad.shape == (128, 64)  # type: ignore[index]


def test_explain_lists_graphs_as_the_readme_says() -> None:
    import minitorch_compile as torch

    assert "1 graph" in str(torch.explain(lambda x: x + 1)(torch.ones(2)))


def paths_in_backticks(text: str) -> list[str]:
    """What stands in backticks and is a path: with a slash in it, or the name of a file.

    >>> paths_in_backticks("`tensor/ops/` and `graph.py`, `x.real`, `y / 2`, `python -m benchmarks.eager`")
    ['tensor/ops/', 'graph.py']
    """
    named = re.findall(r"`([\w./-]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return [name for name in named if re.fullmatch(r"[\w.-]+/[\w./-]*|[\w-]+\.(py|md|toml|yml|lock|svg|json)", name)]


@each_page
def test_every_path_in_backticks_exists(page: Path) -> None:
    wanted = [path for path in paths_in_backticks(page.read_text(encoding="utf-8")) if "NN_" not in path]
    roots = (page.parent, ROOT, PACKAGE)  # a page may leave out the name of the package, or its own folder's
    lost = [path for path in wanted if not any((root / path).exists() for root in roots)]
    assert [path for path in lost if not path.startswith(NOT_IN_THE_CHECKOUT)] == []


@each_floor_page
def test_the_page_of_a_floor_fits_on_a_page(page: Path) -> None:
    assert page.read_text(encoding="utf-8").count("\n") <= 60


def paragraphs(text: str) -> list[list[str]]:
    """The lines of each paragraph, of each entry of a list, and of each table's row."""
    return [part.splitlines() for part in re.split(r"\n(?=\n|\||- |\d+\. )", text)]


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *FLOOR_PAGES], ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_and_paragraphs_are_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if len(line) > 140] == []
    assert [lines for lines in paragraphs(text) if len([line for line in lines if line]) > 6] == []


@each_floor_page
def test_the_page_of_a_floor_names_all_that_lies_in_it(page: Path) -> None:
    """Its rooms, and in the small floors also each file: a reader who looks for something finds the way."""
    text = page.read_text(encoding="utf-8")
    rooms = [folder.name for folder in page.parent.iterdir() if (folder / "__init__.py").exists()]
    assert [room for room in rooms if f"{room}/" not in text] == []
    if page.parent.name not in LISTS_ONLY_SOME:
        files = [file.name for file in page.parent.glob("*.py") if file.name not in ("__init__.py", "__main__.py")]
        assert [name for name in files if not re.search(rf"\b{re.escape(name)}`", text)] == []


def test_every_floor_has_a_page() -> None:
    folders = [folder.parent for folder in PACKAGE.rglob("__init__.py")]
    large = [folder for folder in folders if folder != PACKAGE and len(list(folder.glob("*.py"))) > MANY_FILES]
    pages = {page.parent for page in FLOOR_PAGES if page.parent != PACKAGE}
    assert [folder for folder in large if not any(page in (folder, *folder.parents) for page in pages)] == []


def test_the_architecture_fits_on_a_page() -> None:
    assert (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").count("\n") <= 150


def test_the_readme_lists_every_lesson_in_order() -> None:
    listed = re.findall(r"\]\((notebooks/\w+\.ipynb)\)", (ROOT / "README.md").read_text())
    sources = sorted((ROOT / "authoring" / "lessons").glob("*.py"))
    assert listed == [f"notebooks/{source.stem}.ipynb" for source in sources]


@each_page
def test_every_make_target_exists(page: Path) -> None:
    mentioned = set(re.findall(r"`make ([a-z-]+)", page.read_text()))
    makefile = (ROOT / "Makefile").read_text()
    assert {target for target in mentioned if f"\n{target}:" not in makefile} == set()


@pytest.mark.parametrize("target", ["help", "lab", "tour", "test", "bench", "clean"])
def test_make_knows_what_to_do(target: str) -> None:
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
