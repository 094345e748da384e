"""Runs the tests under every supported Python found on this machine, each in an environment of its own under build/.

make test-pythons
.venv/bin/python tools/all_pythons.py tests/dynamo      # arguments go to pytest
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def find_python(version: str) -> str | None:
    """An interpreter of that version: from PATH, or the newest that pyenv has."""
    by_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"), key=lambda path: path.parts)
    candidates = [shutil.which(f"python{version}"), *map(str, reversed(by_pyenv))]
    return next((python for python in candidates if python and is_version(python, version)), None)


def is_version(python: str, version: str) -> bool:
    """Whether the interpreter starts and is what its name says; pyenv's shims may not."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    answer = subprocess.run([python, "-c", code], capture_output=True, encoding="utf-8")
    return answer.stdout.strip() == version


def run_tests(python: str, version: str, arguments: list[str]) -> str:
    """Sets up an environment and runs pytest in it; returns pytest's closing line."""
    folder = ROOT / "build" / f"python{version}"
    subprocess.run([python, "tools/set_up.py", "--folder", folder], cwd=ROOT, check=True)
    command = [folder / "bin" / "python", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8") as tests:
        lines = [line for line in map(str.rstrip, tests.stdout or ()) if line]
    if tests.returncode != 0:
        print("\n".join(lines[-60:]))
    return lines[-1].strip("= ") if lines else "pytest printed nothing"


def main() -> None:
    outcomes = {}
    for version in VERSIONS:
        python = find_python(version)
        outcomes[version] = run_tests(python, version, sys.argv[1:]) if python else "not on this machine"
        print(f"Python {version}: {outcomes[version]}", flush=True)
    sys.exit(any("failed" in outcome or "error" in outcome for outcome in outcomes.values()))


if __name__ == "__main__":
    main()
