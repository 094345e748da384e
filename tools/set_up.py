"""Makes .venv ready to work in: an environment, the locked packages, the package itself, a notebook kernel.

Runs with any Python from 3.6 and the standard library alone, since nothing is installed yet. A second run finds the
stamp that the first one left and does nothing; a run after an update does only what the update changed.

    python3 tools/set_up.py            # what every `make` target does first
    python3 tools/set_up.py --check    # says "ready" or what is missing, changes nothing
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "minitorch_compile.stamp"
LOCK = ROOT / "requirements.lock"
OLDEST, TOO_NEW = (3, 11), (3, 15)
THIS_VERSION = "{}.{}".format(*sys.version_info[:2])


class SetUpError(Exception):
    """Something the reader can mend; the text says how."""


# What was done, and what is still to do ------------------------------------------------------------------------------


def wanted_stamp() -> dict:
    """What a finished set-up of this checkout looks like: one entry a step, compared step by step."""
    project = (ROOT / "pyproject.toml").read_bytes().split(b"\n[tool.ruff]")[0]  # tool settings install nothing
    return {
        "place": str(ROOT),  # an environment does not survive a move: its scripts hold paths
        "packages": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "project": hashlib.sha256(project).hexdigest(),
        "notebooks": "kernel python3, no announcements",  # change this text when that step changes
    }


def found_stamp() -> dict:
    """The stamp of the last finished set-up, or {} where there is none or its Python is gone."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if VENV_PYTHON.exists() else {}


# Running commands ----------------------------------------------------------------------------------------------------


def calm_environment() -> dict:
    """The caller's environment without what would send the packages elsewhere or ask questions."""
    environment = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    for name in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"):
        environment.pop(name, None)
    return environment


def run(command: list, failure: str) -> None:
    """Runs a command, its output shown; raises SetUpError(failure) when it fails."""
    if subprocess.run([str(part) for part in command], cwd=str(ROOT), env=calm_environment()).returncode != 0:
        raise SetUpError(failure)


def succeeds(command: list) -> bool:
    """Whether a command runs and ends well; its output is dropped."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        result = subprocess.run([str(part) for part in command], cwd=str(ROOT), env=calm_environment(), **quiet)
    except OSError:
        return False
    return result.returncode == 0


# The steps -----------------------------------------------------------------------------------------------------------


def make_environment(uv: object) -> None:
    """Creates .venv unless a working one is there; leaves nothing half-made behind."""
    if succeeds([VENV_PYTHON, "-c", ""]):
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    say("creating .venv with Python " + THIS_VERSION)
    if uv:
        run([uv, "venv", "--quiet", "--python", sys.executable, VENV], "uv could not create .venv; see above.")
        return
    if succeeds([sys.executable, "-m", "venv", VENV]):
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    # Debian keeps ensurepip in python3-venv; with python3-pip at hand, an environment without its own pip will do.
    if succeeds([sys.executable, "-m", "venv", "--without-pip", VENV]) and succeeds([*outside_pip(), "--version"]):
        say("this Python lacks ensurepip; using the pip outside .venv")
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    raise SetUpError(
        f"Python {THIS_VERSION} cannot create an environment here. On Debian or Ubuntu:  sudo apt install python3-venv"
        "  (or put uv on PATH); then run make again."
    )


def outside_pip() -> list:
    """The pip of the Python that runs this script, working on .venv (`pip --python`, pip 22.3 and later)."""
    return [sys.executable, "-m", "pip", "--python", VENV_PYTHON]


def installer(uv: object) -> list:
    """The start of an install command for .venv: uv's, its own pip's, or the pip outside."""
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", VENV_PYTHON]
    if succeeds([VENV_PYTHON, "-m", "pip", "--version"]):
        return [VENV_PYTHON, "-m", "pip", "install", "--quiet"]
    if succeeds([*outside_pip(), "--version"]):
        return [*outside_pip(), "install", "--quiet"]
    raise SetUpError(".venv has no pip, and there is neither uv nor a pip outside. `make distclean`, then make again.")


def install_packages(uv: object) -> None:
    """The locked packages, each checked against its hash; never compiled here."""
    say("installing the packages of requirements.lock with {}".format("uv" if uv else "pip"))
    run(
        [*installer(uv), "--require-hashes", "--only-binary", ":all:", "-r", LOCK],
        "the packages could not be installed; see above. Without a network, try again later: what came, stays.",
    )


def install_project(uv: object) -> None:
    """The package itself, editable. Its build backend came with the lock, so nothing is fetched."""
    say("installing minitorch_compile, editable")
    run(
        [*installer(uv), "--no-deps", "--no-build-isolation", "--editable", ROOT],
        "minitorch_compile itself could not be installed; see above.",
    )


def prepare_notebooks(uv: object) -> None:
    """Inside .venv only, never in HOME: the kernel by its full path, and no pop-up with news from outside."""
    say("registering the notebook kernel")
    kernel = ["--sys-prefix", "--name", "python3", "--display-name", "Python (minitorch_compile)"]
    if not succeeds([VENV_PYTHON, "-m", "ipykernel", "install", *kernel]):
        raise SetUpError("the notebook kernel could not be registered: `.venv/bin/python -m ipykernel install` fails.")
    labconfig = VENV / "etc" / "jupyter" / "labconfig"
    labconfig.mkdir(parents=True, exist_ok=True)
    switched_off = {"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": True}}
    (labconfig / "page_config.json").write_text(json.dumps(switched_off) + "\n")


STEPS = {"packages": install_packages, "project": install_project, "notebooks": prepare_notebooks}


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


def set_up() -> None:
    """Does the steps whose part of the stamp differs; stamps after each, so a broken run goes on where it was."""
    wanted, found = wanted_stamp(), found_stamp()
    if found == wanted:
        return
    start = time.time()
    use_a_supported_python()
    uv = shutil.which("uv")
    if found.get("place", wanted["place"]) != wanted["place"]:
        say("this checkout was moved; making .venv anew")
        shutil.rmtree(str(VENV), ignore_errors=True)
        found = {}
    make_environment(uv)
    found["place"] = wanted["place"]
    for name, step in STEPS.items():
        if found.get(name) != wanted[name]:
            step(uv)
            found[name] = wanted[name]
            STAMP.write_text(json.dumps(found, indent=1) + "\n")
    say(f"ready after {time.time() - start:.0f} s")


def report() -> int:
    """Prints whether .venv is ready; the exit status says the same."""
    found = found_stamp()
    missing = [name for name, value in wanted_stamp().items() if found.get(name) != value]
    print("ready" if not missing else "to do: " + ", ".join(missing))
    return 1 if missing else 0


def main(arguments: list) -> int:
    if arguments == ["--check"]:
        return report()
    try:
        set_up()
    except SetUpError as error:
        print(f"set-up: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
