"""What README.md and the other pages show is true: their code runs, their links lead somewhere, their targets exist."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_IN_THE_CHECKOUT = ("build/", "work/", "func/")
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]


def test_the_code_in_the_readme_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["model"][0].weight.grad.shape == (128, 64)  # type: ignore[index]


def test_explain_lists_graphs_as_the_readme_says() -> None:
    import minitorch_compile as torch

    assert "1 graph" in str(torch.explain(lambda x: x + 1)(torch.ones(2)))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_and_path_exists(page: Path) -> None:
    text = page.read_text()
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    paths = re.findall(r"`([\w.]+/[\w./]*)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    wanted = [path for path in links + paths if not path.startswith(NOT_IN_THE_CHECKOUT) and "NN_" not in path]
    roots = (ROOT, ROOT / "minitorch_compile")  # a page may leave the package's name out
    assert [path for path in wanted if not any((root / path).exists() for root in roots)] == []


def test_the_readme_lists_every_lesson_in_order() -> None:
    listed = re.findall(r"\]\((notebooks/\w+\.ipynb)\)", (ROOT / "README.md").read_text())
    sources = sorted((ROOT / "authoring" / "lessons").glob("*.py"))
    assert listed == [f"notebooks/{source.stem}.ipynb" for source in sources]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_make_target_exists(page: Path) -> None:
    mentioned = set(re.findall(r"`make ([a-z-]+)", page.read_text()))
    makefile = (ROOT / "Makefile").read_text()
    assert {target for target in mentioned if f"\n{target}:" not in makefile} == set()


@pytest.mark.parametrize("target", ["help", "lab", "tour", "test", "bench", "clean"])
def test_make_knows_what_to_do(target: str) -> None:
    subprocess.run(["make", "--dry-run", target], cwd=ROOT, check=True, capture_output=True)
