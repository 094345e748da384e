"""Which tests a change asks for: `make test CHANGED=1` follows the imports from the changed files up to the tests.

A file asks for every test that imports it, directly or through others, and for the examples in the modules between.
Most tests reach the package by its front door, `import minitorch_compile as torch`, which imports everything; so the
door doesn't count, but a floor's folder of tests does, as soon as a module of that floor is reached.

>>> graph = Graph({"p.ops": {"p.joint"}, "p.joint": {"tests.aot.test_joint"}})
>>> sorted(graph.above({"p.ops"}))
['p.joint', 'p.ops', 'tests.aot.test_joint']
>>> folder_of_tests("minitorch_compile.aot.passes.fold")
'tests/aot'
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import grimp

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "minitorch_compile"
WHOLE_PROGRAMS = ("tests/pipeline", "tests/namespaces", "tests/battery")  # asked for by any change of the package
# What no import leads to: where files of other kinds lie, and the tests that read them.
READ_BY = {
    "authoring": "tests/course",
    "notebooks": "tests/course",
    "exercises": "tests/course",
    "solutions": "tests/course",
    "tools": "tests/tooling",
    "docs": "tests/tooling",
    "benchmarks": "benchmarks",
}
READ_BY_TOOLING = (".md", ".toml", ".lock", ".yml", ".pyi")  # pages and declarations, wherever they lie


@dataclass(frozen=True)
class Graph:
    """Who imports a module: `importers[module]` are the modules that name it."""

    importers: dict[str, set[str]]

    def above(self, modules: set[str]) -> set[str]:
        """These modules, and all that import them, directly or through others."""
        found, waiting = set(modules), list(modules)
        while waiting:
            new = self.importers.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found


def graph_of_imports() -> Graph:
    """The imports of the package and its tests, those inside functions too, without the front door."""
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))  # where the tests are found, and the package of this checkout
    graph = grimp.build_graph(PACKAGE, "tests", cache_dir=None)
    return Graph({module: graph.find_modules_that_directly_import(module) - {PACKAGE} for module in graph.modules})


def changed_files(since: str) -> list[Path]:
    """What differs from a commit, files that git doesn't know yet among them, relative to the root."""
    differ = _git("diff", "--name-only", "--no-renames", since) + _git("ls-files", "--others", "--exclude-standard")
    return sorted({Path(name) for name in differ})


def places_asked_for(since: str) -> list[str]:
    """Folders and files for pytest, none within another. Raises SystemExit when git doesn't know the commit."""
    changed = changed_files(since)
    modules = {module_of(path) for path in changed if path.suffix == ".py"} - {PACKAGE}
    reached = graph_of_imports().above(modules)
    places = {READ_BY.get(path.parts[0], "tests/tooling" if path.suffix in READ_BY_TOOLING else "") for path in changed}
    if any(module.startswith(PACKAGE) for module in reached):
        places |= {folder_of_tests(module) for module in reached} | set(WHOLE_PROGRAMS)
    places |= {str(file) for module in reached if (file := _file_of(module)) is not None}
    existing = {place for place in places if place and (ROOT / place).exists()}
    return sorted(place for place in existing if not existing & {str(parent) for parent in Path(place).parents})


def module_of(path: Path) -> str:
    """
    >>> module_of(Path("minitorch_compile/aot/__init__.py")), module_of(Path("tests/aot/test_joint.py"))
    ('minitorch_compile.aot', 'tests.aot.test_joint')
    """
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def folder_of_tests(module: str) -> str:
    """The tests of the floor that a module of the package belongs to; "" for one that isn't of the package."""
    root, _, rest = module.partition(".")
    return f"tests/{rest.partition('.')[0]}" if root == PACKAGE else ""


def _file_of(module: str) -> Path | None:
    """A module's file if pytest finds something in it: a file of tests, or examples."""
    path = Path(*module.split("."))
    file = path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")
    of_interest = module.startswith(PACKAGE) or path.name.startswith("test_")
    return file if of_interest and (ROOT / file).exists() else None


def _git(*arguments: str) -> list[str]:
    result = subprocess.run(("git", *arguments), cwd=ROOT, capture_output=True, encoding="utf-8")
    if result.returncode:
        raise SystemExit(f"CHANGED: git {' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout.splitlines()
