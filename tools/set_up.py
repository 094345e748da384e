"""Makes .venv ready to work in: an environment, the locked packages, the package itself, a notebook kernel.

Runs with any Python from 3.6 and the standard library alone, since nothing is installed yet. A second run finds the
stamp that the first one left and does nothing; a run after an update does only what the update changed.

    python3 tools/set_up.py                                # what every `make` target does first
    python3 tools/set_up.py --check                        # says "ready" or what is missing, changes nothing
    python3.12 tools/set_up.py --folder build/python3.12   # another environment beside it
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "requirements.lock"
OLDEST, TOO_NEW = (3, 11), (3, 15)
THIS_VERSION = "{}.{}".format(*sys.version_info[:2])


class SetUpError(Exception):
    """Something the reader can mend; the text says how."""


class Environment:
    """One environment of this checkout: what it should hold, what it holds, and the steps from one to the other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.python = folder / "bin" / "python"
        self.stamp = folder / "minitorch_compile.stamp"
        self.uv = shutil.which("uv")
        self.steps = {
            "packages": self.install_packages,
            "project": self.install_project,
            "notebooks": self.prepare_notebooks,
        }

    # What was done, and what is still to do --------------------------------------------------------------------------

    def wanted(self) -> dict:
        """What a finished set-up looks like: one entry a step, compared step by step."""
        project = (ROOT / "pyproject.toml").read_bytes().split(b"\n[tool.ruff]")[0]  # tool settings install nothing
        return {
            "place": str(self.folder),  # an environment does not survive a move: its scripts hold paths
            "packages": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
            "project": hashlib.sha256(project).hexdigest(),
            "notebooks": "kernel python3, no announcements",  # change this text when that step changes
        }

    def found(self) -> dict:
        """The stamp of the last set-up, or {} where there is none or its Python is gone."""
        try:
            stamp = json.loads(self.stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if self.python.exists() else {}

    def missing(self) -> list:
        """The names of the steps whose part of the stamp differs."""
        found = self.found()
        return [name for name, value in self.wanted().items() if found.get(name) != value]

    def set_up(self) -> None:
        """Does what is missing; stamps after each step, so that a broken run goes on where it was."""
        if not self.missing():
            return
        start = time.time()
        use_a_supported_python()
        wanted, found = self.wanted(), self.found()
        if found.get("place", wanted["place"]) != wanted["place"]:
            say("this checkout was moved; making the environment anew")
            self.remove()
            found = {}
        self.create()
        found["place"] = wanted["place"]
        for name, step in self.steps.items():
            if found.get(name) != wanted[name]:
                step()
                found[name] = wanted[name]
                self.stamp.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        say(f"ready after {time.time() - start:.0f} s")

    # The steps -------------------------------------------------------------------------------------------------------

    def create(self) -> None:
        """Makes the environment unless a working one is there; leaves nothing half-made behind."""
        if succeeds([self.python, "-c", ""]):
            return
        self.remove()
        say(f"creating {self.folder.name} with Python {THIS_VERSION}")
        if self.uv:
            run(
                [self.uv, "venv", "--quiet", "--python", sys.executable, self.folder],
                "uv made no environment; see above.",
            )
            return
        if succeeds([sys.executable, "-m", "venv", self.folder]):
            return
        self.remove()
        # Debian keeps ensurepip in python3-venv; with python3-pip at hand, an environment without its own pip will do.
        if succeeds([sys.executable, "-m", "venv", "--without-pip", self.folder]) and self.outside_pip_works():
            say("this Python lacks ensurepip; using the pip outside the environment")
            return
        self.remove()
        raise SetUpError(
            f"Python {THIS_VERSION} cannot create an environment here. On Debian or Ubuntu:"
            "  sudo apt install python3-venv  (or put uv on PATH); then run make again."
        )

    def remove(self) -> None:
        shutil.rmtree(str(self.folder), ignore_errors=True)

    def outside_pip(self) -> list:
        """The pip of the Python that runs this script, working on the environment (pip 22.3 and later)."""
        return [sys.executable, "-m", "pip", "--python", self.python]

    def outside_pip_works(self) -> bool:
        return succeeds([*self.outside_pip(), "--version"])

    def install(self, *arguments: object) -> list:
        """An install command: uv's, that of the environment's own pip, or of the pip outside."""
        if self.uv:
            return [self.uv, "pip", "install", "--quiet", "--python", self.python, *arguments]
        if succeeds([self.python, "-m", "pip", "--version"]):
            return [self.python, "-m", "pip", "install", "-qq", *arguments]
        if self.outside_pip_works():
            return [*self.outside_pip(), "install", "-qq", *arguments]
        raise SetUpError("the environment has no pip, and there is neither uv nor a pip outside. Try: make distclean")

    def install_packages(self) -> None:
        """The locked packages, each checked against its hash; never compiled here. The lock is whole, so none asks for
        others: pip would look for the newest `coverage[toml]`, which the lock doesn't have by that name."""
        say("installing the packages of requirements.lock with {}".format("uv" if self.uv else "pip"))
        run(
            self.install("--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", LOCK),
            "the packages could not be installed; see above. Without a network, try again later: what came, stays.",
        )

    def install_project(self) -> None:
        """The package itself, editable. Its build backend came with the lock, so nothing is fetched."""
        say("installing minitorch_compile, editable")
        run(
            self.install("--no-deps", "--no-build-isolation", "--editable", ROOT),
            "minitorch_compile itself could not be installed; see above.",
        )

    def prepare_notebooks(self) -> None:
        """Inside the environment only, never in HOME: the kernel by its full path, no pop-up with outside news."""
        say("registering the notebook kernel")
        kernel = ["--sys-prefix", "--name", "python3", "--display-name", "Python (minitorch_compile)"]
        run(
            [self.python, "-m", "ipykernel", "install", *kernel],
            "the notebook kernel could not be registered; see above.",
            stdout=subprocess.DEVNULL,
        )
        labconfig = self.folder / "etc" / "jupyter" / "labconfig"
        labconfig.mkdir(parents=True, exist_ok=True)
        switched_off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
        (labconfig / "page_config.json").write_text(json.dumps(switched_off) + "\n", encoding="utf-8")


# Running commands ----------------------------------------------------------------------------------------------------


def calm_environment() -> dict:
    """The caller's environment without what would send the packages elsewhere or ask questions."""
    environment = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    for name in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"):
        environment.pop(name, None)
    return environment


def run(command: list, failure: str, **options: object) -> None:
    """Runs a command, its output shown; raises SetUpError(failure) when it fails."""
    words = [str(part) for part in command]
    if subprocess.run(words, cwd=str(ROOT), env=calm_environment(), **options).returncode != 0:  # type: ignore
        raise SetUpError(failure)


def succeeds(command: list) -> bool:
    """Whether a command runs and ends well; its output is dropped."""
    try:
        run(command, "", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, SetUpError):
        return False
    return True


# The whole -----------------------------------------------------------------------------------------------------------


def say(text: str) -> None:
    print("set-up: " + text, flush=True)


def use_a_supported_python() -> None:
    """Starts this script again under a supported Python from PATH when this one is too old or too new."""
    if OLDEST <= sys.version_info[:2] < TOO_NEW:
        return
    for minor in range(TOO_NEW[1] - 1, OLDEST[1] - 1, -1):
        other = shutil.which(f"python3.{minor}")
        if other and succeeds([other, "-c", ""]):
            os.execv(other, [other, *sys.argv])
    raise SetUpError(
        f"this needs Python 3.11, 3.12, 3.13 or 3.14; {sys.executable} is {THIS_VERSION}."
        " Name another one:  make PYTHON=/path/to/python3.12"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / ".venv", help="where the environment lies")
    parser.add_argument("--check", action="store_true", help="only say what is missing")
    options = parser.parse_args()
    environment = Environment(options.folder.resolve())
    if options.check:
        missing = environment.missing()
        print("to do: " + ", ".join(missing) if missing else "ready")
        return 1 if missing else 0
    try:
        environment.set_up()
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
