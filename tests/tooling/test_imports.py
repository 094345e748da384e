"""The package imports what it declares, and starts without the tools of notebooks and tests."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "minitorch_compile"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# A drawing uses whichever Graphviz there is; pygraphviz is one that a user may have brought. einops is imported only
# after the user's program imported it, and IPython where a notebook runs. A SummaryWriter tells tensorboard what to
# write; figures and images come from matplotlib and pillow, which who has such things has.
OPTIONAL = {"pygraphviz", "einops", "ipython", "tensorboard", "matplotlib", "pil"}
DISTRIBUTIONS = {"sklearn": "scikit-learn", "cuda": "cuda-bindings"}  # where the module has another name


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(line).name) for line in requirements}


def third_party(files: list[Path]) -> set[str]:
    """The top-level modules that files import, less Python's own and ours."""
    modules: set[str] = set()
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                modules |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                modules.add(node.module.partition(".")[0])
    foreign = modules - set(sys.stdlib_module_names) - {"minitorch_compile", "authoring"}
    return {canonicalize_name(DISTRIBUTIONS.get(name, name)) for name in foreign}


def test_the_compiler_imports_only_what_it_declares() -> None:
    below_the_course = [file for file in PACKAGE.rglob("*.py") if "course" not in file.relative_to(PACKAGE).parts]
    extra = names(PROJECT["optional-dependencies"]["draw"] + PROJECT["optional-dependencies"]["cuda"])
    allowed = names(PROJECT["dependencies"]) | extra | OPTIONAL
    assert third_party(below_the_course) <= allowed


def test_the_course_imports_only_what_it_declares() -> None:
    allowed = names(PROJECT["dependencies"] + PROJECT["optional-dependencies"]["course"]) | {
        "ipython"
    }  # with ipykernel
    course = [file for place in (PACKAGE / "course", ROOT / "authoring" / "checks") for file in place.rglob("*.py")]
    assert third_party(course) <= allowed


def test_import_brings_no_notebook_tools() -> None:
    code = "import sys, minitorch_compile; print(*{name.partition('.')[0] for name in sys.modules})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    assert set(printed.split()) & {"IPython", "jupytext", "nbformat", "matplotlib", "sklearn", "pytest"} == set()


LATE = ["numba", "llvmlite.binding", "scipy.special", "scipy.linalg", "scipy.fft", "minitorch_compile.inductor"]


def imported_by(code: str) -> set[str]:
    """The modules of LATE that a program has imported in the end."""
    print_them = f"; import sys; print(*(name for name in {LATE} if name in sys.modules))"
    command = [sys.executable, "-c", code + print_them]
    return set(subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split())


def test_what_makes_kernels_is_imported_when_a_function_is_compiled() -> None:
    """Numba, SciPy's parts and the floor of loops are more than half of the time in which all could be imported."""
    eager = "import minitorch_compile as t; t.compile(abs, backend='eager'); t._dynamo.reset(); t.ones(2).exp().sum()"
    assert imported_by(eager) == set()
    assert imported_by("import minitorch_compile as t; t.compile(abs)") >= {"numba", "minitorch_compile.inductor"}


def test_import_does_not_set_numbas_compiler_up() -> None:
    """Numba's registries of types and their operations take a tenth of a second. The first import of a checkout
    compiles the loop that calls kernels; later ones find it on disk.
    """
    code = "import sys, minitorch_compile.inductor; print('numba.np.arraymath' in sys.modules)"
    for _ in range(2):
        end = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert end.stdout.strip() == "False"
