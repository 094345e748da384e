"""Makes .venv ready to work in: an environment, the locked packages, the package itself, a notebook kernel.

Runs with any Python 3 and the standard library alone, since nothing is installed yet. A second run finds the stamp that
the first one left and does nothing; a run after an update does only what the update changed.

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
STAMP = VENV / "minitorch_compile.stamp"
LOCK = ROOT / "requirements.lock"
OLDEST, TOO_NEW = (3, 11), (3, 15)
VERSIONS = "3.11, 3.12, 3.13 or 3.14"


class SetUpError(Exception):
    """Something the reader can mend; the text says how."""


# What was done, and what is still to do ------------------------------------------------------------------------------


def wanted_stamp():
    """What a finished set-up of this checkout looks like: one entry a step, compared step by step."""
    project = (ROOT / "pyproject.toml").read_bytes().split(b"\n[tool.ruff]")[0]  # tool settings install nothing
    return {
        "place": str(
            ROOT
        ),  # an environment does not survive a move: its scripts and its link to the package hold paths
        "packages": hashlib.sha256(LOCK.read_bytes()).hexdigest(),
        "project": hashlib.sha256(project).hexdigest(),
        "notebooks": "kernel python3, no announcements",
    }


def found_stamp():
    """The stamp of the last finished set-up, or {} where there is none or its Python is gone."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if (VENV / "bin" / "python").exists() else {}


# The steps -----------------------------------------------------------------------------------------------------------


def run(command, failure, **options):
    """Runs a command, its output shown; raises SetUpError(failure) when it fails."""
    result = subprocess.run([str(part) for part in command], cwd=str(ROOT), env=calm_environment(), **options)
    if result.returncode != 0:
        raise SetUpError(failure)


def calm_environment():
    """The caller's environment without what would send the packages elsewhere or ask questions."""
    environment = dict(os.environ, PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    for name in ("PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_REQUIRE_VIRTUALENV"):
        environment.pop(name, None)
    return environment


def works(python):
    """Whether this interpreter starts at all."""
    try:
        return subprocess.run([str(python), "-c", ""], stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def make_environment(uv):
    """Creates .venv; leaves nothing half-made behind."""
    python = VENV / "bin" / "python"
    if VENV.exists() and works(python):
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    say("creating .venv with Python %d.%d" % sys.version_info[:2])
    if uv:
        run(
            [uv, "venv", "--quiet", "--python", sys.executable, VENV],
            "uv could not create .venv; its message is above.",
        )
        return
    if subprocess.run([sys.executable, "-m", "venv", str(VENV)], stdout=subprocess.DEVNULL).returncode == 0:
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    # Debian splits ensurepip into python3-venv; with python3-pip at hand an environment without pip of its own will do.
    bare = [sys.executable, "-m", "venv", "--without-pip", str(VENV)]
    if subprocess.run(bare, stderr=subprocess.DEVNULL).returncode == 0 and works_on_others(sys.executable):
        say("this Python lacks ensurepip; using the pip outside .venv")
        return
    shutil.rmtree(str(VENV), ignore_errors=True)
    raise SetUpError(
        "Python %d.%d cannot create an environment here. On Debian or Ubuntu:  sudo apt install python3-venv"
        "  (or put uv on PATH), then run make again." % sys.version_info[:2]
    )


def works_on_others(python):
    """Whether this interpreter has a pip that installs into another one (`pip --python`, pip 22.3 and later)."""
    probe = [python, "-m", "pip", "--python", str(VENV / "bin" / "python"), "--version"]
    return subprocess.run(probe, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def installer(uv):
    """The start of an install command for .venv: uv's, its own pip's, or the pip outside."""
    python = VENV / "bin" / "python"
    if uv:
        return [uv, "pip", "install", "--quiet", "--python", python]
    own_pip = [python, "-m", "pip", "--version"]
    if subprocess.run([str(p) for p in own_pip], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
        return [python, "-m", "pip", "install", "--quiet"]
    if works_on_others(sys.executable):
        return [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    raise SetUpError(".venv has no pip and none is installed outside it. Remove .venv and run make again.")


def install_packages(uv):
    """The locked packages, each checked against its hash; never compiled here."""
    say("installing the packages of requirements.lock with " + ("uv" if uv else "pip"))
    run(
        installer(uv) + ["--require-hashes", "--only-binary", ":all:", "-r", LOCK],
        "The packages could not be installed; the message is above. No network? Then try again later: what came stays.",
    )


def install_project(uv):
    """The package itself, editable. Its build backend came with the lock, so nothing is fetched."""
    say("installing minitorch_compile, editable")
    options = ["--no-deps", "--no-build-isolation", "--editable", ROOT]
    run(installer(uv) + options, "minitorch_compile itself could not be installed; the message is above.")


def prepare_notebooks(uv):
    """Inside .venv only, never in HOME: the kernel by its full path, and no pop-up with news from outside."""
    python = VENV / "bin" / "python"
    say("registering the notebook kernel")
    kernel = ["--sys-prefix", "--name", "python3", "--display-name", "Python (minitorch_compile)"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run([python, "-m", "ipykernel", "install"] + kernel, "The notebook kernel could not be registered.", **quiet)
    announcements = "@jupyterlab/apputils-extension:announcements"
    disable = [python, "-m", "jupyter", "labextension", "disable", "--level=sys_prefix", announcements]
    run(disable, "JupyterLab's announcements could not be switched off.", **quiet)


# The whole -----------------------------------------------------------------------------------------------------------


def say(text):
    print("set-up: " + text, flush=True)


def use_a_supported_python():
    """Starts this script again under a supported Python from PATH when this one is too old or too new."""
    if OLDEST <= sys.version_info[:2] < TOO_NEW:
        return
    for minor in range(TOO_NEW[1] - 1, OLDEST[1] - 1, -1):
        other = shutil.which("python3.%d" % minor)
        if other and works(other):
            os.execv(other, [other] + sys.argv)
    raise SetUpError(
        "this needs Python %s; %s is %d.%d. Name another one:  make PYTHON=/path/to/python3.12"
        % ((VERSIONS, sys.executable) + tuple(sys.version_info[:2]))
    )


def set_up():
    """Does the steps whose part of the stamp differs; writes the stamp after each, so a broken run goes on where it was."""
    wanted, found = wanted_stamp(), found_stamp()
    if found == wanted:
        return
    start = time.time()
    use_a_supported_python()
    uv = shutil.which("uv")
    if found.get("place") not in (None, wanted["place"]):
        say("this checkout was moved; making .venv anew")
        shutil.rmtree(str(VENV), ignore_errors=True)
        found = {}
    make_environment(uv)
    steps = {"packages": install_packages, "project": install_project, "notebooks": prepare_notebooks}
    found["place"] = wanted["place"]
    for name, step in steps.items():
        if found.get(name) != wanted[name]:
            step(uv)
            found[name] = wanted[name]
            STAMP.write_text(json.dumps(found, indent=1) + "\n")
    say("ready after %.0f s" % (time.time() - start))


def main(arguments):
    if arguments == ["--check"]:
        found = found_stamp()
        missing = [name for name, value in wanted_stamp().items() if found.get(name) != value]
        print("ready" if not missing else "to do: " + ", ".join(missing))
        return 1 if missing else 0
    try:
        set_up()
    except SetUpError as error:
        print("set-up: " + str(error), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
