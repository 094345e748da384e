"""Set-up does each step once, again only what an update changed and leaves nothing half-made."""

import ast
import json
import subprocess
from pathlib import Path

import pytest
import set_up

ROOT = Path(__file__).resolve().parents[2]


class Recorder(set_up.Environment):
    """An environment whose steps only note that they ran."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.ran: list[str] = []
        self.steps = {name: lambda name=name: self.ran.append(name) for name in self.steps}  # type: ignore[misc]

    def create(self) -> None:
        self.ran.append("create")
        self.python.parent.mkdir(parents=True, exist_ok=True)
        self.python.touch()


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    Recorder(tmp_path / "venv").set_up()
    return tmp_path / "venv"


def forget(folder: Path, **changes: str) -> None:
    """Changes the stamp as if it had been left by another state of the checkout."""
    stamp = folder / "minitorch_compile.stamp"
    stamp.write_text(json.dumps({**json.loads(stamp.read_text()), **changes}))


def test_a_first_run_does_every_step(tmp_path: Path) -> None:
    environment = Recorder(tmp_path / "venv")
    environment.set_up()
    assert environment.ran == ["create", "packages", "project", "notebooks"]


def test_a_second_run_does_nothing(finished: Path) -> None:
    environment = Recorder(finished)
    environment.set_up()
    assert environment.ran == []


def test_a_new_lock_installs_only_the_packages(finished: Path) -> None:
    forget(finished, packages="the digest of an older lock")
    environment = Recorder(finished)
    environment.set_up()
    assert environment.ran == ["create", "packages"]


def test_a_broken_run_goes_on_where_it_was(tmp_path: Path) -> None:
    broken = Recorder(tmp_path / "venv")
    broken.steps["project"] = lambda: set_up.run(["false"], "no such luck")
    with pytest.raises(set_up.SetUpError, match="no such luck"):
        broken.set_up()
    second = Recorder(tmp_path / "venv")
    second.set_up()
    assert second.ran == ["create", "project", "notebooks"]


def test_a_moved_checkout_begins_anew(finished: Path) -> None:
    forget(finished, place="where the checkout was before")
    environment = Recorder(finished)
    environment.set_up()
    assert environment.ran == ["create", "packages", "project", "notebooks"]


def test_settings_of_the_tools_install_nothing(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "pyproject.toml").read_text()
    (tmp_path / "requirements.lock").write_bytes((ROOT / "requirements.lock").read_bytes())
    (tmp_path / "pyproject.toml").write_text(text.replace("line-length = 120", "line-length = 100"))
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    assert Recorder(finished).missing() == []
    (tmp_path / "pyproject.toml").write_text(text.replace('version = "', 'version = "9.'))
    assert Recorder(finished).missing() == ["project"]


def test_without_venv_the_help_is_one_line_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half_made(command: list[object]) -> bool:
        if "venv" in command:
            (tmp_path / "venv" / "bin").mkdir(parents=True)
        return False

    monkeypatch.setattr(set_up, "succeeds", half_made)
    environment = set_up.Environment(tmp_path / "venv")
    environment.uv = None
    with pytest.raises(set_up.SetUpError, match="sudo apt install python3-venv") as caught:
        environment.create()
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "venv").exists()


def test_an_old_python_can_read_the_script_far_enough_to_say_so() -> None:
    ast.parse((ROOT / "tools" / "set_up.py").read_text(), feature_version=(3, 7))


def test_make_alone_lists_the_targets() -> None:
    text = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("lab", "tour", "test", "lint", "bench", "grade", "clean"):
        assert f"make {target} " in text
